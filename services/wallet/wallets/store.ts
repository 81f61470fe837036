import { z } from 'zod';
import type { Progress } from '../../../shared/contract/chain-submitter.ts';
import { notFound } from '../../../shared/contract/errors.ts';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { stateColumn } from '../../../shared/db/state-column.ts';
import { chainWork, UNDECIDED } from '../../../shared/lib/chain/chain-work.ts';
import { type Page, pageBy } from '../../../shared/lists/page.ts';

const tokenAccountState = stateColumn(chainWork, sql.fragment`token_account_status`);

const Row = z.object({
  wallet_id: z.string(),
  account_id: z.string(),
  kind: z.enum(['external', 'provisioned']),
  public_key: z.string(),
  token_account: z.string(),
  authority: z.string(),
  label: z.string().nullable(),
  backup: z.string().nullable(),
  created_at: z.number(),
  token_account_status: z.enum(chainWork.states).nullable(),
  approving: z.boolean(),
  last_confirmed: z.enum(['approve', 'revoke']).nullable(),
  last_allowance: z.bigint().nullable(),
  last_submitted_at: z.number().nullable(),
});
export type WalletRow = z.infer<typeof Row>;

/**
 * A wallet with columns that are derived from its preparations. A submitted approval without an
 * outcome counts as `approving` for as long as its blockhash can be valid. After that, the status
 * is derived from the chain alone, even if the event of its outcome was lost.
 */
const wallets = sql.fragment`
  select wallet_id, account_id, kind, public_key, token_account, authority, label, backup, created_at,
    token_account_status,
    exists (
      select from preparations p
      where p.wallet_id = wallets.wallet_id and p.kind = 'approve' and p.status = 'signed'
        and p.progressed_at > app_now() - interval '5 minutes'
    ) as approving,
    last_confirmed, last_allowance, last_submitted_at
  from wallets left join lateral (
    select p.kind as last_confirmed, p.allowance as last_allowance, p.submitted_at as last_submitted_at
    from preparations p
    where p.wallet_id = wallets.wallet_id and p.status in ('confirmed', 'finalized')
    order by p.slot desc nulls last, p.preparation_id desc limit 1
  ) last on true`;

/** The account's wallet, or null, also for the wallet of another account. */
export const findWallet = (db: Db, accountId: string, walletId: string): Promise<WalletRow | null> =>
  db.maybeOne(sql.type(Row)`${wallets} where account_id = ${accountId} and wallet_id = ${walletId}`);

/** The account's wallet. @throws ServiceError not_found for the wallet of another account, too */
export const getWallet = async (db: Db, accountId: string, walletId: string): Promise<WalletRow> => {
  const row = await findWallet(db, accountId, walletId);
  if (row === null) throw notFound('wallet');
  return row;
};

/** The wallet that pays when none is named. */
export const findDefaultWallet = (db: Db, accountId: string): Promise<WalletRow | null> =>
  db.maybeOne(sql.type(Row)`${wallets} where account_id = ${accountId} and is_default`);

const Addresses = z.object({
  account_id: z.string(),
  wallet_id: z.string(),
  owner: z.string(),
  token_account: z.string(),
  authority: z.string(),
});

/** The default wallets of these accounts, in no order. */
export const listDefaultWallets = (
  db: Db,
  accountIds: readonly string[],
): Promise<readonly z.infer<typeof Addresses>[]> =>
  db.any(sql.type(Addresses)`
    select account_id, wallet_id, public_key as owner, token_account, authority from wallets
    where account_id = any(${sql.array([...accountIds], 'text')}) and is_default`);

/** The wallet of a key, of any account: only to decide whether the key has a wallet already. */
export const findWalletByKey = (db: Db, publicKey: string): Promise<WalletRow | null> =>
  db.maybeOne(sql.type(Row)`${wallets} where public_key = ${publicKey}`);

/** The wallets of any account that an id or the address of an owner names: for operators alone. */
export const listWalletsNamed = (db: Db, text: string): Promise<readonly WalletRow[]> =>
  db.any(sql.type(Row)`${wallets} where wallet_id = ${text} or public_key = ${text}`);

/** Wallets of any account by their ids, in no order: for the watcher alone. */
export const listWalletsUnscoped = (db: Db, walletIds: readonly string[]): Promise<readonly WalletRow[]> =>
  db.any(sql.type(Row)`${wallets} where wallet_id = any(${sql.array([...walletIds], 'text')})`);

/** A page of the account's wallets, newest first, and one row more where there is a next page. */
export const listWallets = (
  db: Db,
  { account_id }: { account_id: string },
  page: Page,
): Promise<readonly WalletRow[]> =>
  db.any(sql.type(Row)`${wallets} where account_id = ${account_id} ${pageBy('wallet_id', page)}`);

type NewWallet = Pick<
  WalletRow,
  | 'wallet_id'
  | 'account_id'
  | 'kind'
  | 'public_key'
  | 'token_account'
  | 'authority'
  | 'label'
  | 'backup'
  | 'created_at'
>;

/**
 * Inserts a wallet. The account's first wallet becomes its default. Called in a transaction: the
 * lock serializes the inserts of an account, so that one of them is the first.
 * @returns false when another wallet has the key
 */
export const insertWallet = async (tx: Db, row: NewWallet): Promise<boolean> => {
  await tx.query(
    sql.typeAlias('void')`select from pg_advisory_xact_lock(hashtextextended(${row.account_id}, 0))`,
  );
  const id = await tx.maybeOneFirst(sql.typeAlias('id')`
    insert into wallets (wallet_id, account_id, kind, public_key, token_account, authority, label, backup,
      created_at, token_account_status, is_default)
    values (${row.wallet_id}, ${row.account_id}, ${row.kind}, ${row.public_key}, ${row.token_account},
      ${row.authority}, ${row.label}, ${row.backup}, to_timestamp(${row.created_at}::float8 / 1000),
      ${row.kind === 'provisioned' ? 'new' : null},
      not exists (select from wallets where account_id = ${row.account_id}))
    on conflict (public_key) do nothing
    returning wallet_id as id`);
  return id !== null;
};

/** Records that the wallet's owner has approved another configured authority. */
export const updateAuthority = (tx: Db, walletId: string, authority: string): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`update wallets set authority = ${authority} where wallet_id = ${walletId}`);

/**
 * Replaces the backup that the caller has read. A repeat changes nothing.
 * @returns false when the stored backup is a different one
 */
export const updateBackup = async (
  db: Db,
  walletId: string,
  { replaces, backup }: { replaces: string; backup: string },
): Promise<boolean> =>
  (await db.maybeOneFirst(sql.typeAlias('id')`
    update wallets set backup = ${backup}
    where wallet_id = ${walletId} and backup in (${replaces}, ${backup})
    returning wallet_id as id`)) !== null;

const ByAuthority = z.object({ authority: z.string(), wallets: z.bigint(), active: z.bigint() });

/**
 * How many wallets name each delegate authority, and how many of them let it spend as last seen.
 */
export const countByAuthority = (db: Db): Promise<readonly z.infer<typeof ByAuthority>[]> =>
  db.any(sql.type(ByAuthority)`
    select authority, count(*) as wallets,
      count(*) filter (where s.delegate = authority and s.allowance > 0) as active
    from wallets left join snapshots s using (wallet_id) group by authority order by authority`);

/**
 * Makes a wallet the account's default; null makes the first linked wallet the default. Called in a
 * transaction: the lock serializes the changes of an account.
 * @returns false when the account has no such wallet; nothing changes then
 */
export const updateDefaultWallet = async (
  tx: Db,
  accountId: string,
  walletId: string | null,
): Promise<boolean> => {
  await tx.query(sql.typeAlias('void')`select from pg_advisory_xact_lock(hashtextextended(${accountId}, 0))`);
  const id = await tx.maybeOneFirst(sql.typeAlias('id')`
    select wallet_id as id from wallets where account_id = ${accountId}
      ${walletId === null ? sql.fragment`` : sql.fragment`and wallet_id = ${walletId}`}
    order by wallet_id limit 1`);
  if (id === null) return walletId === null;
  // Two statements: a unique index is checked row by row, so one statement could violate it midway.
  await tx.query(
    sql.typeAlias(
      'void',
    )`update wallets set is_default = false where account_id = ${accountId} and is_default`,
  );
  await tx.query(sql.typeAlias('void')`update wallets set is_default = true where wallet_id = ${id}`);
  return true;
};

/**
 * Records the progress of a provisioned wallet's token account, unless later progress is recorded.
 */
export const transitionTokenAccount = (
  db: Db,
  { object_id, status, generation }: Progress,
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    update wallets set token_account_status = ${tokenAccountState.after(status)},
      token_account_generation = ${generation}, token_account_progressed_at = app_now()
    where wallet_id = ${object_id} and token_account_generation <= ${generation}
      and ${tokenAccountState.allows(status)}`);

const Due = z.object({
  wallet_id: z.string(),
  account_id: z.string(),
  public_key: z.string(),
  token_account_dispatch_count: z.number(),
});

/**
 * Claims wallets whose token account made no progress for 15 s, each with its next dispatch count.
 */
export const claimStalledTokenAccounts = (tx: Db): Promise<readonly z.infer<typeof Due>[]> =>
  tx.any(sql.type(Due)`
    with due as (
      select wallet_id from wallets
      where ${tokenAccountState.is(...UNDECIDED)}
        and token_account_progressed_at < app_now() - interval '15 seconds'
      order by token_account_progressed_at limit 100 for update skip locked
    )
    update wallets set token_account_dispatch_count = token_account_dispatch_count + 1, token_account_progressed_at = app_now()
    from due where wallets.wallet_id = due.wallet_id
    returning wallets.wallet_id, account_id, public_key, token_account_dispatch_count`);

/** Whether a wallet of the account that was created here holds money, as last seen. */
export const hasFundedWallet = (db: Db, accountId: string): Promise<boolean> =>
  db.oneFirst(sql.type(z.object({ open: z.boolean() }))`
    select exists (
      select from wallets join snapshots using (wallet_id)
      where account_id = ${accountId} and kind = 'provisioned' and balance > 0
    ) as open`);

/**
 * The ids of an account's wallets, locked.
 * @param onlyLinked without those that were created here
 */
export const listWalletIds = (
  tx: Db,
  accountId: string,
  { onlyLinked }: { onlyLinked: boolean },
): Promise<readonly string[]> =>
  tx.anyFirst(sql.typeAlias('id')`
    select wallet_id as id from wallets
    where account_id = ${accountId} ${onlyLinked ? sql.fragment`and kind = 'external'` : sql.fragment``}
    order by wallet_id for update`);

/** Deletes wallets that have no snapshot and no preparation any more. */
export const deleteWallets = (tx: Db, walletIds: readonly string[]): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    delete from wallets where wallet_id = any(${sql.array([...walletIds], 'text')})`);
