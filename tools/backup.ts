// `npm run ops -- backup` (docs/operations.md, Backup).
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { z } from 'zod';
import { flag, readCommandLine, text } from '../deploy/local/processes/command-line.ts';
import type { Stack } from '../deploy/local/stack/stack-file.ts';
import { rpcUrlsIn } from '../shared/backup/chain.ts';
import { drill } from '../shared/backup/drill.ts';
import { dump } from '../shared/backup/dump.ts';
import { finishRestore, planFinish, restore } from '../shared/backup/restore.ts';
import { recorded } from '../shared/backup/runs.ts';
import { restoreFields } from '../shared/contract/operator.ts';
import { ADMIN_SETTING, type Databases, databasesIn, hasDatabases } from '../shared/db/databases.ts';
import { Refusal } from '../shared/lib/refusal.ts';

const { SOLANA_RPC_URLS, STACK_FILE } = process.env;

const databasesOfStack = (): Databases => {
  const file = STACK_FILE ?? path.join(import.meta.dirname, '..', '.local', 'stack.json');
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as Stack).postgres_urls;
  } catch {
    throw new Refusal(`no stack is running (${file}): start one, or set ${ADMIN_SETTING}`);
  }
};

const timeOf = (typed: string | undefined): Date | null => {
  if (typed === undefined) return null;
  const { success } = z.iso.datetime({ offset: true }).safeParse(typed);
  if (!success) throw new Refusal(`--taken-at ${typed} is no time: write it as 2026-11-30T14:05:00Z`);
  return new Date(typed);
};

const isConfirmed = async (database: string): Promise<boolean> => {
  if (!process.stdin.isTTY)
    throw new Refusal('stdin is not a terminal, so the change cannot be confirmed: add --yes');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const typed = await lines.question(`Type the name of the database (${database}) to go on: `);
  lines.close();
  return typed.trim() === database;
};

const next = ({ dead_after, finalized }: { dead_after: number; finalized: number }): string =>
  `Transactions signed before could be included until block ${dead_after}; block ${finalized} is final.
Start the services, check the state (npm run ops -- signing show, npm run ops -- reconcile), then run: npm run ops -- signing resume`;

const databasesOfCaller = (): Databases =>
  hasDatabases(process.env) ? databasesIn(process.env) : databasesOfStack();

const dumpInto = async (folder: string): Promise<number> => {
  const { taken_at, database, tables } = await dump(databasesOfCaller(), folder);
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  console.log(`${database} as of ${taken_at}: ${rows} rows of ${tables.length} tables in ${folder}`);
  return 0;
};

const drillIn = async (folder: string): Promise<number> => {
  const databases = databasesOfCaller();
  const { copy, rows, payments } = await recorded(databases, 'drill', () =>
    drill(databases, folder, { rpcUrls: rpcUrlsIn(SOLANA_RPC_URLS ?? '') }),
  );
  const compared = payments === null ? 'the chain was not asked' : `${payments} payments are on the chain`;
  console.log(`${copy} is good: ${rows} rows, ${compared}`);
  return 0;
};

const main = async (): Promise<number> => {
  const { values, words, usage } = readCommandLine({
    typed: 'npm run ops -- backup',
    words: 'dump|restore|drill <folder> | restore finish',
    about: `dump writes all schemas of an environment as of one moment, while the services run (of several databases: as of
moments a few milliseconds apart).
restore replaces the present data by the backup, while the services are stopped.
restore finish completes what another tool has restored (a snapshot, a base backup with its log), while the services are
stopped: it records the restore, pauses signing, and waits until no unknown transaction can be included.
drill restores the newest copy of a folder of copies into a scratch database, counts its rows, and compares its newest
payments with the chain, while the services run.`,
    options: {
      reason: text('TEXT', 'why, for restore: it is recorded with the change'),
      actor: text('NAME', 'who, for restore', userInfo().username),
      'taken-at': text(
        'TIME',
        'restore finish: the time of the restored state, ISO 8601 (default: its last check)',
      ),
      yes: flag('restore finish: without confirmation'),
    },
    notes: `Environment variables:

  POSTGRES_ADMIN_URL            a superuser's URL of the environment's database (dump: default the stack on this machine)
  POSTGRES_ADMIN_URL_<SERVICE>  the same for a service with a database of its own (POSTGRES_ADMIN_URL_CHAIN_SUBMITTER)
  TLS_CA_FILE                   the authority of the databases' certificates
  SOLANA_RPC_URLS               for restore: every provider that chain-submitter uses; for drill: those that are asked`,
  });
  const [verb, folder, ...rest] = words;
  if (!folder || rest.length > 0 || (verb !== 'dump' && verb !== 'restore' && verb !== 'drill')) {
    console.error(usage);
    return 64; // EX_USAGE of sysexits.h
  }
  if (verb === 'dump') return dumpInto(folder);
  if (verb === 'drill') return drillIn(folder);
  const databases = databasesIn(process.env);
  if (!SOLANA_RPC_URLS) throw new Refusal('restore requires SOLANA_RPC_URLS: set it');
  if (values.reason === undefined) throw new Refusal('--reason is missing: it is recorded with the change');
  const run = {
    rpcUrls: rpcUrlsIn(SOLANA_RPC_URLS),
    signed: {
      actor: restoreFields.actor.parse(values.actor),
      reason: restoreFields.reason.parse(values.reason),
    },
    print: (line: string) => console.error(line),
  };
  if (folder === 'finish') {
    const plan = await planFinish(databases, timeOf(values['taken-at']));
    console.error(`${plan.database} was restored to ${plan.takenAt}, or later. This will
- lock the logins of its services until it has ended,
- record that attempts since then may be lost, so that none of them is denied before the chain was asked,
- pause signing,
- wait until no unknown transaction can be included (about a minute).`);
    if (!values.yes && !(await isConfirmed(plan.database))) return 1;
    const done = await finishRestore(databases, plan, run);
    console.log(`Finished: records may be lost since ${done.taken_at}. ${next(done)}`);
    return 0;
  }
  if (values['taken-at'] !== undefined) throw new Refusal('--taken-at belongs to: restore finish');
  const done = await restore(databases, folder, run);
  console.log(`${done.rows} rows as of ${done.taken_at}. ${next(done)}`);
  return 0;
};

try {
  process.exitCode = await main();
} catch (error) {
  const known = error instanceof Refusal;
  console.error(known ? (error as Error).message : error);
  process.exitCode = known ? 64 : 1;
}
