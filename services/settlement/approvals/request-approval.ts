import { isDeepStrictEqual } from 'node:util';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { declined } from '../declines/model.ts';
import {
  type ApprovalRow,
  findApprovalOfAttempt,
  insertApproval,
  type NewApproval,
} from './store/approvals.ts';
import { approvalEvent } from './view.ts';

type Deps = { pool: Pool; relay: Outbox };

/** The payment of a delegate that needs its owner's approval. */
export type ApprovalRequest = Omit<NewApproval, 'approvalId'>;

/**
 * Each request is mailed to the owner, who can decide about few payments in the minutes that a
 * quote lives. A further one waits.
 */
const MAX_WAITING = 10;
const WAITING_RETRY_SECONDS = 30;

const tooManyWaiting = (): ServiceError =>
  new ServiceError(
    'limit_exceeded',
    `${MAX_WAITING} payments of this delegate wait for approval already; repeat when the owner has decided about one`,
    { safe_action: 'retry_same_attempt', retryAfterSeconds: WAITING_RETRY_SECONDS },
  );

/** Whether the attempt asks for what its approval is about. The database compares it once more. */
const isSame = (row: ApprovalRow, asked: ApprovalRequest): boolean =>
  row.rail === asked.rail &&
  row.quote_id === asked.quoteId &&
  row.amount === asked.amountMicro &&
  isDeepStrictEqual(row.payees, asked.payees) &&
  row.resource === asked.resource;

/**
 * Why the payment of an approval is not made now.
 * @returns approval_required while the owner may decide, approval_denied, or approval_expired
 */
const refusalOf = ({ approval_id, status, decided_at }: ApprovalRow): ServiceError => {
  const extras = { money_moved: 'no', approval_id } as const;
  if (status === 'denied') {
    return declined('approval_denied', 'the owner has denied this payment; do not repeat it', {
      ...extras,
      safe_action: 'stop',
    });
  }
  if (status === 'expired') {
    const message =
      decided_at === null
        ? 'the owner did not approve in time; ask for a new price and use a new payment_attempt_id'
        : 'the approval was not used in time; ask for a new price and use a new payment_attempt_id';
    return declined('approval_expired', message, { ...extras, safe_action: 'new_quote' });
  }
  return new ServiceError(
    'approval_required',
    'the owner must approve this payment; repeat with the same payment_attempt_id after the approval',
    { ...extras, safe_action: 'await_approval' },
  );
};

/** @throws ServiceError conflict for an attempt id whose approval is about another payment */
const requireSame = (row: ApprovalRow, asked: ApprovalRequest): void => {
  if (row.delegate_id !== asked.delegateId) {
    throw conflict('this payment_attempt_id belongs to another delegate', { safe_action: 'stop' });
  }
  if (isSame(row, asked)) return;
  throw conflict(
    'approval was requested for another payment with this payment_attempt_id; use a new one for this payment',
    { safe_action: 'stop' },
  );
};

/**
 * Requests the owner's approval of a payment that acceptance has refused with `approval_required`,
 * once per attempt, and refuses the payment. An approval reserves nothing.
 * @throws ServiceError always: approval_required, approval_denied or approval_expired with the
 * `approval_id`; conflict when the attempt's approval is about another payment; limit_exceeded when
 * too many payments of the delegate wait
 */
export const requestApproval = async ({ pool, relay }: Deps, request: ApprovalRequest): Promise<never> => {
  const { accountId, paymentAttemptId } = request;
  const { row, outbox } = await pool.transaction(async (tx) => {
    const inserted = await insertApproval(tx, { ...request, approvalId: newId('apr') }, MAX_WAITING);
    const found = await findApprovalOfAttempt(tx, accountId, paymentAttemptId);
    if (!inserted || found === null) return { row: found, outbox: [] };
    return {
      row: found,
      outbox: await insertOutbox(tx, [event('settlement.approvalRequested', approvalEvent(found))]),
    };
  });
  if (row === null) throw tooManyWaiting();
  if (outbox.length > 0) {
    count('quittance_approvals_total', 1, { outcome: 'requested' });
    relay.dispatch(outbox);
  }
  requireSame(row, request);
  throw refusalOf(row);
};

/**
 * Throws what the attempt's approval says, for an attempt whose quote has expired: a caller that
 * was denied must not get a new quote for the same payment.
 */
export const refuseByApproval = async (
  { pool }: Pick<Deps, 'pool'>,
  request: ApprovalRequest,
): Promise<void> => {
  const row = await findApprovalOfAttempt(pool, request.accountId, request.paymentAttemptId);
  if (row === null || row.delegate_id !== request.delegateId || !isSame(row, request)) return;
  if (row.status === 'denied' || row.status === 'expired') throw refusalOf(row);
};
