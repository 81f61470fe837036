import type { ServiceName } from '../contract/service.ts';

/** The name of folder, schema and role: `-` becomes `_` where SQL requires it. */
export const schemaName = (service: ServiceName): string => service.replaceAll('-', '_');

/**
 * The tables of node-pg-migrate in the schema of a service, each for one folder of migrations: the
 * tables of every service, those of services with idempotent calls or with lanes, and the service's
 * own.
 */
export const MIGRATION_TABLES = [
  'migrations_shared',
  'migrations_idempotency',
  'migrations_lanes',
  'migrations',
] as const;

/**
 * The login role of a service. Its name includes the database, because roles belong to the server.
 */
export const roleName = (database: string, service: ServiceName): string =>
  `${database}_${schemaName(service)}`;
