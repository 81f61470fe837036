import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { SERVICE_NAMES, type ServiceName } from '../contract/service.ts';
import { oneDatabase } from '../db/databases.ts';
import { migrateEnvironment } from '../db/migrate.ts';
import { roleName } from '../db/names.ts';
import { addCopy, folderOfCopy } from './copies.ts';
import { drill } from './drill.ts';
import { manifestOf } from './dump.ts';
import { refuseTooLarge } from './fit.ts';
import { recorded } from './runs.ts';

const database = `quittance_${randomBytes(6).toString('hex')}`;
const url = (() => {
  const own = new URL(process.env.POSTGRES_URL!);
  own.pathname = `/${database}`;
  return own.href;
})();
const databases = oneDatabase(url);
let folder = '';
let provider: Server;
/** What the chain says of every transaction. */
const status: { err: unknown } | null = { err: null };

const query = async (connectionString: string, ...statements: string[]) => {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const results = [];
    for (const statement of statements) results.push((await client.query(statement)).rows);
    return results.at(-1)!;
  } finally {
    await client.end();
  }
};
const rpcUrls = () => [`http://127.0.0.1:${(provider.address() as AddressInfo).port}`];
const run = () => recorded(databases, 'drill', () => drill(databases, folder, { rpcUrls: rpcUrls() }));
const runs = () => query(url, 'select kind, ok, copy, problem from settlement.backup_runs order by run_id');

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'drill-'));
  provider = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      const { id, params } = JSON.parse(body) as { id: unknown; params: [string[]] };
      const value = params[0].map(() => status);
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { context: { slot: 1 }, value } }));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  await query(process.env.POSTGRES_URL!, `create database "${database}"`);
  const passwords = Object.fromEntries(SERVICE_NAMES.map((name) => [name, 'secret']));
  await migrateEnvironment({ databases, passwords: passwords as Record<ServiceName, string> });
  await query(
    url,
    `insert into chain_submitter.lost_records (lost_id, signature, fee_payer, since)
     select 'lost ' || n, 'signature', 'payer', now() from generate_series(1, 500) as n`,
  );
});
afterAll(async () => {
  provider?.close();
  rmSync(folder, { recursive: true, force: true });
  await query(
    process.env.POSTGRES_URL!,
    `drop database "${database}" with (force)`,
    ...SERVICE_NAMES.map((name) => `drop role if exists "${roleName(database, name)}"`),
  );
});

test('the newest copy is restored beside the running environment, and nothing is left of that', async () => {
  await expect(run()).rejects.toThrow(/has no complete copy/);
  const { copy, rows } = await recorded(databases, 'backup', () => addCopy(databases, folder, { keep: 3 }));
  expect(await run()).toMatchObject({ copy, rows, payments: 0 });
  expect(await runs()).toEqual([
    { kind: 'drill', ok: false, copy: null, problem: expect.stringMatching(/has no complete copy/) },
    { kind: 'backup', ok: true, copy, problem: null },
    { kind: 'drill', ok: true, copy, problem: null },
  ]);
  const left = await query(
    process.env.POSTGRES_URL!,
    `select datname as name from pg_database where datname like '${database}\\_%'
     union all select rolname from pg_roles where rolname like '${database}\\_drill%'`,
  );
  expect(left).toEqual([]);
});

test.each([
  ['of its rows', (size: number) => Math.floor(size / 2)],
  ['of its checksum', (size: number) => size - 8],
])('a flipped byte %s turns the drill red', async (_, place) => {
  const { copy } = await addCopy(databases, folder, { keep: 3, now: new Date(Date.now() + 86_400_000) });
  const file = path.join(folderOfCopy(folder, copy), 'chain_submitter.lost_records.copy.gz');
  const bytes = readFileSync(file);
  const damaged = Buffer.from(bytes);
  const at = place(bytes.length);
  damaged.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  writeFileSync(file, damaged);
  await expect(run()).rejects.toThrow();
  expect((await runs()).at(-1)).toMatchObject({ kind: 'drill', ok: false });
  writeFileSync(file, bytes);
  expect(await run()).toMatchObject({ copy });
  rmSync(folderOfCopy(folder, copy), { recursive: true });
});

test('a copy with fewer rows than its manifest lists turns the drill red', async () => {
  const { copy } = await addCopy(databases, folder, { keep: 3, now: new Date(Date.now() + 86_400_000) });
  const place = folderOfCopy(folder, copy);
  const manifest = manifestOf(place);
  const tables = manifest.tables.map((table) =>
    table.name === 'chain_submitter.lost_records' ? { ...table, rows: table.rows + 1 } : table,
  );
  writeFileSync(path.join(place, 'manifest.json'), JSON.stringify({ ...manifest, tables }));
  await expect(run()).rejects.toThrow(/has 500 rows, but the manifest lists 501/);
  rmSync(place, { recursive: true });
});

test('a copy that cannot be finished in its time or does not fit is refused before it begins', async () => {
  await expect(refuseTooLarge(databases, folder, 3600)).resolves.toBeUndefined();
  await expect(refuseTooLarge(databases, folder, 0.000_001)).rejects.toThrow(
    /a copy would take about .* archive the log/,
  );
});
