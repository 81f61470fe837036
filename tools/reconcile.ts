// `npm run reconcile`: holds every watched account's history on chain against the records.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import type { Stack } from '../deploy/local/stack/stack-file.ts';
import { chainAt } from './reconcile/chain.ts';
import { type AccountReport, comparing, isBroken } from './reconcile/compare.ts';
import { authoritiesOf, type Query, signedOf, transfersOf, watchedAccounts } from './reconcile/records.ts';

type Place = {
  environment: string;
  /** May read all schemas of the environment's database. */
  postgresUrl: string;
  rpcUrl: string;
  mint: string;
  feeWallet: string;
  /** Those that pay and those that paid: what a former one signed is ours too. */
  feePayers: readonly string[];
};

/**
 * Compares chain and records of one environment, also while it is at work.
 * @returns a report for every account that the records know
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
  const head = ['account', 'whose', 'balance', 'records', 'drift', 'unexplained', 'known', 'findings'];
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

/**
 * The environment of a stack on this machine.
 * @throws Error for another one than the first: the stack's file names its database alone
 */
export const placeOf = (stack: Stack, environment: string): Place => {
  const found = stack.environments[environment];
  if (found === undefined) throw new Error(`this stack has no environment ${environment}`);
  if (environment !== Object.keys(stack.environments)[0])
    throw new Error('give --postgres for this environment');
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
      return refuse('--postgres needs --rpc, --mint, --fee-wallet and --fee-payer');
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
  if (!existsSync(file)) refuse(`no stack runs here (${file}): start one, or say --postgres and the rest`);
  return placeOf(JSON.parse(readFileSync(file, 'utf8')) as Stack, environment);
};

const USAGE = `Usage: npm run reconcile -- [options]

Holds every watched account’s history on chain against the records. Only reads; exit code 1 on unexplained drift.

  --environment test     of the stack on this machine
  --stack <file>         default .local/stack.json
  --help                 this text

Elsewhere, all of:
  --postgres <url>       of a role that may read all schemas of the environment’s database
  --rpc <url>
  --mint <address>
  --fee-wallet <address>
  --fee-payer <address>[,<former one>]`;

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
