import { randomBytes } from 'node:crypto';
import { SERVICE_NAMES, type ServiceName } from '../../../shared/contract/service.ts';
import { oneDatabase } from '../../../shared/db/databases.ts';
import { roleName } from '../../../shared/db/names.ts';
import type { TestDatabase } from './database-handle.ts';
import {
  databaseOf,
  distribute,
  endSessions,
  handle,
  joinNodes,
  newName,
  nodesOf,
  onServers,
  othersGone,
} from './database-handle.ts';

/**
 * Creates `quittance_<random>` on this server (superuser) and migrates it as a deployment does.
 * Roles belong to the server, so `drop` removes them too.
 */
export const migrateTestDatabase = async (
  serverUrl: string,
): Promise<TestDatabase & { password: string }> => {
  // A suite with a copy of the template does not load the library of the migrations.
  const { migrateEnvironment } = await import('../../../shared/db/migrate.ts');
  const name = newName();
  const password = randomBytes(12).toString('hex');
  const nodes = nodesOf(serverUrl);
  await onServers(nodes, [`create database "${name}"`]);
  const adminUrl = databaseOf(serverUrl, name).href;
  const drop = async () => {
    await othersGone(serverUrl, name);
    await onServers(nodes, [
      `drop database if exists "${name}" with (force)`,
      ...SERVICE_NAMES.map((service) => `drop role if exists "${roleName(name, service)}"`),
    ]);
  };
  const passwords = Object.fromEntries(SERVICE_NAMES.map((service) => [service, password]));
  try {
    await joinNodes(serverUrl, name);
    await migrateEnvironment({
      databases: oneDatabase(adminUrl),
      passwords: passwords as Record<ServiceName, string>,
    });
    await distribute(adminUrl);
  } catch (error) {
    await drop();
    throw error;
  }
  const nodeUrls = nodes.map((node) => databaseOf(node, name).href);
  return { ...handle({ adminUrl, nodeUrls, rolesOf: name, password }), password, drop };
};

/**
 * Migrates a database once, which `createTestDatabase` copies: a copy takes a fifth of the time.
 * The tests find it through TEST_DATABASE. `drop` removes it and its roles.
 */
export const createTemplate = async (serverUrl: string): Promise<Pick<TestDatabase, 'drop'>> => {
  const { adminUrl, password, drop } = await migrateTestDatabase(serverUrl);
  const name = new URL(adminUrl).pathname.slice(1);
  const nodes = nodesOf(serverUrl);
  await onServers(nodes, [`alter database "${name}" allow_connections false`]);
  await endSessions(nodes, name);
  process.env.TEST_DATABASE = JSON.stringify({ name, password });
  return { drop };
};
