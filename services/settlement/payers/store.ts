import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';
import { insertAccountLimits } from '../delegates/store.ts';

const Payer = z.object({
  wallet_id: z.string(),
  account_id: z.string(),
  owner: z.string(),
  authority: z.string(),
});
export type Payer = z.infer<typeof Payer>;

/** A wallet with its state on the chain. An allowance of another delegate does not count. */
export type WalletState = { wallet: Payer; balance: string; allowance: string; slot: number };

/** The addresses of a wallet that has paid, or tried to, before. */
export const findPayer = (db: Db, accountId: string, walletId: string): Promise<Payer | null> =>
  db.maybeOne(sql.type(Payer)`
    select wallet_id, account_id, owner, authority from payers
    where wallet_id = ${walletId} and account_id = ${accountId}`);

/** Who pays a settlement: a wallet of ours, or the address that signed. */
type PaidBy = { wallet_id: string | null; payer_address: string | null };

/**
 * The address of who pays each settlement, in their order: the owner of the wallet. A payment
 * without a wallet of ours names the address that signed. Of an outgoing payment, `payer_address`
 * is the platform's authority over the wallet.
 */
export const getPayerAddresses = async (db: Db, settlements: readonly PaidBy[]): Promise<string[]> => {
  const walletIds = [...new Set(settlements.flatMap(({ wallet_id }) => wallet_id ?? []))];
  const owners = await db.any(sql.type(Payer.pick({ wallet_id: true, owner: true }))`
    select wallet_id, owner from payers where wallet_id = any(${sql.array(walletIds, 'text')})`);
  const ownerOf = new Map(owners.map(({ wallet_id, owner }) => [wallet_id, owner]));
  return settlements.map(({ wallet_id, payer_address }) =>
    wallet_id === null ? payer_address! : ownerOf.get(wallet_id)!,
  );
};

/**
 * The wallets of an account that have paid or tried to, once nothing is being accepted from them.
 * Acceptance locks its payer until it has committed, so a statement that begins after this one sees
 * the outcome.
 */
export const listPayersAfterAcceptance = (db: Db, accountId: string): Promise<readonly Payer[]> =>
  db.any(sql.type(Payer)`
    select wallet_id, account_id, owner, authority from payers
    where account_id = ${accountId} order by wallet_id for key share`);

/**
 * Condition of a statement that locks payers: its CTE of delegates, or of an account's limits, is
 * read first. So payers are locked after delegates, which is the order of every statement that
 * locks both. The condition is evaluated before a row is locked.
 */
export const afterRowsOf = (cte: 'delegate' | 'delegated' | 'limits' | 'released') =>
  sql.fragment`(select count(*) from ${sql.identifier([cte])}) >= 0`;

/**
 * Stores a snapshot of the chain unless a later one is stored, or a payment was included after it:
 * a node that lags would show that payment's amount again. Holds stay as they are. The authority is
 * the one that was approved last. The account gets its limits with its first wallet, before the
 * payer is locked: acceptance locks them in this order.
 */
export const upsertPayer = (
  db: Db,
  payer: Payer,
  snapshot: { balance: bigint; allowance: bigint; slot: bigint },
): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    with limits as (${insertAccountLimits(payer.account_id)})
    insert into payers (wallet_id, account_id, owner, authority, balance, allowance, as_of_slot)
    select ${payer.wallet_id}, ${payer.account_id}, ${payer.owner}, ${payer.authority},
      ${snapshot.balance}::bigint, ${snapshot.allowance}::bigint, ${snapshot.slot}::bigint
    where ${afterRowsOf('limits')}
    on conflict (wallet_id) do update
    set authority = excluded.authority, balance = excluded.balance, allowance = excluded.allowance, as_of_slot = excluded.as_of_slot
    where payers.as_of_slot < excluded.as_of_slot and payers.included_slot <= excluded.as_of_slot`);

/**
 * CTE `payer` of acceptance: the rows that CTE `candidate` names, locked after those of CTE
 * `delegate`.
 */
export const lockPayers = sql.fragment`
  select p.wallet_id, p.balance, p.balance - p.held as balance_left, p.allowance,
    p.allowance - p.held as allowance_left
  from payers as p
  where p.wallet_id = any(array(select wallet_id from candidate where is_existing is null))
    and ${afterRowsOf('delegate')}
  order by p.wallet_id for update of p`;

/** Holds the amounts of the settlements that the statement's CTE `inserted` returns. */
export const holdPayers = sql.fragment`
  update payers set held = payers.held + sums.amount
  from (select wallet_id, sum(quote_amount)::bigint as amount from inserted group by wallet_id) as sums
  where payers.wallet_id = sums.wallet_id`;

const notInSnapshot = sql.fragment`
  coalesce(sum(changed.quote_amount) filter (where locked.as_of_slot < changed.slot), 0)::bigint`;

/**
 * Releases the holds of the rows of the statement's CTE `changed`. A payment that was included
 * after the payer's snapshot is subtracted from it; an earlier one is part of it already. The slot
 * of the payment (null: none was included) is stored, so that no older snapshot replaces this one
 * (`upsertPayer`). A snapshot thus never counts a payment twice, and never shows too much. Payers
 * are locked in the order of their ids, and the values are computed from the locked rows (see
 * `updateDelegateCounters`).
 */
export const releasePayers = sql.fragment`
  update payers set held = freed.held, balance = freed.balance, allowance = freed.allowance,
    included_slot = freed.included_slot
  from (
    select locked.wallet_id, max(locked.held) - sum(changed.quote_amount)::bigint as held,
      greatest(max(locked.balance) - ${notInSnapshot}, 0) as balance, greatest(max(locked.allowance) - ${notInSnapshot}, 0) as allowance,
      greatest(max(locked.included_slot), max(changed.slot)) as included_slot
    from (
      select p.wallet_id, p.as_of_slot, p.held, p.balance, p.allowance, p.included_slot from payers as p
      where p.wallet_id = any(array(select wallet_id from changed where was_holding))
        and ${afterRowsOf('delegated')}
      order by p.wallet_id for no key update of p
    ) as locked
    join changed on changed.wallet_id = locked.wallet_id and changed.was_holding
    group by locked.wallet_id
  ) as freed
  where payers.wallet_id = freed.wallet_id
  returning payers.wallet_id`;

/** Holds the amount of a payment that was forked away again. */
export const holdPayersAgain = sql.fragment`
  update payers set held = held + changed.quote_amount
  from changed where payers.wallet_id = changed.wallet_id and ${afterRowsOf('delegated')}`;
