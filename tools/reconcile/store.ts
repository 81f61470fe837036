import type { EveryDatabase } from '../../deploy/local/servers/every-database.ts';
import type { Checkpoint } from './chain.ts';
import { type AccountReport, isBroken } from './compare.ts';
import { type CostReport, isWrong } from './costs.ts';
import type { Unmatched } from './unmatched.ts';

/** What reconciliation keeps, in the schema of the service whose transactions it compares. */

const BYTES = 32;
/** So many errors of a run are kept. */
const KEPT = 100;
/** insufficient_privilege of Postgres */
const MAY_NOT = '42501';
/** undefined_table: a database of a release before. */
const NO_TABLE = '42P01';

type Db = Pick<EveryDatabase, 'query'>;

const toCheckpoint = (row: Record<string, string | Buffer>): Checkpoint => ({
  account: String(row.account),
  signature: String(row.signature),
  slot: Number(row.slot),
  balance: BigInt(String(row.balance)),
  known: Number(row.known),
  records: BigInt(`0x${(row.records_hash as Buffer).toString('hex')}`),
  foreign: { transfers: Number(row.foreign_transfers), amount: BigInt(String(row.foreign_amount)) },
  keys: (row.keys_hash as Buffer).toString('hex'),
});

/** The checkpoints of all accounts. None in a database of a release before. */
export const readCheckpoints = async (db: Db): Promise<Map<string, Checkpoint>> => {
  try {
    const { rows } = await db.query('select * from chain_submitter.reconcile_checkpoints');
    return new Map(rows.map(toCheckpoint).map((each) => [each.account, each]));
  } catch (error) {
    if ((error as { code?: string }).code === NO_TABLE) return new Map();
    throw error;
  }
};

/** Keeps checkpoints. Of two runs at a time the last one stays: both are proven. */
const writeCheckpoints = (db: Db, checkpoints: readonly Checkpoint[]) =>
  db.query(
    `insert into chain_submitter.reconcile_checkpoints as kept (account, signature, slot, balance, known, records_hash,
       foreign_transfers, foreign_amount, keys_hash)
     select account, signature, slot, balance, known, decode(records, 'hex'), foreign_transfers, foreign_amount,
       decode(keys, 'hex')
     from jsonb_to_recordset($1::jsonb) as input(account text, signature text, slot bigint, balance bigint, known bigint,
       records text, foreign_transfers bigint, foreign_amount bigint, keys text)
     on conflict (account) do update set signature = excluded.signature, slot = excluded.slot, balance = excluded.balance,
       known = excluded.known, records_hash = excluded.records_hash, foreign_transfers = excluded.foreign_transfers,
       foreign_amount = excluded.foreign_amount, keys_hash = excluded.keys_hash, compared_at = public.app_now()`,
    [
      JSON.stringify(
        checkpoints.map(({ balance, records, foreign, ...rest }) => ({
          ...rest,
          balance: String(balance),
          records: records.toString(16).padStart(2 * BYTES, '0'),
          foreign_transfers: foreign.transfers,
          foreign_amount: String(foreign.amount),
        })),
      ),
    ],
  );

type Run = {
  began_at: Date;
  fromStart: boolean;
  transactions: number;
  reports: readonly AccountReport[];
  costs: readonly CostReport[];
  lacking: readonly Unmatched[];
};

const errorsOf = ({ reports, costs, lacking }: Run): string[] => [
  ...reports
    .filter(isBroken)
    .flatMap(({ account, findings }) =>
      findings.map(({ kind, amount, what }) => `${kind} ${account} ${amount}: ${what}`),
    ),
  ...costs.flatMap(({ feePayer, findings, unexplained }) => [
    ...findings.map(({ signature, what }) => `cost of ${signature}: ${what}`),
    ...(unexplained === 0n ? [] : [`balance of ${feePayer}: ${unexplained} lamports are unexplained`]),
  ]),
  ...lacking.map(({ lacks, what }) => `${lacks} lacks ${what}`),
];

/**
 * Keeps the result of a run, and until where the accounts agree.
 * @returns why nothing was kept; null: it was
 */
export const keepRun = async (db: Db, run: Run): Promise<string | null> => {
  const { began_at, fromStart, transactions, reports, costs, lacking } = run;
  try {
    await writeCheckpoints(
      db,
      [...reports, ...costs].flatMap(({ checkpoint }) => (checkpoint.signature === '' ? [] : [checkpoint])),
    );
    await db.query(
      `insert into chain_submitter.reconcile_runs (began_at, from_start, accounts, transactions, broken, lacking, findings)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        began_at,
        fromStart,
        reports.length,
        transactions,
        reports.filter(isBroken).length + costs.filter(isWrong).length,
        lacking.length,
        JSON.stringify(errorsOf(run).slice(0, KEPT)),
      ],
    );
    return null;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === MAY_NOT) return 'the role may not write the tables reconcile_… of chain_submitter';
    if (code === NO_TABLE) return 'the database is of a release before';
    throw error;
  }
};
