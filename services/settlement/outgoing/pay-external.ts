import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { isFresh } from '../../../shared/lib/step-up.ts';
import type { ApprovalRequest } from '../approvals/request-approval.ts';
import { listPayersAfterAcceptance } from '../payers/store.ts';
import { admitOutgoing } from '../settlements/admission.ts';
import { refusalOf } from '../settlements/model/refusal.ts';
import { findOutgoingAttempt, type OutgoingRow } from '../settlements/store/outgoing-payments.ts';
import { accept } from './accept.ts';
import { outgoingError } from './decision-errors.ts';
import { type LostDeps, mayBePaid, mayHavePaid } from './lost.ts';
import { type OutgoingOrder, readRequirement } from './model/requirement.ts';
import { isOutgoing, type Outgoing, type SignDeps, sign } from './sign.ts';

type Answer = z.infer<typeof settlement.operations.payExternal.output>;
type Caller = PrincipalOf<readonly ['jwt', 'delegate_key']>;

type Deps = SignDeps &
  LostDeps &
  Parameters<typeof accept>[0] &
  Parameters<typeof admitOutgoing>[0] & {
    clock: Clock;
    /** CAIP-2 id. */
    x402Network: string;
    mint: string;
    /** Requests the owner's approval, and throws why the payment is not made now. */
    requestApproval: (request: ApprovalRequest) => Promise<never>;
  };

/** The gateway has answered the caller after this time. A call of this age accepts nothing. */
const GATEWAY_WAITS_MS = settlement.operations.payExternal.timeoutSeconds * 1000;
/** How long an owner has to approve a payment, which has no quote that would limit it. */
const APPROVAL_MS = 600_000;

type Call = { order: OutgoingOrder; paymentAttemptId: string; caller: Caller; abandonedAt: number };

/** POST /v1/payments (docs/design/interop.md, section 6). */
export const payExternal =
  (deps: Deps): Handler<typeof settlement.operations.payExternal> =>
  async (input, caller) => {
    const abandonedAt = performance.now() + GATEWAY_WAITS_MS;
    const order = readRequirement(input, { network: deps.x402Network, mint: deps.mint });
    const call: Call = { order, paymentAttemptId: input.payment_attempt_id, caller, abandonedAt };
    const known = await findAttempt(deps, call);
    if (known !== null) return repeat(deps, call, known);
    const accepted = await acceptNew(deps, call);
    return accepted.isNew ? sign(deps, accepted.row) : repeat(deps, call, accepted.row);
  };

const findAttempt = ({ pool }: Deps, { caller, paymentAttemptId }: Call) =>
  findOutgoingAttempt(pool, caller.account_id, paymentAttemptId);

type Accepted = { isNew: true; row: Outgoing } | { isNew: false; row: OutgoingRow };

/**
 * Accepts the attempt as if it were new. A refusal is one only after the attempt was read again:
 * the first call of it may have committed while this one waited for its locks, and may hold the
 * amount that refused this one.
 */
const acceptNew = async (deps: Deps, call: Call): Promise<Accepted> => {
  try {
    return { isNew: true, row: await evaluate(deps, call) };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    await listPayersAfterAcceptance(deps.pool, call.caller.account_id);
    const row = await findAttempt(deps, call);
    if (row !== null) return { isNew: false, row };
    const { order, paymentAttemptId, caller } = call;
    const walletId = caller.kind === 'delegate_key' ? caller.wallet_id : null;
    const attempt = { accountId: caller.account_id, walletId, paymentAttemptId, order };
    if (await mayHavePaid(deps, attempt, error)) throw mayBePaid();
    throw refusalOf(error, { attempt: null, paying: null, mayBeLost: false });
  }
};

/** @throws ServiceError the reason why the attempt is not accepted, also when it exists already */
const evaluate = async (deps: Deps, call: Call): Promise<Outgoing> => {
  const { order, caller, paymentAttemptId, abandonedAt } = call;
  const payer = await admitOutgoing(deps, order.payTo, caller);
  const attempt = {
    settlementId: newId('stl'),
    accountId: caller.account_id,
    paymentAttemptId,
    delegateId: caller.kind === 'delegate_key' ? caller.delegate_id : null,
    amountMicro: order.amountMicro,
    payTo: order.payTo,
    host: order.host,
    origin: order.origin,
    resource: order.resource,
    requirement: JSON.stringify(order.requirement),
    version: order.version,
    isFresh: caller.kind === 'jwt' && isFresh(caller, deps.clock()),
  };
  const evaluation = await accept(deps, attempt, { payer, abandonedAt });
  const { decision } = evaluation;
  if (decision === 'approval_required') return deps.requestApproval(approvalRequestOf(deps, call));
  if (decision !== 'accepted') throw outgoingError(decision, evaluation);
  const row = await findAttempt(deps, call);
  if (row === null || !isOutgoing(row)) throw new TypeError('An accepted payment has no row. This is a bug.');
  return row;
};

/** The payment as its owner would approve it. Only a payment of a delegate needs an approval. */
const approvalRequestOf = ({ clock }: Deps, { caller, order, paymentAttemptId }: Call): ApprovalRequest => {
  if (caller.kind !== 'delegate_key') throw new TypeError('A sign-in needs no approval. This is a bug.');
  return {
    accountId: caller.account_id,
    delegateId: caller.delegate_id,
    paymentAttemptId,
    rail: 'x402_out',
    quoteId: null,
    amountMicro: order.amountMicro,
    payTo: order.payTo,
    serviceId: null,
    serviceName: order.host,
    resource: order.resource,
    expiresAt: isoTime(clock() + APPROVAL_MS),
  };
};

const USED = 'this payment_attempt_id was used for another payment';

/** Answers a repeat: the same payment, by the same delegate or by the account's own sign-in. */
const repeat = async (deps: Deps, { order, caller }: Call, row: OutgoingRow): Promise<Answer> => {
  const refuse = (message: string) =>
    refusalOf(conflict(message, { safe_action: 'stop' }), { attempt: row, paying: null, mayBeLost: false });
  if (caller.kind === 'delegate_key' && row.delegate_id !== caller.delegate_id)
    throw refuse('this payment_attempt_id belongs to another delegate');
  if (!isOutgoing(row)) throw refuse(USED);
  const isSame =
    row.resource === order.resource &&
    row.x402_version === order.version &&
    isDeepStrictEqual(JSON.parse(row.requirement), order.requirement);
  if (!isSame) throw refuse(USED);
  count('quittance_idempotent_replays_total', 1, { operation: 'payExternal' });
  return sign(deps, row);
};
