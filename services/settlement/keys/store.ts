import { sql } from '../../../shared/db/pool.ts';
import { hasCause } from '../../../shared/lib/error-causes.ts';
import { afterRowsOf } from '../payers/store.ts';

/*
 * What is unique over all payments of all accounts and times (docs/design/settle.md, rules 1 and
 * 2). An accepted payment has its keys in the same commit, and a key leads to its payment.
 */

type Fragment = ReturnType<typeof sql.fragment>;
type Value = Fragment | string;
type Kind = 'attempt' | 'quote' | 'message' | 'external_id';

/** An account id has no slash, so no two attempts have one key. */
const attemptKey = (accountId: Value, attemptId: Value): Fragment =>
  sql.fragment`${accountId} || '/' || ${attemptId}`;

/** The same as text. */
export const attemptKeyOf = (accountId: string, attemptId: string): string => `${accountId}/${attemptId}`;
/** SQL: whether the row of `settlement_keys` is the key of the attempt in CTE `input`. */
export const isAttemptKey = (table: string): Fragment => {
  const own = sql.identifier([table]);
  return sql.fragment`${own}.kind = 'attempt' and ${own}.key = ${attemptKey(sql.fragment`input.account_id`, sql.fragment`input.payment_attempt_id`)}`;
};
/** The rows of these keys. */
export const keysAmong = (keys: readonly string[]): Fragment => sql.fragment`
  select kind, key, true as found from settlement_keys where key = any(${sql.array([...keys], 'text')})`;

const settlementOf = (kind: Kind, key: Value): Fragment => sql.fragment`(
  select k.settlement_id from settlement_keys as k where k.kind = ${sql.literalValue(kind)} and k.key = ${key})`;
/** SQL: the settlement of an attempt; null: none. */
export const ofAttempt = (accountId: Value, attemptId: Value): Fragment =>
  settlementOf('attempt', attemptKey(accountId, attemptId));
/** SQL: the settlement that pays a quote or has paid it; null: none. */
export const ofQuote = (quoteId: Value): Fragment => settlementOf('quote', quoteId);

/** SQL: the settlement of a signed message; null: none. */
export const ofMessage = (messageHash: string): Fragment => settlementOf('message', messageHash);

/** Ids and addresses have no slash either. */
export const externalKey = (serviceId: Value, sourceAccount: Value, externalId: Value): Fragment =>
  sql.fragment`${serviceId} || '/' || ${sourceAccount} || '/' || ${externalId}`;

/** The keys of a row of a statement, by its columns. A null is no key. */
type Keys = Partial<Record<Kind, Fragment>>;
/** Of a payment of this system. An outgoing one has no quote. */
export const ATTEMPT: Keys = {
  attempt: attemptKey(sql.fragment`account_id`, sql.fragment`payment_attempt_id`),
};
export const ATTEMPT_AND_QUOTE: Keys = { ...ATTEMPT, quote: sql.fragment`quote_id` };
/** The keys that a payment gives back when it has failed, or is void. */
const RETURNED: Keys = {
  quote: sql.fragment`quote_id`,
  external_id: externalKey(sql.fragment`service_id`, sql.fragment`source_account`, sql.fragment`external_id`),
};
/** Of a payment that another client has signed. */
export const OF_MESSAGE: Keys = { ...RETURNED, message: sql.fragment`message_hash` };

const list = (fragments: readonly Fragment[]): Fragment =>
  sql.fragment`${sql.join(fragments, sql.fragment`, `)}`;
/** The keys of the row before it, as rows. */
const rowsOf = (keys: Keys): Fragment =>
  sql.fragment`lateral (values ${list(
    Object.entries(keys).map(([kind, key]) => sql.fragment`(${sql.literalValue(kind)}, ${key})`),
  )}) as own (kind, key)`;

const deleteKeys = (keys: Keys, condition: Fragment): Fragment => sql.fragment`
  delete from settlement_keys as k using changed cross join ${rowsOf(keys)}
  where k.key = own.key and k.kind = own.kind and k.settlement_id = changed.settlement_id and ${condition}`;
/** What the failed rows of CTE `changed` give back, once CTE `released` has locked their payers. */
export const returnKeys = deleteKeys(
  RETURNED,
  sql.fragment`changed.status = 'failed' and ${afterRowsOf('released')}`,
);
/** The same of the authorizations of CTE `changed`, which are void. */
export const returnQuotes = deleteKeys({ quote: RETURNED.quote! }, afterRowsOf('released'));
/** Deletes all keys of payments that are deleted, which CTE `changed` has. */
export const deleteKeysOfDeleted = deleteKeys(OF_MESSAGE, sql.fragment`true`);

/**
 * CTEs `own_keys` and `claimed`: the keys of the accepted rows of a CTE, and how many each got. Two
 * statements never wait for each other, because they insert keys in one order.
 * @param accepted condition of the rows
 * @param accountId who pays
 * @param leadsTo the settlement of the keys
 */
export const claimKeys = (
  keys: Keys,
  {
    cte,
    accepted,
    accountId = sql.fragment`account_id`,
    leadsTo = sql.fragment`settlement_id`,
  }: { cte: string; accepted: Fragment; accountId?: Fragment; leadsTo?: Fragment },
): Fragment => sql.fragment`
  own_keys as (
    insert into settlement_keys (kind, key, settlement_id, account_id)
    select own.kind, own.key, ${leadsTo}, ${accountId}
    from ${sql.identifier([cte])} cross join ${rowsOf(keys)}
    where ${accepted} and own.key is not null
    order by own.key, own.kind
    on conflict do nothing
    returning settlement_id
  ), claimed as (select settlement_id, count(*) as keys from own_keys group by settlement_id)`;

/**
 * The settlement_id of a row that is inserted for one that got keys: of one in CTE `claimed`. One
 * that got only a part of its keys must leave nothing behind, so its null makes the statement fail.
 */
export const claimedId = (keys: Keys): Fragment => sql.fragment`
  case when claimed.keys = num_nonnulls(${list(Object.values(keys))}) then claimed.settlement_id end`;

/** Whether a statement failed because a payment got only a part of its keys. */
export const isPartOfKeys = (error: unknown): boolean =>
  hasCause(error, (cause) => cause.code === '23502' && 'column' in cause && cause.column === 'settlement_id');
