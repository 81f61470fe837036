import { z } from 'zod';
import { type Db, sql } from '../../../shared/db/pool.ts';

export type Sight = { balance: bigint; allowance: bigint; slot: bigint };

const Payer = z.object({
  wallet_id: z.string(),
  account_id: z.string(),
  owner: z.string(),
  authority: z.string(),
});
export type Payer = z.infer<typeof Payer>;

/** The addresses of a wallet that has paid, or tried to, before. */
export const findPayer = (db: Db, accountId: string, walletId: string): Promise<Payer | null> =>
  db.maybeOne(sql.type(Payer)`
    select wallet_id, account_id, owner, authority from payers
    where wallet_id = ${walletId} and account_id = ${accountId}`);

/**
 * The wallets of an account that have paid or tried to, once nothing is being accepted from them any more: acceptance locks
 * its payer until its commit is over, so a statement that begins after this one sees what became of it.
 */
export const payersAtRest = (db: Db, accountId: string): Promise<readonly Payer[]> =>
  db.any(sql.type(Payer)`
    select wallet_id, account_id, owner, authority from payers
    where account_id = ${accountId} order by wallet_id for key share`);

/**
 * Takes over a sight of the chain unless a later one is known, or a payment that landed after it: a node that lags
 * would bring that payment's money back. Holds stay as they are; the authority is the one that was approved last.
 */
export const savePayer = (db: Db, payer: Payer, sight: Sight): Promise<unknown> =>
  db.query(sql.typeAlias('void')`
    insert into payers (wallet_id, account_id, owner, authority, balance, allowance, as_of_slot)
    values (${payer.wallet_id}, ${payer.account_id}, ${payer.owner}, ${payer.authority},
      ${sight.balance}, ${sight.allowance}, ${sight.slot})
    on conflict (wallet_id) do update
    set authority = excluded.authority, balance = excluded.balance, allowance = excluded.allowance, as_of_slot = excluded.as_of_slot
    where payers.as_of_slot < excluded.as_of_slot and payers.landed_slot <= excluded.as_of_slot`);
