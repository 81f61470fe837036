import { sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { chainStatuses, type Event, statuses } from '../model/status.ts';

type Fragment = ReturnType<typeof sql.fragment>;

/** The two columns that hold a settlement's state. */
export const state = stateColumn(statuses);
export const chainState = stateColumn(chainStatuses, sql.fragment`chain_status`);

/**
 * SQL of the hashes of the tokens that requests present. Only who has the token of a row may lock
 * it: otherwise any vendor could delay the calls of another.
 * @param input requests, as `withTokenHash` makes them
 */
export const hashesOf = (input: readonly { token_hash: string }[]) =>
  sql.fragment`${sql.array(
    input.map(({ token_hash }) => token_hash),
    'text',
  )}::bytea[]`;

/** The guard of an event: both states have a transition for it. */
export const allows = (event: Event) => sql.fragment`${state.allows(event)} and ${chainState.allows(event)}`;

/** The settlement is of a payment that a client of another protocol has signed. */
export const isIncoming = sql.fragment`rail in ('x402', 'mpp')`;
/** The settlement is of a payment to a vendor that does not use Quittance. */
export const isOutgoingPayment = sql.fragment`rail in ('x402_out', 'mpp_out')`;

/**
 * Whether the redeem window of an issued settlement has elapsed. While a fork removes its payment
 * (pending again) it cannot be redeemed. The window is extended by that time, so that the payer
 * does not lose the purchase to a fork.
 */
export const windowElapsed = sql.fragment`(redeem_expires_at is not null
  and redeem_expires_at <= app_now() and chain_status <> 'pending'
  and app_now() - redeem_expires_at >= forked_for)`;

/** How long after its redeem units can be consumed (docs/spec/decisions.md, Redeem). */
export const consumableFor = sql.fragment`interval '30 days'`;
/** Whether units of a redeemed settlement can still be consumed. */
export const isConsumable = sql.fragment`redeemed_at > app_now() - ${consumableFor}`;

/**
 * Condition of redeem: refunds have not reserved the whole net (docs/spec/decisions.md, Funding).
 */
export const isRedeemable = sql.fragment`refund_reserved < quote_amount - fee_amount`;
/**
 * Condition of consume, which is stricter: no unit is consumed while any amount is to be refunded.
 */
export const isUnreserved = sql.fragment`refund_reserved = 0`;

/**
 * Whether a settlement can still be redeemed or captured, or has prepaid units that can be
 * consumed. One of another rail has no window, so a refund of the whole net ends it.
 */
export const isOpenSale = sql.fragment`(${state.is('authorized')} or ${state.is('issued')} and not ${windowElapsed}
    and (redeem_expires_at is not null or ${isRedeemable})
  or ${state.is('redeemed')} and units_consumed < units_total and ${chainState.isNot('failed')} and ${isConsumable})`;

/**
 * Whether a restore since then may have lost the capture of an authorization.
 * @param since when it was made, or when the chain was asked for its capture last
 */
export const isOlderThanRestore = (since: Fragment) =>
  sql.fragment`exists (select from restores where restored_at >= ${since})`;
const captureUnknown = (createdAt: Fragment) =>
  isOlderThanRestore(sql.fragment`greatest(${createdAt}, sought_at)`);
const usable = (createdAt: Fragment) =>
  sql.fragment`(coalesce(due_at > app_now(), false) and not ${captureUnknown(createdAt)})`;

/** The same, and the chain was not asked since that restore. */
export const isCaptureUnknown = captureUnknown(sql.fragment`created_at`);

/**
 * Whether use can be reported of an authorization. It is due with its window, once its threshold is
 * reached, once the wallet no longer covers it, or once its payer has closed it. After a restore it
 * may be captured already, so nothing is used before the chain was asked.
 */
export const isUsable = usable(sql.fragment`created_at`);
/** The same of the row `a`, beside its settlement. */
export const isUsableRow = usable(sql.fragment`a.created_at`);

/** Whether the chain may still change a payment, as the index of the resume jobs has it. */
export const isUnderWay = sql.fragment`under_way_since is not null`;

/**
 * Whether a payment under way may have stopped: the shortest delay of the resume jobs is over. The
 * first condition is the one that their index serves, so they read no payment of the last seconds.
 */
export const mayBeStalled = sql.fragment`under_way_since < app_now() - interval '15 seconds'
  and progressed_at < app_now() - interval '15 seconds'`;
