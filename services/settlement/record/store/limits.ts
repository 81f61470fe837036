import { z } from 'zod';
import {
  CAPS,
  type CapName,
  COUNTED_CAPS,
  LIMITS,
  type LimitName,
  WALLET_LIMITS,
  type WalletLimit,
} from '../../../../shared/contract/limits.ts';
import { sql } from '../../../../shared/db/pool.ts';
import type { Compared } from '../../declines/model.ts';
import { limitsOf } from '../../delegates/store.ts';

/*
 * The limits of a payment in an accepting statement, from their table. A limit has the column of
 * its name in CTE `delegate` or `payer`, and one that is used up has `<name>_left` beside it.
 */

type Fragment = ReturnType<typeof sql.fragment>;
/** An account has its limits in the columns of a delegate. */
type Column = CapName | WalletLimit;
const COLUMNS: readonly Column[] = [...CAPS, ...WALLET_LIMITS];

const leftColumn = (name: Column): string => (LIMITS[name].counts === null ? name : `${name}_left`);
const columnOf = (name: string, table?: string): Fragment =>
  sql.fragment`${sql.identifier(table === undefined ? [name] : [table, name])}`;
const list = (fragments: readonly Fragment[], glue = sql.fragment`, `): Fragment =>
  sql.fragment`${sql.join(fragments, glue)}`;

/** Joins CTE `candidate` of an acceptance to the row of CTE `delegate` that limits it. */
export const isLimitedBy = sql.fragment`delegate.delegate_id = ${limitsOf('candidate')}
  and delegate.account_id = candidate.account_id`;

/** The limit of an account that has the column of a delegate's limit. Null: an account has none. */
const ofAccount = (name: Column): LimitName | null =>
  Object.hasOwn(LIMITS, `account_${name}`) ? (`account_${name}` as LimitName) : null;

/**
 * What a cap leaves for a candidate; null: it does not bind it. The limits of a sign-in do not bind
 * a person who has just signed in. They still count.
 */
const leftOfCap = (name: CapName): Fragment => {
  const left = columnOf(leftColumn(name), 'delegate');
  return ofAccount(name) === null
    ? left
    : sql.fragment`case when candidate.is_fresh then null else ${left} end`;
};

/** The columns with the caps that bind a candidate and what is left of them; null: none. */
export const capsOf = list(
  CAPS.flatMap((name) => {
    const left = sql.fragment`${leftOfCap(name)} as ${columnOf(leftColumn(name))}`;
    return leftColumn(name) === name ? [left] : [columnOf(name, 'delegate'), left];
  }),
);

/** What the counted caps of a candidate leave, of the columns `capsOf`. */
export const leastLeftOfCaps = sql.fragment`least(${list(COUNTED_CAPS.map((name) => columnOf(leftColumn(name))))})`;

/** The conditions of the refusals by a limit. */
export const isOverCap = (name: CapName): Fragment =>
  sql.fragment`${leftOfCap(name)} < candidate.quote_amount`;
export const isShort = (name: WalletLimit): Fragment =>
  sql.fragment`${columnOf(leftColumn(name), 'payer')} < candidate.quote_amount`;

/** The decision that a limit is too small. */
type LimitDecision = `over_${CapName}` | `${WalletLimit}_short`;
const decisionOf = (name: Column): LimitDecision =>
  LIMITS[name].of === 'wallet' ? `${name as WalletLimit}_short` : `over_${name as CapName}`;

/** The columns of `comparedWith`. */
export const comparedShape = {
  limit_micro: z.bigint().nullable(),
  left_micro: z.bigint().nullable(),
  decided_at: z.number(),
};

/**
 * The columns `limit_micro`, `left_micro` and `decided_at` of an acceptance: the limit that the
 * decision compared the amount with, from the same locked rows. Null where no limit is the reason.
 */
export const comparedWith = (decision: Fragment): Fragment => {
  const chosen = (columnFor: (name: Column) => string) =>
    list(
      COLUMNS.map(
        (name) => sql.fragment`when ${sql.literalValue(decisionOf(name))} then ${columnOf(columnFor(name))}`,
      ),
      sql.fragment` `,
    );
  return sql.fragment`
    case ${decision} ${chosen((name) => name)} end as limit_micro,
    case ${decision} ${chosen(leftColumn)} end as left_micro,
    app_now() as decided_at`;
};

/** A limit with its figures. A limit that was lowered below what is spent leaves 0. */
export type ComparedLimit = Compared & { name: LimitName };

/** The limit that refused a payment, by the row of its statement. */
export const comparedOf = (
  {
    decision,
    limit_micro,
    left_micro,
    decided_at,
  }: z.infer<z.ZodObject<typeof comparedShape>> & {
    decision: string;
  },
  { delegateId, askedMicro }: { delegateId: string | null; askedMicro: bigint },
): ComparedLimit | null => {
  const column = COLUMNS.find((each) => decisionOf(each) === decision);
  if (column === undefined || limit_micro === null || left_micro === null) return null;
  const name = delegateId === null ? (ofAccount(column) ?? column) : column;
  const leftMicro = left_micro > 0n ? left_micro : 0n;
  return { name, askedMicro, limitMicro: limit_micro, leftMicro, at: decided_at };
};
