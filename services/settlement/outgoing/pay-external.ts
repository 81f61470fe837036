import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { conflict, invalid, type ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { ApprovalRequest } from '../approvals/request-approval.ts';
import { admitOutgoing, type OutgoingAdmissionDeps } from '../core/admission.ts';
import { carryOut, orRefused } from '../core/carry-out.ts';
import { contended } from '../core/decision-errors.ts';
import { delegateOf, isOfAnother, type PayingCaller, partyOf, walletIdOf } from '../core/paying-caller.ts';
import { listPayersAfterAcceptance } from '../payers/store.ts';
import { refusalOf } from '../record/model/refusal.ts';
import { findOutgoingAttempt, type OutgoingRow } from '../record/store/outgoing/outgoing-payments.ts';
import { type AcceptDeps, accept, type Evaluated } from './accept.ts';
import { outgoingError } from './decision-errors.ts';
import { type LostDeps, mayHavePaid } from './lost.ts';
import { payeesAsked } from './model/asked.ts';
import { type OutgoingOrder, readOrder } from './model/order.ts';
import { OUTGOING } from './rail.ts';
import { answerSigned, isOutgoing, type Signable, type SignDeps } from './sign.ts';

type Answer = z.infer<typeof settlement.operations.payExternal.output>;

export type PayExternalDeps = SignDeps &
  LostDeps &
  AcceptDeps &
  OutgoingAdmissionDeps & {
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

type Call = { order: OutgoingOrder; paymentAttemptId: string; caller: PayingCaller; abandonedAt: number };

/** POST /v1/payments (docs/design/interop.md, section 6). */
export const payExternal =
  (deps: PayExternalDeps): Handler<typeof settlement.operations.payExternal> =>
  async (input, caller) => {
    const abandonedAt = performance.now() + GATEWAY_WAITS_MS;
    const order = readOrder(input, { network: deps.x402Network, mint: deps.mint });
    const call: Call = { order, paymentAttemptId: input.payment_attempt_id, caller, abandonedAt };
    const known = await findAttempt(deps, call);
    if (known !== null) return repeat(deps, call, known);
    return carryOut(OUTGOING, {
      acceptNew: async () => {
        const accepted = await orRefused(() => acceptNew(deps, call));
        return 'refused' in accepted ? accepted : answerSigned(deps, accepted);
      },
      readRecords: async () => {
        await listPayersAfterAcceptance(deps.pool, caller.account_id);
        return { known: await findAttempt(deps, call) };
      },
      repeat: (row) => repeat(deps, call, row),
      findLost: (refusal) => findLost(deps, call, refusal),
      refuse: async (refusal) => {
        throw refusalOf(refusal, { attempt: null, paying: null });
      },
    });
  };

const findAttempt = ({ pool }: PayExternalDeps, { caller, paymentAttemptId }: Call) =>
  findOutgoingAttempt(pool, caller.account_id, paymentAttemptId);

const findLost = async (
  deps: PayExternalDeps,
  { order, paymentAttemptId, caller }: Call,
  refusal: ServiceError,
): Promise<'none' | 'may be paid'> => {
  const walletId = walletIdOf(caller);
  const attempt = { accountId: caller.account_id, walletId, paymentAttemptId, order };
  return (await mayHavePaid(deps, attempt, refusal)) ? 'may be paid' : 'none';
};

/** The payment as it was inserted. */
const insertedOf = ({ attempt, payer: { owner } }: Evaluated): Signable => ({
  settlement_id: attempt.settlementId,
  rail: attempt.rail,
  account_id: attempt.accountId,
  payment_attempt_id: attempt.paymentAttemptId,
  status: 'pending',
  chain_status: 'pending',
  quote_amount: attempt.amountMicro,
  owner,
  payer_address: attempt.authority,
  payees: attempt.payees,
  requirement: attempt.requirement,
  x402_version: attempt.version,
  resource: attempt.resource,
  capped_at: attempt.cappedAt,
  message_hash: null,
  tx_hash: null,
  failure_code: null,
  failure_message: null,
});

/** @throws ServiceError the reason why the attempt is not accepted, also when it exists already */
const acceptNew = async (deps: PayExternalDeps, call: Call): Promise<Signable> => {
  const { order, caller, paymentAttemptId, abandonedAt } = call;
  if (order.expiresAt !== null && order.expiresAt <= deps.clock())
    throw invalid('challenge.expires', 'is over: ask the vendor for a new challenge');
  const payees = payeesAsked(order);
  const payer = await admitOutgoing(deps, payees, caller);
  const attempt = {
    settlementId: newId('stl'),
    rail: order.rail,
    ...partyOf(caller, deps.clock()),
    paymentAttemptId,
    amountMicro: order.amountMicro,
    payees,
    host: order.host,
    origin: order.origin,
    resource: order.resource,
    requirement: JSON.stringify(order.requirement),
    version: order.version,
  };
  const evaluated = await accept(deps, attempt, { payer, abandonedAt });
  if (evaluated === null) throw contended();
  const { decision } = evaluated;
  if (decision === 'approval_required') return deps.requestApproval(approvalRequestOf(deps, call));
  if (decision !== 'accepted') throw outgoingError(decision, evaluated);
  return insertedOf(evaluated);
};

/** The payment as its owner would approve it. Only a payment of a delegate needs an approval. */
const approvalRequestOf = (
  { clock }: PayExternalDeps,
  { caller, order, paymentAttemptId }: Call,
): ApprovalRequest => ({
  ...delegateOf(caller),
  paymentAttemptId,
  rail: order.rail,
  quoteId: null,
  amountMicro: order.amountMicro,
  payees: payeesAsked(order),
  serviceId: null,
  serviceName: order.host,
  resource: order.resource,
  expiresAt: isoTime(clock() + APPROVAL_MS),
});

const USED = 'this payment_attempt_id was used for another payment';

/** Answers a repeat: the same payment, by the same delegate or by the account's own sign-in. */
const repeat = async (deps: PayExternalDeps, { order, caller }: Call, row: OutgoingRow): Promise<Answer> => {
  const refuse = (message: string) =>
    refusalOf(conflict(message, { safe_action: 'stop' }), { attempt: row, paying: null });
  if (isOfAnother(caller, row)) throw refuse('this payment_attempt_id belongs to another delegate');
  if (!isOutgoing(row)) throw refuse(USED);
  const isSame =
    row.rail === order.rail &&
    row.resource === order.resource &&
    row.x402_version === order.version &&
    isDeepStrictEqual(JSON.parse(row.requirement), order.requirement);
  if (!isSame) throw refuse(USED);
  count('quittance_idempotent_replays_total', 1, { operation: 'payExternal' });
  return answerSigned(deps, row);
};
