import { sql } from '../../../shared/db/pool.ts';

/*
 * An event belongs to one account or to two (`account_id`, `other_account_id`), as SQL.
 */

type Fragment = ReturnType<typeof sql.fragment>;

/** Condition: the account gets the event. */
export const isEventOf = (account: Fragment) =>
  sql.fragment`(events.account_id = ${account} or events.other_account_id = ${account})`;

/** The column `data` of an event as one of its accounts sees it. */
export const dataFor = (account: Fragment) => sql.fragment`
  events.data || case when events.account_id = ${account} then events.own else events.other_own end as data`;
