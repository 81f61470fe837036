// `npm run reconcile`: compares the history of every watched account on chain with the records.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import type { Stack, StackEnvironment } from '../deploy/local/stack/stack-file.ts';
import { chainAt } from './reconcile/chain.ts';
import { type AccountReport, comparing, isBroken } from './reconcile/compare.ts';
import { authoritiesOf, type Query, signedOf, transfersOf, watchedAccounts } from './reconcile/records.ts';

type Place = {
  environment: string;
  /** A role that may read all schemas of the environment's database. */
  postgresUrl: string;
  rpcUrl: string;
  mint: string;
  feeWallet: string;
  /** Current and former fee payers, because transactions of a former one are ours too. */
  feePayers: readonly string[];
};

/**
 * Compares chain and records of one environment. The environment may be running.
 * @returns a report for every account in the records
 */
export const reconcile = async (place: Place): Promise<AccountReport[]> => {
  const pool = new pg.Pool({ connectionString: place.postgresUrl, max: 3 });
  try {
    const query: Query = async (text) => (await pool.query(text)).rows;
    const chain = chainAt(place.rpcUrl, place.mint);
    const places = { ...place, tokenAccount: chain.tokenAccount };
    const before = await transfersOf(query, places);
    const names = await watchedAccounts(query, before, places);
    const histories = await chain.histories([...names.keys()]);
    const [after, signed, authorities] = await Promise.all([
      transfersOf(query, places),
      signedOf(query),
      authoritiesOf(query),
    ]);
    const compare = comparing({ before, after, signed, ours: new Set([...place.feePayers, ...authorities]) });
    return histories.map((history) => compare(history, names.get(history.account)!));
  } finally {
    await pool.end();
  }
};

/** The table and the findings below it, as text. */
export const reportText = (reports: readonly AccountReport[]): string => {
  const head = ['account', 'name', 'balance', 'records', 'drift', 'unexplained', 'known', 'findings'];
  const rows = reports.map((report) => {
    const kinds = [...new Set(report.findings.map(({ kind }) => kind))];
    const tally = kinds.map(
      (kind) => `${report.findings.filter((each) => each.kind === kind).length} ${kind}`,
    );
    const { account, name, balance, recorded, drift, unexplained, known } = report;
    return [account, name, balance, recorded, drift, unexplained, known, tally.join(', ') || '-'].map(String);
  });
  const widths = head.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => (at < 2 || at === 7 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)))
      .join('  ')
      .trimEnd();
  const details = reports.flatMap(({ account, findings }) =>
    findings.map(({ kind, amount, what }) => `${kind.padEnd(10)} ${account} ${amount}: ${what}`),
  );
  const broken = reports.filter(isBroken).length;
  const last = `${reports.length} accounts, ${broken} with unexplained drift`;
  return [line(head), ...rows.map(line), ...(details.length > 0 ? ['', ...details] : []), '', last].join(
    '\n',
  );
};

type ChainAddresses = Pick<StackEnvironment, 'rpc_url' | 'usdc_mint' | 'fee_wallet' | 'fee_payer'>;

/**
 * The environment of a stack on this machine.
 * @throws Error for any environment but the first, because the stack's file names only its database
 */
export const placeOf = (
  stack: Pick<Stack, 'postgres_url'> & { environments: Record<string, ChainAddresses> },
  environment: string,
): Place => {
  const found = stack.environments[environment];
  if (found === undefined) throw new Error(`this stack has no environment ${environment}`);
  if (environment !== Object.keys(stack.environments)[0])
    throw new Error('--postgres is missing: it is required for every environment but the first');
  return {
    environment,
    postgresUrl: stack.postgres_url,
    rpcUrl: found.rpc_url,
    mint: found.usdc_mint,
    feeWallet: found.fee_wallet,
    feePayers: [found.fee_payer],
  };
};

const placeFrom = (options: Record<string, string | undefined>): Place => {
  const environment = options.environment ?? 'test';
  if (options.postgres !== undefined) {
    const { postgres, rpc, mint, 'fee-wallet': feeWallet, 'fee-payer': feePayers } = options;
    if (!rpc || !mint || !feeWallet || !feePayers)
      return refuse('--postgres requires --rpc, --mint, --fee-wallet and --fee-payer');
    return {
      environment,
      postgresUrl: postgres,
      rpcUrl: rpc,
      mint,
      feeWallet,
      feePayers: feePayers.split(','),
    };
  }
  const file = options.stack ?? path.join('.local', 'stack.json');
  if (!existsSync(file))
    refuse(`no stack is running (${file}): start one, or pass --postgres and the options that it requires`);
  return placeOf(JSON.parse(readFileSync(file, 'utf8')) as Stack, environment);
};

const USAGE = `Usage: npm run reconcile -- [options]

Compares the history of every watched account on chain with the records. It only reads. Exit code 1 means unexplained drift.

  --environment test     an environment of the stack on this machine
  --stack <file>         default .local/stack.json
  --help                 this text

Elsewhere, all of:
  --postgres <url>       a role that may read all schemas of the environment’s database
  --rpc <url>
  --mint <address>
  --fee-wallet <address>
  --fee-payer <address>[,<former fee payer>]`;

if (import.meta.main) {
  const text = { type: 'string' } as const;
  const { values } = readCommandLine(USAGE, {
    options: {
      environment: text,
      stack: text,
      postgres: text,
      rpc: text,
      mint: text,
      'fee-wallet': text,
      'fee-payer': text,
    },
  });
  const reports = await reconcile(placeFrom(values));
  console.log(reportText(reports));
  process.exit(reports.some(isBroken) ? 1 : 0);
}
