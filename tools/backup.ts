// `npm run backup -- dump <folder>` while a stack runs, `npm run backup -- restore <folder>` while
// no service runs (docs/operations.md, Backup). POSTGRES_URL is a superuser's URL of the
// environment's database.
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { readCommandLine } from '../deploy/local/processes/command-line.ts';
import type { Stack } from '../deploy/local/stack/stack-file.ts';
import { dump } from '../shared/backup/dump.ts';
import { restore } from '../shared/backup/restore.ts';
import { restoreFields } from '../shared/contract/operator.ts';
import { Refusal } from '../shared/lib/refusal.ts';

const USAGE = `Usage
  npm run backup -- dump <folder>                     writes all schemas of an environment as of one moment; services continue
  npm run backup -- restore <folder> --reason <text>  replaces the present data by the backup; services must be stopped

Environment variables: POSTGRES_URL is a superuser's URL of the environment's database (dump: default the stack on this machine).
restore: SOLANA_RPC_URLS lists every provider that chain-submitter uses. --actor <name>: default your user name on this machine.`;

const { POSTGRES_URL, SOLANA_RPC_URLS, STACK_FILE } = process.env;

const databaseOfStack = (): string => {
  const file = STACK_FILE ?? path.join(import.meta.dirname, '..', '.local', 'stack.json');
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as Stack).postgres_url;
  } catch {
    throw new Refusal(`no stack is running (${file}): start one, or set POSTGRES_URL`);
  }
};

const main = async (): Promise<number> => {
  const text = { type: 'string' } as const;
  const { values, positionals } = readCommandLine(USAGE, {
    options: { reason: text, actor: text },
    allowPositionals: true,
  });
  const [verb, folder, ...rest] = positionals;
  if (!folder || rest.length > 0 || (verb !== 'dump' && verb !== 'restore')) {
    console.error(USAGE);
    return 64; // EX_USAGE of sysexits.h
  }
  if (verb === 'dump') {
    const { taken_at, database, tables } = await dump(POSTGRES_URL ?? databaseOfStack(), folder);
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    console.log(`${database} as of ${taken_at}: ${rows} rows of ${tables.length} tables in ${folder}`);
    return 0;
  }
  if (!POSTGRES_URL || !SOLANA_RPC_URLS)
    throw new Refusal('restore requires POSTGRES_URL and SOLANA_RPC_URLS: set both');
  if (values.reason === undefined) throw new Refusal('--reason is missing: it is recorded with the change');
  const signed = {
    actor: restoreFields.actor.parse(values.actor ?? userInfo().username),
    reason: restoreFields.reason.parse(values.reason),
  };
  const rpcUrls = SOLANA_RPC_URLS.split(',').map((url) => url.trim());
  const done = await restore(POSTGRES_URL, folder, { rpcUrls, signed, print: (line) => console.error(line) });
  console.log(
    `${done.rows} rows as of ${done.taken_at}. Transactions signed before could be included until block ${done.dead_after}; block ${done.finalized} is final.
Start the services, check the state (npm run ops -- signing show, npm run reconcile), then run: npm run ops -- signing resume`,
  );
  return 0;
};

try {
  process.exitCode = await main();
} catch (error) {
  const known = error instanceof Refusal;
  console.error(known ? (error as Error).message : error);
  process.exitCode = known ? 64 : 1;
}
