import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { MIGRATIONS_TABLE } from '../../shared/db/names.ts';
import { type Installation, runningInstallation, TRIAL_FOLDER } from './support/installation.ts';
import type { ClusterObject } from './support/kubectl.ts';
import { beginLoad, refusedLines } from './support/load.ts';
import { PRODUCT, podsOf } from './support/pods.ts';
import { release } from './support/release.ts';

/**
 * Proves the release procedure of docs/kubernetes.md by its own commands: the jobs complete before
 * a pod of the release starts, also with changed settings; a second migration changes nothing;
 * after a failed migration nothing rolls out, and the running release goes on.
 */
let installation: Installation;
let database: pg.Client;
/** How long a rolling update of all services may take on a busy node. */
const ROLLED_WITHIN_SECONDS = 600;
const settingsFile = path.join(TRIAL_FOLDER, 'settings.env');

/**
 * Gives the release a setting that no earlier one had, so that every pod is replaced. The file
 * keeps it, because it describes what runs.
 */
const changeSettings = (): void => {
  const others = readFileSync(settingsFile, 'utf8').replace(/^RELEASE_OF_TEST=.*\n/gm, '');
  writeFileSync(settingsFile, `${others}RELEASE_OF_TEST=${randomUUID()}\n`);
};

/** Waits until no pod of an earlier release is left. */
const rolledOut = async (): Promise<void> => {
  for (const name of PRODUCT) await installation.kubectl.rollout(`deployment/${name}`, ROLLED_WITHIN_SECONDS);
};

beforeAll(async () => {
  installation = await runningInstallation();
  database = new pg.Client({ connectionString: installation.stack.postgres_urls.settlement });
  // The tunnel may end first.
  database.on('error', () => {});
  await database.connect();
});
afterAll(async () => {
  await database?.end().catch(() => {});
  await installation?.close();
});

const podsOfProduct = async (): Promise<ClusterObject[]> =>
  (await Promise.all(PRODUCT.map((name) => podsOf(installation.kubectl, name)))).flat();
const namesOf = (pods: readonly ClusterObject[]): string[] =>
  pods.map(({ metadata }) => metadata.name as string).sort();
const completedAt = async (job: string): Promise<number> =>
  Date.parse((await installation.kubectl.json(['get', 'job', job])).status.completionTime);

/** Every migration that has run, and every column except those of the load's own records. */
const schemaOfDatabase = async (): Promise<unknown[]> => {
  const tables = await database.query<{ schema: string; name: string }>(
    `select table_schema as schema, table_name as name from information_schema.tables
     where table_name = $1 order by 1, 2`,
    [MIGRATIONS_TABLE],
  );
  expect(tables.rows.length).toBe(SERVICE_NAMES.length);
  const runs: unknown[] = [];
  for (const { schema, name } of tables.rows)
    runs.push((await database.query(`select * from "${schema}"."${name}" order by name`)).rows);
  const columns = await database.query(
    `select table_schema, table_name, column_name, data_type, is_nullable, column_default
     from information_schema.columns where table_schema not in ('pg_catalog', 'information_schema', 'campaign')
     order by 1, 2, ordinal_position`,
  );
  return [runs, columns.rows];
};

test('a release with changed settings: the jobs complete, then every service rolls out, and no call is refused', async () => {
  const { kubectl } = installation;
  await rolledOut();
  const [before, schema] = [namesOf(await podsOfProduct()), await schemaOfDatabase()];
  const load = await beginLoad(installation, { perSecond: 1 });
  try {
    // A changed setting gives the ConfigMap another name, which the jobs read, too.
    changeSettings();
    expect(await release(kubectl)).toMatch(
      /configmap\/settings-\w+ created[\s\S]*job.batch\/migrate condition met/,
    );
    await rolledOut();
    const jobsDone = Math.max(await completedAt('migrate'), await completedAt('setup-bus'));
    const after = await podsOfProduct();
    expect(namesOf(after).filter((name) => before.includes(name))).toEqual([]);
    for (const { metadata } of after)
      expect(Date.parse(metadata.creationTimestamp)).toBeGreaterThanOrEqual(jobsDone);
    const wrong = await load.conclude();
    expect({ refused: refusedLines(load.refused()), wrong }).toEqual({ refused: [], wrong: [] });
    // The migration has run for a second time.
    expect(await schemaOfDatabase()).toEqual(schema);
  } finally {
    await load.close();
  }
}, 900_000);

test('a failed migration ends the release before anything rolls out, and a repaired one continues it', async () => {
  const { kubectl } = installation;
  await rolledOut();
  const before = namesOf(await podsOfProduct());
  const load = await beginLoad(installation, { perSecond: 1 });
  const change = (from: string, to: string) =>
    database.query('update quote.migrations set checksum = $2 where checksum = $1', [from, to]);
  const first = (
    await database.query<{ checksum: string }>('select checksum from quote.migrations order by name limit 1')
  ).rows[0]!.checksum;
  const another = '0'.repeat(64);
  try {
    changeSettings();
    // As if a build with another file had migrated the schema.
    await change(first, another);
    await expect(release(kubectl, { jobsWithin: '45s' })).rejects.toThrow(
      /timed out waiting .*jobs\/migrate/,
    );
    expect(await kubectl.logs('job/migrate')).toMatch(/quote: \S+ is not the file that release/);
    expect(namesOf(await podsOfProduct())).toEqual(before);

    await change(another, first);
    await release(kubectl);
    await rolledOut();
    expect(namesOf(await podsOfProduct()).filter((name) => before.includes(name))).toEqual([]);
    const wrong = await load.conclude();
    expect({ refused: refusedLines(load.refused()), wrong }).toEqual({ refused: [], wrong: [] });
  } finally {
    await change(another, first);
    await load.close();
  }
}, 900_000);
