import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import { noteIds } from '../../../shared/bus/trace.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { conflict, ERRORS, invalid, ServiceError } from '../../../shared/contract/errors.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { batched } from '../../../shared/db/batched.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { unverifiedClaims, verifyToken } from '../../../shared/lib/compact-token.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { isFresh } from '../../../shared/lib/step-up.ts';
import { type ApprovalRequest, refuseByApproval, requestApproval } from '../approvals/request-approval.ts';
import { type Compared, PaymentDeclined } from '../declines/model.ts';
import type { RecordDecline } from '../declines/record-decline.ts';
import type { Payer } from '../payers/store.ts';
import { type Accept, createAccept } from './accept.ts';
import { admit } from './admission.ts';
import { findLostPayment, getRecords } from './attempt-records.ts';
import { DECISION_ERRORS } from './decision-errors.ts';
import { failedError, type Records, refusalOf } from './model/refusal.ts';
import type { Attempt, Decision } from './store/accept-attempts.ts';
import { findAttempt, getSettlements, type SettlementRow } from './store/settlements.ts';

type Answer = z.infer<typeof settlement.operations.settle.output>;
type Caller = PrincipalOf<readonly ['jwt', 'delegate_key']>;

type Deps = Parameters<typeof createAccept>[0] &
  Parameters<typeof admit>[0] &
  Parameters<typeof getRecords>[0] &
  Parameters<typeof findLostPayment>[0] & {
    environment: Environment;
    publicKeys: PublicKeys;
    mint: string;
    settleWaitMs: number;
    waiting: Waiting;
    recordDecline: RecordDecline;
  };
/** The dependencies with the statements that the calls of a handler share. */
type Context = Deps & { accept: Accept; getSettlement: (settlementId: string) => Promise<SettlementRow> };

/**
 * The gateway has answered the caller after this time, and the caller may have repeated the call
 * and been refused. A call of this age accepts nothing any more.
 */
const GATEWAY_WAITS_MS = settlement.operations.settle.timeoutSeconds * 1000;

type Call = {
  quote_token: string;
  payment_attempt_id: string;
  caller: Caller;
  until: number;
  abandonedAt: number;
};

/** POST /v1/settle (docs/design/settle.md). */
export const settle = (deps: Deps): Handler<typeof settlement.operations.settle> => {
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
    let claims: QuoteClaims | null = null;
    try {
      claims = claimsOf(deps, call.quote_token);
      return await settleNew(context, call, claims);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return await answerRefused(context, call, { refusal: error, verified: claims });
    }
  };
};

/**
 * @throws ServiceError validation_error for a token that is no quote of this environment and
 * network
 */
const claimsOf = (deps: Deps, quoteToken: string): QuoteClaims => {
  const claims = verifyToken('quote', quoteToken, { env: deps.environment, keys: deps.publicKeys });
  noteIds({ quote_id: claims.quote_id });
  if (claims.mint === deps.mint) return claims;
  throw invalid('quote_token', 'is not a quote of this network');
};

/** The id of a settlement that is not inserted yet, and the waiter that its outcome wakes. */
type Upcoming = { settlementId: string; woken: Promise<unknown> };

/** Registers the waiter before the attempt is accepted, so that no outcome is missed. */
const withWaiter = async <T>(deps: Deps, work: (upcoming: Upcoming) => Promise<T>): Promise<T> => {
  const settlementId = newId('stl');
  const waiter = deps.waiting.until(settlementId, deps.settleWaitMs);
  try {
    return await work({ settlementId, woken: waiter.woken });
  } finally {
    waiter.cancel();
  }
};

/**
 * Settles as if the attempt were new. The accepting statement reads the attempt first (rule 3). Any
 * error of this function is a refusal only after `answerRefused` has read the attempt once more.
 */
const settleNew = (context: Context, call: Call, claims: QuoteClaims): Promise<Answer> =>
  withWaiter(context, async (upcoming) => {
    const payer = await admit(context, claims, call.caller);
    const answer = await acceptAndWait(context, upcoming, { call, claims, payer });
    if (!('decision' in answer)) return answer;
    const { account_id } = call.caller;
    const { decision, compared } = answer;
    if (decision === 'approval_required') return requestApproval(context, approvalRequestOf(call, claims));
    // Of an approval that lapsed with its quote, the caller gets what the owner decided.
    if (decision === 'quote_expired' && call.caller.kind === 'delegate_key') {
      await refuseByApproval(context, approvalRequestOf(call, claims));
    }
    const row =
      decision === 'existing' ? await findAttempt(context.pool, account_id, call.payment_attempt_id) : null;
    if (row === null) throw DECISION_ERRORS[decision](compared);
    return repeat(context, row, call, claims.quote_id);
  });

/** The payment as its owner would approve it. Only a payment of a delegate needs an approval. */
const approvalRequestOf = ({ caller, payment_attempt_id }: Call, claims: QuoteClaims): ApprovalRequest => {
  if (caller.kind !== 'delegate_key') throw new TypeError('A sign-in needs no approval. This is a bug.');
  return {
    accountId: caller.account_id,
    delegateId: caller.delegate_id,
    paymentAttemptId: payment_attempt_id,
    rail: 'quittance',
    quoteId: claims.quote_id,
    amountMicro: parseMicro(claims.quote_amount),
    payTo: claims.payout_address,
    serviceId: claims.service_id,
    serviceName: claims.service_name,
    resource: null,
    expiresAt: claims.expires_at,
  };
};

/** Why an attempt was not accepted, and the limit that refused it. */
type NotAccepted = { decision: Exclude<Decision, 'accepted'>; compared: Compared | null };

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
    accountId: caller.account_id,
    paymentAttemptId: call.payment_attempt_id,
    delegateId: caller.kind === 'delegate_key' ? caller.delegate_id : null,
    walletId: payer.wallet_id,
    quoteToken: call.quote_token,
    claims,
    isPaid,
    isFresh: caller.kind === 'jwt' && isFresh(caller, context.clock()),
  };
  const { decision, compared } = await context.accept(attempt, { payer, abandonedAt });
  if (decision !== 'accepted') return { decision, compared };
  const record = (await woken) as Shown | undefined;
  return record === undefined ? waitForOutcome(context, settlementId, call.until) : show(record);
};

/**
 * A refusal, and the claims of the quote token. Null: the token was not verified, so nothing about
 * its quote is recorded. Otherwise a forged token would record declines of any quote.
 */
type Refused = { refusal: ServiceError; verified: QuoteClaims | null };

/**
 * Answers a settle that was refused. The first call of the attempt may have committed while this
 * one waited for its locks, and may hold the amount that refused this one. The attempt is therefore
 * read on a new snapshot, and answered if it exists. What a refusal returns follows from the
 * records of attempt and quote (`refusalOf`).
 */
const answerRefused = async (context: Context, call: Call, refused: Refused): Promise<Answer> => {
  const { refusal, verified } = refused;
  const claims = verified ?? unverifiedClaims('quote', call.quote_token);
  const records = await getRecords(context, call, claims);
  const { attempt } = records;
  if (attempt !== null && (attempt.quote_token === call.quote_token || refusal.code !== 'validation_error')) {
    try {
      return await repeat(context, attempt, call, claims?.quote_id ?? null);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw refusalOf(error, await getRecords(context, call, claims));
    }
  }
  if (claims !== null && records.mayBeLost && !ERRORS[refusal.code].retryable) {
    const { caller } = call;
    const payer = await findLostPayment(context, call.quote_token, { caller, payers: records.payers });
    if (payer === 'not paid') return refuse(context, call, refused, { ...records, mayBeLost: false });
    if (payer !== 'unknown') {
      const answer = await withWaiter(context, (upcoming) =>
        acceptAndWait(context, upcoming, { call, claims, payer, isPaid: true }),
      );
      if (!('decision' in answer)) return answer;
    }
  }
  return refuse(context, call, refused, records);
};

/**
 * Refuses a call. The refusal of a new attempt is recorded as a decline if nothing pays the quote.
 * @throws ServiceError always
 */
const refuse = async (
  context: Context,
  { caller, payment_attempt_id }: Call,
  { refusal, verified }: Refused,
  records: Records,
): Promise<never> => {
  const isNew = records.attempt === null && records.paying === null && !records.mayBeLost;
  if (isNew && verified !== null && refusal instanceof PaymentDeclined) {
    await context.recordDecline(refusal, { caller, paymentAttemptId: payment_attempt_id, claims: verified });
  }
  throw refusalOf(refusal, records);
};

/**
 * Answers a repeat: the same quote, by the same delegate or by the account's own sign-in.
 * @param quoteId the quote of this call
 */
const repeat = async (
  context: Context,
  row: SettlementRow,
  { quote_token, caller, until }: Call,
  quoteId: string | null,
): Promise<Answer> => {
  if (row.rail !== 'quittance')
    throw conflict('this payment_attempt_id was used for a payment to another vendor');
  if (row.quote_token !== quote_token && row.quote_id !== quoteId)
    throw conflict('this payment_attempt_id was used with another quote');
  if (caller.kind === 'delegate_key' && row.delegate_id !== caller.delegate_id)
    throw conflict('this payment_attempt_id belongs to another delegate');
  count('quittance_idempotent_replays_total', 1, { operation: 'settle' });
  return row.status === 'pending' ? waitForOutcome(context, row.settlement_id, until) : show(row);
};

/**
 * `Waiting.wake` wakes the replica that accepted the attempt. A repeat on another one polls the
 * row.
 */
const POLL_MS = 1000;

/** Waits for the outcome. The row is read first, because it may have changed before this call. */
const waitForOutcome = async (
  { waiting, getSettlement }: Context,
  settlementId: string,
  until: number,
): Promise<Answer> =>
  show(
    await readUntil(waiting, settlementId, {
      read: () => getSettlement(settlementId),
      done: ({ status }) => status !== 'pending',
      timeoutMs: until - performance.now(),
      againMs: POLL_MS,
    }),
  );

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
>;

const show = (row: Shown): Answer => {
  if (row.status === 'pending') {
    return { settlement_id: row.settlement_id, status: 'pending', tx_hash: row.tx_hash };
  }
  if (row.status === 'failed') throw failedError(row);
  return {
    settlement_id: row.settlement_id,
    settlement_token: row.settlement_token!,
    status: 'confirmed',
    tx_hash: row.tx_hash!,
    redeem_expires_at: isoTime(row.redeem_expires_at!),
    ...(row.superseded_tx_hashes.length === 0 ? {} : { superseded_tx_hashes: row.superseded_tx_hashes }),
  };
};
