// `npm run ops -- backup` (docs/operations.md, Backup).
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { readCommandLine, text } from '../deploy/local/processes/command-line.ts';
import type { Stack } from '../deploy/local/stack/stack-file.ts';
import { dump } from '../shared/backup/dump.ts';
import { restore } from '../shared/backup/restore.ts';
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

const main = async (): Promise<number> => {
  const { values, words, usage } = readCommandLine({
    typed: 'npm run ops -- backup',
    words: 'dump|restore <folder>',
    about: `dump writes all schemas of an environment as of one moment, while the services run (of several databases: as of
moments a few milliseconds apart).
restore replaces the present data by the backup, while the services are stopped.`,
    options: {
      reason: text('TEXT', 'why, for restore: it is recorded with the change'),
      actor: text('NAME', 'who, for restore', userInfo().username),
    },
    notes: `Environment variables:

  POSTGRES_ADMIN_URL            a superuser's URL of the environment's database (dump: default the stack on this machine)
  POSTGRES_ADMIN_URL_<SERVICE>  the same for a service with a database of its own (POSTGRES_ADMIN_URL_CHAIN_SUBMITTER)
  TLS_CA_FILE                   the authority of the databases' certificates
  SOLANA_RPC_URLS               for restore: every provider that chain-submitter uses`,
  });
  const [verb, folder, ...rest] = words;
  if (!folder || rest.length > 0 || (verb !== 'dump' && verb !== 'restore')) {
    console.error(usage);
    return 64; // EX_USAGE of sysexits.h
  }
  if (verb === 'dump') {
    const { taken_at, database, tables } = await dump(
      hasDatabases(process.env) ? databasesIn(process.env) : databasesOfStack(),
      folder,
    );
    const rows = tables.reduce((sum, table) => sum + table.rows, 0);
    console.log(`${database} as of ${taken_at}: ${rows} rows of ${tables.length} tables in ${folder}`);
    return 0;
  }
  const databases = databasesIn(process.env);
  if (!SOLANA_RPC_URLS) throw new Refusal('restore requires SOLANA_RPC_URLS: set it');
  if (values.reason === undefined) throw new Refusal('--reason is missing: it is recorded with the change');
  const signed = {
    actor: restoreFields.actor.parse(values.actor),
    reason: restoreFields.reason.parse(values.reason),
  };
  const rpcUrls = SOLANA_RPC_URLS.split(',').map((url) => url.trim());
  const done = await restore(databases, folder, { rpcUrls, signed, print: (line) => console.error(line) });
  console.log(
    `${done.rows} rows as of ${done.taken_at}. Transactions signed before could be included until block ${done.dead_after}; block ${done.finalized} is final.
Start the services, check the state (npm run ops -- signing show, npm run ops -- reconcile), then run: npm run ops -- signing resume`,
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
