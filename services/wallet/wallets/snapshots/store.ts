import { z } from 'zod';
import { type Db, sql } from '../../../../shared/db/pool.ts';
import { DELEGATION_STATUSES } from '../delegation-status.ts';

const Row = z.object({
  wallet_id: z.string(),
  token_account_exists: z.boolean(),
  token_account_seen: z.boolean(),
  balance: z.bigint(),
  delegate: z.string().nullable(),
  allowance: z.bigint(),
  delegation_status: z.enum(DELEGATION_STATUSES),
  slot: z.bigint(),
  seen_at: z.number().nullable(),
});
export type SnapshotRow = z.infer<typeof Row>;

const columns = sql.fragment`wallet_id, token_account_exists, token_account_seen, balance, delegate, allowance,
  delegation_status, slot, seen_at`;

/** Inserts the empty snapshot of a new wallet. It is due at once, so that the wallet is watched. */
export const insertSnapshot = (db: Db, walletId: string): Promise<unknown> =>
  db.query(sql.typeAlias('void')`insert into snapshots (wallet_id) values (${walletId})`);

/** The stored snapshots of wallets, in no order. */
export const listSnapshots = (db: Db, walletIds: readonly string[]): Promise<readonly SnapshotRow[]> =>
  db.any(
    sql.type(
      Row,
    )`select ${columns} from snapshots where wallet_id = any(${sql.array([...walletIds], 'text')})`,
  );

/**
 * The same within a transaction that changes them. They are locked in the order of their ids, so
 * that no two transactions deadlock.
 */
export const lockSnapshots = (tx: Db, walletIds: readonly string[]): Promise<readonly SnapshotRow[]> =>
  tx.any(sql.type(Row)`
    select ${columns} from snapshots where wallet_id = any(${sql.array([...walletIds], 'text')})
    order by wallet_id for update`);

/**
 * How long claimed wallets belong to the replica that claimed them. A failed poll is repeated after
 * it.
 */
const LEASE_SECONDS = 10;

/**
 * Claims wallets that are due for a poll, the longest overdue first. A claimed wallet is not due
 * for other replicas until the lease ends.
 */
export const claimDueSnapshots = async (db: Db, limit: number): Promise<string[]> => [
  ...(await db.anyFirst(sql.type(z.object({ wallet_id: z.string() }))`
    with due as (
      select wallet_id from snapshots where poll_at <= app_now()
      order by poll_at limit ${limit} for update skip locked
    )
    update snapshots set poll_at = app_now() + make_interval(secs => ${LEASE_SECONDS}::float8)
    from due where snapshots.wallet_id = due.wallet_id
    returning snapshots.wallet_id`)),
];

/** The longest pause between two polls of one wallet. */
const IDLE_SECONDS = 600;

/** @property active whether the wallet is in use, so that it is polled often */
export type SnapshotChange = Omit<SnapshotRow, 'seen_at'> & { active: boolean };

/**
 * Updates locked snapshots. The pause until the next poll is a tenth of the time since the wallet
 * was last active, from `pollMs` up to ten minutes: many idle wallets cost little, and a change of
 * an active wallet is detected within one poll.
 * @param rows `active`: the owner has read the wallet, or something changed
 */
export const updateSnapshots = async (
  tx: Db,
  rows: readonly SnapshotChange[],
  { pollMs }: { pollMs: number },
): Promise<void> => {
  const values = rows.map(({ balance, allowance, slot, ...row }) => ({
    ...row,
    balance: `${balance}`,
    allowance: `${allowance}`,
    slot: `${slot}`,
  }));
  await tx.query(sql.typeAlias('void')`
    with seen as (
      select s.*, case when s.active then app_now() else k.active_at end as active_since
      from jsonb_to_recordset(${JSON.stringify(values)}::jsonb)
        as s(wallet_id text, token_account_exists boolean, token_account_seen boolean, balance bigint,
          delegate text, allowance bigint, delegation_status text, slot bigint, active boolean)
      join snapshots k using (wallet_id)
    )
    update snapshots set token_account_exists = seen.token_account_exists,
      token_account_seen = seen.token_account_seen, balance = seen.balance, delegate = seen.delegate,
      allowance = seen.allowance, delegation_status = seen.delegation_status, slot = seen.slot,
      seen_at = app_now(), active_at = seen.active_since,
      poll_at = app_now() + least(
        greatest((app_now() - seen.active_since) / 10, make_interval(secs => ${pollMs / 1000}::float8)),
        make_interval(secs => ${IDLE_SECONDS}::float8))
    from seen where snapshots.wallet_id = seen.wallet_id`);
};

/** Deletes the snapshots of wallets. */
export const deleteSnapshots = (tx: Db, walletIds: readonly string[]): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    delete from snapshots where wallet_id = any(${sql.array([...walletIds], 'text')})`);
