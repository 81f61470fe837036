import { type Db, sql } from '../../../../shared/db/pool.ts';

/**
 * Locks the accounts between whom something is to be authorized, in the order of their ids and
 * until the transaction ends. Everything that adds to what is open locks them first, before
 * settlements, delegates and payers. So a later statement of the transaction reads sums to which
 * nothing can be added. What only ends an authorization needs no such lock.
 */
export const lockAuthorizing = (tx: Db, accountIds: readonly string[]): Promise<unknown> =>
  tx.query(sql.typeAlias('void')`
    insert into authorization_locks (account_id)
    select distinct account_id from unnest(${sql.array([...accountIds], 'text')}) as party (account_id)
    order by account_id
    on conflict (account_id) do update set account_id = excluded.account_id`);
