import type { z } from 'zod';
import { noteIds } from '../../../shared/bus/trace.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { conflict, ERRORS, invalid, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { batched } from '../../../shared/db/batched.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { unverifiedClaims, verifyToken } from '../../../shared/lib/tokens/compact-token.ts';
import { type ApprovalRequest, refuseByApproval, requestApproval } from '../approvals/request-approval.ts';
import { type AdmissionDeps, admit } from '../core/admission.ts';
import {
  findLostPayment,
  getRecords,
  type LostPaymentFinder,
  type RecordsWithRows,
} from '../core/attempt-records.ts';
import { carryOut, orRefused, type PaymentCall } from '../core/carry-out.ts';
import { type NotAccepted, settleError } from '../core/decision-errors.ts';
import { delegateOf, isOfAnother, type PayingCaller, partyOf } from '../core/paying-caller.ts';
import { type Upcoming, waitForEnd, withWaiter } from '../core/wait.ts';
import { PaymentDeclined } from '../declines/model.ts';
import type { RecordDecline } from '../declines/record-decline.ts';
import type { Payer } from '../payers/store.ts';
import { itemOf } from '../record/model/item.ts';
import { payeesOfQuote } from '../record/model/payees.ts';
import { failedError, type Records, refusalOf, voidedError } from '../record/model/refusal.ts';
import type { Attempt } from '../record/store/accept-attempts.ts';
import type { Extended } from '../record/store/accept-extension.ts';
import {
  type AttemptRow,
  findAttempt,
  getSettlements,
  type SettlementRow,
} from '../record/store/settlements.ts';
import { endOfWindow } from '../record/view.ts';
import type { ServiceTerms } from '../terms.ts';
import { type Accept, type AcceptDeps, createAccept } from './accept-attempt.ts';
import { QUITTANCE } from './quittance-rail.ts';

type Answer = z.infer<typeof settlement.operations.settle.output>;

export type SettleDeps = AcceptDeps &
  AdmissionDeps &
  LostPaymentFinder &
  Pick<ServiceTerms, 'environment' | 'publicKeys' | 'mint' | 'settleWaitMs'> & {
    waiting: Waiting;
    recordDecline: RecordDecline;
  };
/** The dependencies with the statements that the calls of a handler share. */
type Context = SettleDeps & {
  accept: Accept;
  getSettlement: (settlementId: string) => Promise<SettlementRow>;
};

/**
 * The gateway has answered the caller after this time, and the caller may have repeated the call
 * and been refused. A call of this age accepts nothing any more.
 */
const GATEWAY_WAITS_MS = settlement.operations.settle.timeoutSeconds * 1000;

type Call = {
  quote_token: string;
  payment_attempt_id: string;
  caller: PayingCaller;
  until: number;
  abandonedAt: number;
};

/** POST /v1/settle (docs/design/settle.md). */
export const settle = (deps: SettleDeps): Handler<typeof settlement.operations.settle> => {
  const context: Context = {
    ...deps,
    accept: createAccept(deps),
    getSettlement: batched((ids: readonly string[]) => getSettlements(deps.pool, ids)),
  };
  return async (input, caller) => {
    // Counted from here: under load the acceptance takes seconds of the time that the gateway
    // waits.
    const now = performance.now();
    const call: Call = {
      ...input,
      caller,
      until: now + deps.settleWaitMs,
      abandonedAt: now + GATEWAY_WAITS_MS,
    };
    return carryOut(QUITTANCE, paymentCall(context, call));
  };
};

/** How a call that settles a quote is carried out. */
const paymentCall = (
  context: Context,
  call: Call,
): PaymentCall<Answer, Refused, RecordsWithRows & { known: AttemptRow | null }> => ({
  acceptNew: async () => {
    const claims = await orRefused(async () => claimsOf(context, call.quote_token));
    if ('refused' in claims) return { refused: { refusal: claims.refused, verified: null } };
    const answer = await orRefused(() => settleNew(context, call, claims));
    return 'refused' in answer ? { refused: { refusal: answer.refused, verified: claims } } : answer;
  },
  readRecords: async ({ refusal, verified }) => {
    const claims = claimsIn(call, verified);
    const records = await getRecords(context, call, claims);
    const { attempt } = records;
    const isOfToken =
      attempt?.attempt_quote_token === call.quote_token || refusal.code !== 'validation_error';
    return { ...records, known: isOfToken ? attempt : null };
  },
  repeat: (row) => repeatRefused(context, row, call),
  findLost: (refused, records) => findLost(context, call, refused, records),
  refuse: (refused, records) => refuseNew(context, call, refused, records),
});

/**
 * @throws ServiceError validation_error for a token that is no quote of this environment and
 * network
 */
const claimsOf = (deps: SettleDeps, quoteToken: string): QuoteClaims => {
  const claims = verifyToken('quote', quoteToken, { env: deps.environment, keys: deps.publicKeys });
  noteIds({ quote_id: claims.quote_id });
  if (claims.mint === deps.mint) return claims;
  throw invalid('quote_token', 'is not a quote of this network');
};

/**
 * Settles as if the attempt were new. The accepting statement reads the attempt first (rule 3). Any
 * error of this function is a refusal only after `carryOut` has read the attempt once more.
 */
const settleNew = (context: Context, call: Call, claims: QuoteClaims): Promise<Answer> =>
  withWaiter(context, context.settleWaitMs, async (upcoming) => {
    const payer = await admit(context, claims, call.caller);
    const answer = await acceptAndWait(context, upcoming, { call, claims, payer });
    if (!('decision' in answer)) return answer;
    const { account_id } = call.caller;
    const { decision } = answer;
    if (decision === 'approval_required') return requestApproval(context, approvalRequestOf(call, claims));
    // Of an approval that lapsed with its quote, the caller gets what the owner decided.
    if (decision === 'quote_expired' && call.caller.kind === 'delegate_key') {
      await refuseByApproval(context, approvalRequestOf(call, claims));
    }
    const row =
      decision === 'existing' ? await findAttempt(context.pool, account_id, call.payment_attempt_id) : null;
    if (row === null) throw settleError(answer);
    return repeat(context, row, call, claims.quote_id);
  });

/** The payment as its owner would approve it. Only a payment of a delegate needs an approval. */
const approvalRequestOf = ({ caller, payment_attempt_id }: Call, claims: QuoteClaims): ApprovalRequest => ({
  ...delegateOf(caller),
  paymentAttemptId: payment_attempt_id,
  rail: 'quittance',
  quoteId: claims.quote_id,
  amountMicro: parseMicro(claims.quote_amount),
  payees: payeesOfQuote(claims),
  serviceId: claims.service_id,
  serviceName: claims.service_name,
  resource: itemOf(claims.scope),
  expiresAt: claims.expires_at,
});

/** @returns the outcome of the settlement, or the reason why the attempt was not accepted */
const acceptAndWait = async (
  context: Context,
  { settlementId, woken }: Upcoming,
  {
    call,
    claims,
    payer,
    isPaid = false,
  }: { call: Call; claims: QuoteClaims; payer: Payer; isPaid?: boolean },
): Promise<Answer | NotAccepted> => {
  const { caller, abandonedAt } = call;
  const attempt: Attempt = {
    settlementId,
    ...partyOf(caller, context.clock()),
    paymentAttemptId: call.payment_attempt_id,
    walletId: payer.wallet_id,
    quoteToken: call.quote_token,
    claims,
    isPaid,
  };
  const { decision, authorization, extended, ...figures } = await context.accept(attempt, {
    payer,
    abandonedAt,
  });
  if (decision !== 'accepted') return { decision, ...figures };
  if (extended) return showExtended(extended);
  if (authorization) return showAuthorized(settlementId, claims.quote_amount, authorization);
  const record = (await woken) as Omit<Shown, 'ceiling' | 'ends_at'> | undefined;
  return record === undefined
    ? waitForOutcome(context, settlementId, call.until)
    : show({ ...record, ceiling: null, ends_at: null });
};

/**
 * A refusal, and the claims of the quote token. Null: the token was not verified, so nothing about
 * its quote is recorded. Otherwise a forged token would record declines of any quote.
 */
type Refused = { refusal: ServiceError; verified: QuoteClaims | null };

/** The claims of the call's quote. A token that was not verified only names its quote. */
const claimsIn = ({ quote_token }: Call, verified: QuoteClaims | null): QuoteClaims | null =>
  verified ?? unverifiedClaims('quote', quote_token);

/**
 * Answers a call that was refused as a new one by its attempt. What it may not be told follows from
 * the records, too.
 */
const repeatRefused = async (context: Context, row: AttemptRow, call: Call): Promise<Answer> => {
  const claims = claimsIn(call, null);
  try {
    return await repeat(context, row, call, claims?.quote_id ?? null);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw refusalOf(error, await getRecords(context, call, claims));
  }
};

/** Accepts a payment as paid that the chain has, and whose record a restore has lost. */
const findLost = async (
  context: Context,
  call: Call,
  { refusal, verified }: Refused,
  { mayBeLost, payers }: RecordsWithRows,
): Promise<'none' | 'may be paid' | { answer: Answer }> => {
  const claims = claimsIn(call, verified);
  if (claims === null || !mayBeLost) return 'none';
  // The chain does not show what was authorized, nor whether a capture is still to come.
  if (ERRORS[refusal.code].retryable || claims.capture !== undefined) return 'may be paid';
  const payer = await findLostPayment(context, call.quote_token, { caller: call.caller, payers });
  if (payer === 'not paid') return 'none';
  if (payer === 'unknown') return 'may be paid';
  const answer = await withWaiter(context, context.settleWaitMs, (upcoming) =>
    acceptAndWait(context, upcoming, { call, claims, payer, isPaid: true }),
  );
  return 'decision' in answer ? 'may be paid' : { answer };
};

/**
 * Refuses a call. The refusal of a new attempt is recorded as a decline if nothing pays the quote.
 * @throws ServiceError always
 */
const refuseNew = async (
  context: Context,
  { caller, payment_attempt_id }: Call,
  { refusal, verified }: Refused,
  records: Records,
): Promise<never> => {
  const isNew = records.attempt === null && records.paying === null;
  if (isNew && verified !== null && refusal instanceof PaymentDeclined) {
    await context.recordDecline(refusal, {
      caller,
      paymentAttemptId: payment_attempt_id,
      claims: verified,
      item: itemOf(verified.scope),
    });
  }
  throw refusalOf(refusal, records);
};

/**
 * Answers a repeat: the same quote, by the same delegate or by the account's own sign-in.
 * @param quoteId the quote of this call
 */
const repeat = async (
  context: Context,
  row: AttemptRow,
  { quote_token, caller, until }: Call,
  quoteId: string | null,
): Promise<Answer> => {
  if (row.rail !== 'quittance')
    throw conflict('this payment_attempt_id was used for a payment to another vendor');
  if (row.attempt_quote_token !== quote_token && row.attempt_quote_id !== quoteId)
    throw conflict('this payment_attempt_id was used with another quote');
  if (isOfAnother(caller, row)) throw conflict('this payment_attempt_id belongs to another delegate');
  count('quittance_idempotent_replays_total', 1, { operation: 'settle' });
  if (row.status === 'pending') return waitForOutcome(context, row.settlement_id, until);
  const answer = show(row);
  // The answer to an extension is about the authorization that it extended.
  return answer.status === 'authorized' && row.extension_id !== null
    ? { ...answer, extension_id: row.extension_id }
    : answer;
};

const waitForOutcome = async (context: Context, settlementId: string, until: number): Promise<Answer> =>
  show(await waitForEnd(context, settlementId, { read: () => context.getSettlement(settlementId), until }));

/** The columns of a settlement that an answer shows. */
type Shown = Pick<
  SettlementRow,
  | 'settlement_id'
  | 'status'
  | 'tx_hash'
  | 'superseded_tx_hashes'
  | 'settlement_token'
  | 'redeem_expires_at'
  | 'failure_code'
  | 'failure_message'
  | 'ceiling'
  | 'ends_at'
>;

const showAuthorized = (
  settlement_id: string,
  max_amount: string,
  { settlementToken, endsAt }: { settlementToken: string; endsAt: number },
): Extract<Answer, { status: 'authorized' }> => ({
  settlement_id,
  settlement_token: settlementToken,
  status: 'authorized',
  tx_hash: null,
  max_amount,
  capture_ends_at: isoTime(endsAt),
});

const showExtended = ({ extensionId, settlementId, maxMicro, ...rest }: Extended): Answer => ({
  ...showAuthorized(settlementId, formatMicro(maxMicro), rest),
  extension_id: extensionId,
});

const show = (row: Shown): Answer => {
  if (row.status === 'pending') {
    return { settlement_id: row.settlement_id, status: 'pending', tx_hash: row.tx_hash };
  }
  if (row.status === 'failed') throw failedError(row);
  if (row.status === 'voided') throw voidedError(row);
  // While its capture is under way, the payer has still what it got.
  if (row.status === 'authorized' || row.status === 'capturing')
    return showAuthorized(row.settlement_id, formatMicro(row.ceiling!), {
      settlementToken: row.settlement_token!,
      endsAt: row.ends_at!,
    });
  return {
    settlement_id: row.settlement_id,
    settlement_token: row.settlement_token!,
    status: 'confirmed',
    tx_hash: row.tx_hash!,
    redeem_expires_at: endOfWindow(row)!,
    ...(row.superseded_tx_hashes.length === 0 ? {} : { superseded_tx_hashes: row.superseded_tx_hashes }),
  };
};
