// `npm run ops -- reconcile`: compares the history of every watched account on chain with the
// records.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { flag, readCommandLine, refuse, text } from '../deploy/local/processes/command-line.ts';
import { connectDatabases, type EveryDatabase } from '../deploy/local/servers/every-database.ts';
import type { Stack, StackEnvironment } from '../deploy/local/stack/stack-file.ts';
import { ADMIN_SETTING, type Databases, databasesIn, hasDatabases } from '../shared/db/databases.ts';
import { type Checkpoint, chainAt } from './reconcile/chain.ts';
import { beginning, hashOfKeys } from './reconcile/checkpoint.ts';
import { type AccountReport, comparing, isBroken } from './reconcile/compare.ts';
import { type CostReport, compareCosts, costsText, isWrong } from './reconcile/costs.ts';
import { authoritiesOf, type Query, signedOf, transfersOf, watchedAccounts } from './reconcile/records.ts';
import { keepRun, readCheckpoints } from './reconcile/store.ts';
import { type Unmatched, unmatchedIn } from './reconcile/unmatched.ts';

type Place = {
  environment: string;
  /** A role that may read the schema of each service. */
  databases: Databases;
  rpcUrl: string;
  mint: string;
  feeWallet: string;
  /** Current and former fee payers, because transactions of a former one are ours too. */
  feePayers: readonly string[];
};

type Comparison = { reports: AccountReport[]; costs: CostReport[]; transactions: number };

/**
 * Compares the accounts, each from its checkpoint.
 * @param trusted checkpoints that are on the chain; an account without one is read from its
 *   beginning
 * @param only these accounts; undefined: all
 * @returns the reports, and the accounts whose checkpoint is not of these records
 */
const compareFrom = async (
  { place, query, chain }: { place: Place; query: Query; chain: ReturnType<typeof chainAt> },
  trusted: ReadonlyMap<string, Checkpoint>,
  only?: ReadonlySet<string>,
) => {
  const places = { ...place, tokenAccount: chain.tokenAccount };
  const before = await transfersOf(query, places);
  const names = await watchedAccounts(query, before, places);
  const ours = new Set([...place.feePayers, ...(await authoritiesOf(query))]);
  const keys = hashOfKeys(place.mint, ours);
  const accounts = [...names.keys()].filter((account) => only?.has(account) ?? true);
  const histories = await chain.histories(
    accounts.map((account) => {
      const kept = trusted.get(account);
      // With another key, a foreign transfer may be ours.
      const isOfTheseKeys = kept?.foreign.transfers === 0 || kept?.keys === keys;
      return kept !== undefined && isOfTheseKeys ? { ...kept, keys } : beginning(account, keys);
    }),
  );
  const [after, signed, authorities] = await Promise.all([
    transfersOf(query, places),
    signedOf(query),
    authoritiesOf(query),
  ]);
  const { report, holds } = comparing({
    before,
    after,
    signed,
    ours: new Set([...place.feePayers, ...authorities]),
  });
  const doubtful = new Set(
    histories
      .filter(({ from }) => from.signature !== '')
      .flatMap((each) => (holds(each) ? [] : [each.account])),
  );
  const reports = histories
    .filter(({ account }) => !doubtful.has(account))
    .map((history) => report(history, names.get(history.account)!));
  return { reports, doubtful };
};

/**
 * Compares all accounts from the checkpoints that chain and records prove, the others from the
 * beginning.
 */
const compareAll = async (place: Place, all: EveryDatabase, fromStart: boolean): Promise<Comparison> => {
  const query: Query = async (text, values) => (await all.query(text, values)).rows;
  const chain = chainAt(place.rpcUrl, place.mint);
  const kept = fromStart ? [] : [...(await readCheckpoints(all)).values()];
  const trusted = new Map((await chain.stillThere(kept)).map((each) => [each.account, each]));
  const first = await compareFrom({ place, query, chain }, trusted);
  const again =
    first.doubtful.size === 0
      ? []
      : (await compareFrom({ place, query, chain }, new Map(), first.doubtful)).reports;
  const costs: CostReport[] = [];
  for (const feePayer of place.feePayers)
    costs.push(await compareCosts({ chain, query }, feePayer, trusted.get(feePayer)));
  return { reports: [...first.reports, ...again], costs, transactions: chain.transactionsRead() };
};

/**
 * Compares chain and records of one environment from their beginning, and keeps nothing. The
 * environment may be running.
 * @returns a report for every account in the records, and for every fee payer
 */
export const reconcile = async (place: Place): Promise<Comparison> => {
  const all = connectDatabases(place.databases, { max: 3 });
  try {
    return await compareAll(place, all, true);
  } finally {
    await all.end();
  }
};

/**
 * Compares chain and records since the last run, and keeps the result and the next checkpoints.
 * @returns the reports, what services lack, and why nothing was kept (null: it was)
 */
export const reconcileOn = async (place: Place, { fromStart }: { fromStart: boolean }) => {
  const all = connectDatabases(place.databases, { max: 3 });
  try {
    const began_at = new Date();
    const { reports, costs, transactions } = await compareAll(place, all, fromStart);
    const lacking = await unmatchedIn(async (text) => (await all.query(text)).rows);
    const notKept = await keepRun(all, { began_at, fromStart, transactions, reports, costs, lacking });
    return { reports, costs, transactions, lacking, notKept };
  } finally {
    await all.end();
  }
};

/** The records of one service that another one's database lacks. */
export const unmatched = async ({ databases }: Pick<Place, 'databases'>): Promise<Unmatched[]> => {
  const all = connectDatabases(databases, { max: 3 });
  try {
    return await unmatchedIn(async (text) => (await all.query(text)).rows);
  } finally {
    await all.end();
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
 * @throws Error for any environment but the first: the stack's file has only its databases
 */
export const placeOf = (
  stack: Pick<Stack, 'postgres_urls'> & { environments: Record<string, ChainAddresses> },
  environment: string,
): Place => {
  const found = stack.environments[environment];
  if (found === undefined) throw new Error(`this stack has no environment ${environment}`);
  if (environment !== Object.keys(stack.environments)[0])
    throw new Error(`${ADMIN_SETTING} is missing: it is required for every environment but the first`);
  return {
    environment,
    databases: stack.postgres_urls,
    rpcUrl: found.rpc_url,
    mint: found.usdc_mint,
    feeWallet: found.fee_wallet,
    feePayers: [found.fee_payer],
  };
};

/** The databases that the environment variables name. */
const namedDatabases = (): Databases => {
  try {
    return databasesIn(process.env);
  } catch (error) {
    return refuse((error as Error).message);
  }
};

const placeFrom = (environment: string, file: string, options: Record<string, string | undefined>): Place => {
  if (hasDatabases(process.env)) {
    const { rpc, mint, 'fee-wallet': feeWallet, 'fee-payer': feePayers } = options;
    if (!rpc || !mint || !feeWallet || !feePayers)
      return refuse(`${ADMIN_SETTING} requires --rpc, --mint, --fee-wallet and --fee-payer`);
    return {
      environment,
      databases: namedDatabases(),
      rpcUrl: rpc,
      mint,
      feeWallet,
      feePayers: feePayers.split(','),
    };
  }
  if (!existsSync(file))
    refuse(
      `no stack is running (${file}): start one, or set ${ADMIN_SETTING} and the options that it requires`,
    );
  return placeOf(JSON.parse(readFileSync(file, 'utf8')) as Stack, environment);
};

if (import.meta.main) {
  const { values } = readCommandLine({
    typed: 'npm run ops -- reconcile',
    about: `Compares the history of every watched account on chain with the records, and the records of the services
with each other, since the last run. It keeps its result, and until where each account agrees, in chain_submitter, and
changes nothing else. Ends with 1 if there is unexplained drift, or if a service lacks what another one has. Without a stack on this machine it needs POSTGRES_ADMIN_URL and the last four options.`,
    options: {
      environment: text('NAME', 'an environment of the stack on this machine', 'test'),
      stack: text('FILE', 'the file of the stack', path.join('.local', 'stack.json')),
      'from-start': flag('read the whole history of every account again'),
      'records-only': flag('only compare the records of the services with each other, without the chain'),
      rpc: text('URL', 'a provider of the chain'),
      mint: text('ADDRESS', 'the mint of USDC'),
      'fee-wallet': text('ADDRESS', 'the wallet that receives the fees'),
      'fee-payer': text('ADDRESSES', 'the fee payer and former ones, with commas between them'),
    },
    notes: `Environment variables:

  POSTGRES_ADMIN_URL            a role that may read the schemas of the environment's database, and write the tables
                                reconcile_… of chain_submitter (without that nothing is kept)
  POSTGRES_ADMIN_URL_<SERVICE>  the same for a service with a database of its own`,
  });
  const { 'records-only': recordsOnly, 'from-start': fromStart, ...options } = values;
  const place = () => placeFrom(options.environment, options.stack, options);
  const compared = recordsOnly ? null : await reconcileOn(place(), { fromStart });
  const reports = compared?.reports ?? [];
  if (compared !== null) {
    console.log(reportText(reports));
    console.log(costsText(compared.costs));
    console.log(`${compared.transactions} transactions were read`);
    if (compared.notKept !== null) console.error(`The result is not kept: ${compared.notKept}.`);
  }
  const lost =
    compared?.lacking ??
    (await unmatched(hasDatabases(process.env) ? { databases: namedDatabases() } : place()));
  for (const { lacks, what } of lost) console.log(`${lacks} lacks ${what}`);
  if (lost.length === 0) console.log('no service lacks a record that another one has');
  const isDifferent = reports.some(isBroken) || (compared?.costs.some(isWrong) ?? false);
  process.exit(isDifferent || lost.length > 0 ? 1 : 0);
}
