import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import {
  accountFrozen,
  conflict,
  ERRORS,
  invalid,
  isErrorCode,
  ServiceError,
} from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { settlement } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { batched } from '../../../shared/db/batched.ts';
import { event } from '../../../shared/events/event.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { unverifiedClaims, verifyToken } from '../../../shared/lib/compact-token.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import type { Deps } from '../deps.ts';
import { payerFor, refreshPayer } from '../payers/payer.ts';
import type { Payer } from '../payers/store.ts';
import { findLost, recordsOf } from './attempt-records.ts';
import { settleJob } from './events.ts';
import { acceptWithinCaps } from './hourly-caps.ts';
import { refusalOf } from './model/refusal.ts';
import { failureExtras } from './model/status.ts';
import {
  type Accepted,
  type Attempt,
  acceptAttempts,
  type Offer,
  type Verdict,
} from './store/accept-attempts.ts';
import { findAttempt, readSettlement, type SettlementRow } from './store/settlements.ts';

type Answer = z.infer<typeof settlement.operations.settle.output>;
type Caller = PrincipalOf<readonly ['jwt', 'delegate_key']>;

/** A raced statement saw an older snapshot; the next one sees the winner. Losing this often means a bug. */
const MAX_RACES = 5;

/** Who called was told then to repeat, and may have been refused since: nothing is accepted for them any more. */
const GATEWAY_WAITS_MS = settlement.operations.settle.timeoutSeconds * 1000;

const limit = (message: string) => (): ServiceError =>
  new ServiceError('limit_exceeded', message, { safe_action: 'raise_limit' });
const notAllowed = (message: string) => (): ServiceError => new ServiceError('forbidden', message);

/** What each verdict refuses with, and what is safe when nothing was paid. Whether it was says `refusalOf` alone. */
const refuse: Record<Exclude<Verdict, 'accepted'>, () => ServiceError> = {
  quote_taken: () =>
    new ServiceError('quote_already_settled', 'the quote is paid or being paid by another attempt', {
      safe_action: 'new_quote',
    }),
  quote_expired: () =>
    new ServiceError('quote_expired', 'the quote has expired', { safe_action: 'new_quote' }),
  delegate_unknown: notAllowed('the limits of this delegate are not known here'),
  service_not_allowed: notAllowed('this delegate may not pay this service'),
  over_per_payment: limit('per_payment: the payment is above the limit of one payment'),
  over_daily: limit('daily: the limit of the day would be exceeded'),
  over_monthly: limit('monthly: the limit of the month would be exceeded'),
  over_total: limit('total: the limit of this delegate would be exceeded'),
  balance_short: () =>
    new ServiceError(
      'insufficient_funds',
      'the wallet balance, less what other payments hold, is too small',
      { safe_action: 'top_up' },
    ),
  allowance_short: () =>
    new ServiceError('delegation_inactive', 'the wallet allows no spending, or less than this payment', {
      safe_action: 'raise_limit',
    }),
  payer_unknown: () => new ServiceError('internal_error', 'internal error'),
  over_hourly_cap: () => new ServiceError('internal_error', 'internal error'),
  known: () => contended(),
  raced: () => contended(),
};

const contended = () =>
  new ServiceError('service_unavailable', 'too much contention; repeat with the same payment_attempt_id', {
    money_moved: 'unknown',
    retryAfterSeconds: 1,
  });

const chainAway = () =>
  new ServiceError('service_unavailable', 'the chain is away; repeat with the same payment_attempt_id', {
    money_moved: 'no',
    retryAfterSeconds: 2,
  });

/** What was accepted before has its share of the day's budget; nothing new is begun that could not be signed. */
const budgetUsedUp = (retryAfterSeconds: number) =>
  new ServiceError(
    'service_unavailable',
    'no more payments are signed today; repeat with the same payment_attempt_id',
    { money_moved: 'no', safe_action: 'retry_same_attempt', retryAfterSeconds },
  );

/** Long enough that clients do not call in a loop through a pause, which people begin and end. */
const PAUSE_RETRY_SECONDS = 30;
const paused = () =>
  new ServiceError(
    'service_unavailable',
    'new payments are paused; repeat with the same payment_attempt_id, those accepted go on',
    { money_moved: 'no', retryAfterSeconds: PAUSE_RETRY_SECONDS },
  );

/** Of the quote, not of the caller: another credential would not help, so no 403. */
const vendorFrozen = () => conflict('the vendor of this quote takes no payments at the moment');

/** POST /v1/settle (docs/design/settle.md). */
export const settle = (deps: Deps): Handler<typeof settlement.operations.settle> => {
  const acceptOne = batched((offers: readonly Offer[]) => acceptAttempts(deps.pool, offers));
  return async (asked, caller) => {
    // From now: where many come at once the acceptance itself takes seconds, and the gateway waits no longer for them.
    const now = performance.now();
    const call: Call = {
      ...asked,
      caller,
      until: now + deps.settleWaitMs,
      abandonedAt: now + GATEWAY_WAITS_MS,
    };
    try {
      return await settleNew(deps, acceptOne, call);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return await answerRefused(deps, acceptOne, call, error);
    }
  };
};

/** Those that are under way at the same moment share a statement. */
type AcceptOne = (offer: Offer) => Promise<Accepted>;

type Call = {
  quote_token: string;
  payment_attempt_id: string;
  caller: Caller;
  until: number;
  abandonedAt: number;
};

/** @throws ServiceError validation_error for a token that is no quote of this environment and network */
const claimsOf = (deps: Deps, quoteToken: string): QuoteClaims => {
  const claims = verifyToken('quote', quoteToken, { env: deps.environment, keys: deps.publicKeys });
  if (claims.mint === deps.mint) return claims;
  throw invalid('quote_token', 'not a quote of this network');
};

/** A settlement that is not there yet. Its waiter is, so that no word of it is missed and its row need not be read. */
type Coming = { settlementId: string; woken: Promise<unknown> };
const coming = async <T>(deps: Deps, work: (own: Coming) => Promise<T>): Promise<T> => {
  const settlementId = newId('stl');
  const waiter = deps.waiting.until(settlementId, deps.settleWaitMs);
  try {
    return await work({ settlementId, woken: waiter.woken });
  } finally {
    waiter.cancel();
  }
};

/**
 * Settles as if the attempt were new. The accepting statement looks it up first (rule 3); whatever refuses before or in
 * spite of that is a refusal only after `answerRefused` has looked it up once more.
 */
const settleNew = (deps: Deps, acceptOne: AcceptOne, call: Call): Promise<Answer> =>
  coming(deps, async (own) => {
    const claims = claimsOf(deps, call.quote_token);
    const payer = await payerOf(deps, claims, call.caller);
    const answer = await acceptAndWait(deps, acceptOne, own, { call, claims, payer });
    if (typeof answer !== 'string') return answer;
    const { account_id } = call.caller;
    const row = answer === 'known' ? await findAttempt(deps.pool, account_id, call.payment_attempt_id) : null;
    if (row === null) throw refuse[answer]();
    return repeat(deps, row, call, claims.quote_id);
  });

/** @returns what has become of the settlement, or why the attempt was not accepted */
const acceptAndWait = async (
  deps: Deps,
  acceptOne: AcceptOne,
  { settlementId, woken }: Coming,
  {
    call,
    claims,
    payer,
    isPaid = false,
  }: { call: Call; claims: QuoteClaims; payer: Payer; isPaid?: boolean },
): Promise<Answer | Exclude<Verdict, 'accepted'>> => {
  const { caller } = call;
  const attempt: Attempt = {
    settlementId,
    accountId: caller.account_id,
    paymentAttemptId: call.payment_attempt_id,
    delegateId: caller.kind === 'delegate_key' ? caller.delegate_id : null,
    walletId: payer.wallet_id,
    quoteToken: call.quote_token,
    claims,
    isPaid,
  };
  const verdict = await accept(deps, acceptOne, { attempt, known: payer, abandonedAt: call.abandonedAt });
  if (verdict !== 'accepted') return verdict;
  const record = (await woken) as Shown | undefined;
  return record === undefined ? outcome(deps, settlementId, call.until) : show(record);
};

/**
 * Answers a settle that was refused. The first call of the attempt may have committed while this one waited for its locks,
 * and what refused it may be what that one took: so the attempt is looked up on a fresh snapshot, and answered if it is
 * there. A refusal says what the record says of attempt and quote (`refusalOf`).
 */
const answerRefused = async (
  deps: Deps,
  acceptOne: AcceptOne,
  call: Call,
  refusal: ServiceError,
): Promise<Answer> => {
  const claims = unverifiedClaims('quote', call.quote_token);
  const records = await recordsOf(deps, call, claims);
  const { attempt } = records;
  if (attempt !== null && (attempt.quote_token === call.quote_token || refusal.code !== 'validation_error')) {
    try {
      return await repeat(deps, attempt, call, claims?.quote_id ?? null);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      throw refusalOf(error, await recordsOf(deps, call, claims));
    }
  }
  if (claims !== null && records.mayBeLost && !ERRORS[refusal.code].retryable) {
    const found = await findLost(deps, call.quote_token, { caller: call.caller, payers: records.payers });
    if (found === 'not paid') throw refusalOf(refusal, { ...records, mayBeLost: false });
    if (found !== 'unknown') {
      const answer = await coming(deps, (own) =>
        acceptAndWait(deps, acceptOne, own, { call, claims, payer: found, isPaid: true }),
      );
      if (typeof answer !== 'string') return answer;
    }
  }
  throw refusalOf(refusal, records);
};

/** The wallet that is to pay a new attempt, unless new ones are refused: everything is asked at once. */
const payerOf = async (deps: Deps, claims: QuoteClaims, caller: Caller): Promise<Payer> => {
  if (caller.frozen) throw accountFrozen();
  const walletId = caller.kind === 'delegate_key' ? caller.wallet_id : null;
  const [payer, chainReadable, budgetRefillsInSeconds, isPaused, isVendorFrozen] = await Promise.all([
    payerFor(deps, caller.account_id, walletId, claims),
    deps.isChainReadable(),
    deps.budgetRefillsInSeconds(),
    deps.isPaused(),
    deps.isFrozen(claims.vendor_account_id),
  ]);
  if (isPaused) throw paused();
  if (isVendorFrozen) throw vendorFrozen();
  // What was accepted before waits for the chain; nothing new is begun without it
  // (docs/spec/decisions.md, Limits).
  if (!chainReadable) throw chainAway();
  if (budgetRefillsInSeconds !== null) throw budgetUsedUp(budgetRefillsInSeconds);
  return payer;
};

/** Accepts, looking at the chain once when the last sight says that the payer cannot pay. */
const accept = async (
  deps: Deps,
  acceptOne: AcceptOne,
  { attempt, known, abandonedAt }: { attempt: Attempt; known: Payer; abandonedAt: number },
): Promise<Verdict> => {
  const traceparent = activeTraceparent();
  const { settlementId: settlement_id, accountId: account_id, claims } = attempt;
  const messagesOf = ({ owner, authority }: Payer) => [
    settleJob(
      {
        settlement_id,
        account_id,
        payment_attempt_id: attempt.paymentAttemptId,
        quote_token: attempt.quoteToken,
        wallet_id: known.wallet_id,
        owner,
        authority,
        drive: 1,
        generation: 0,
        // Of a payment whose record is lost chain-submitter asks every provider, as it does for all
        // that is old.
        created_at: attempt.isPaid === true ? Date.parse(claims.issued_at) : deps.clock(),
      },
      { traceparent },
    ),
    event(
      'settlement.accepted',
      {
        settlement_id,
        quote_id: claims.quote_id,
        account_id,
        delegate_id: attempt.delegateId,
        wallet_id: attempt.walletId,
        service_id: claims.service_id,
        vendor_account_id: claims.vendor_account_id,
        quote_amount: claims.quote_amount,
        fee_amount: claims.fee_amount,
      },
      { traceparent },
    ),
  ];
  let payer = known;
  let looked = false;
  for (let races = 0; races < MAX_RACES; ) {
    await failpoint('settlement.beforeAccept');
    if (performance.now() >= abandonedAt) return 'raced';
    const offer = { attempt, messages: messagesOf(payer) };
    const { verdict, outbox } = await acceptWithinCaps(deps.caps, payer.owner, offer, acceptOne);
    if (verdict === 'accepted') {
      await failpoint('settlement.afterAccept');
      count('settle.settlements', 1, { outcome: 'accepted' });
      deps.accepted.keep(attempt, deps.clock());
      deps.relay.dispatch(outbox);
      return verdict;
    }
    const unsure =
      verdict === 'payer_unknown' || verdict === 'balance_short' || verdict === 'allowance_short';
    if (verdict !== 'raced' && (!unsure || looked)) return verdict;
    if (unsure) {
      payer = await refreshPayer(deps, payer);
      looked = true;
    } else races += 1;
  }
  return 'raced';
};

/**
 * A repeat: the same quote, by the same delegate or the account's own sign-in.
 * @param quoteId of the quote that is asked about
 */
const repeat = async (
  deps: Deps,
  row: SettlementRow,
  { quote_token, caller, until }: Call,
  quoteId: string | null,
): Promise<Answer> => {
  if (row.quote_token !== quote_token && row.quote_id !== quoteId)
    throw conflict('this payment_attempt_id was used with another quote');
  if (caller.kind === 'delegate_key' && row.delegate_id !== caller.delegate_id)
    throw conflict('this payment_attempt_id belongs to another delegate');
  count('settle.idempotent_replays', 1, { operation: 'settle' });
  return row.status === 'pending' ? outcome(deps, row.settlement_id, until) : show(row);
};

/** A repeat may wait where another replica's caller is told of the outcome, and no other (`Waiting.wake`). */
const REPEAT_AGAIN_MS = 1000;

/** Waits for the outcome. Reads first: whoever comes here may be late. */
const outcome = async (deps: Deps, settlementId: string, until: number): Promise<Answer> =>
  show(
    await readUntil(deps.waiting, settlementId, {
      read: () => readSettlement(deps.pool, settlementId),
      done: ({ status }) => status !== 'pending',
      timeoutMs: until - performance.now(),
      againMs: REPEAT_AGAIN_MS,
    }),
  );

/** What an answer shows of a settlement. */
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
  if (row.status === 'failed') {
    const code = isErrorCode(row.failure_code) ? row.failure_code : 'payment_failed';
    throw new ServiceError(code, row.failure_message ?? 'the payment failed', failureExtras(code));
  }
  return {
    settlement_id: row.settlement_id,
    settlement_token: row.settlement_token!,
    status: 'confirmed',
    tx_hash: row.tx_hash!,
    redeem_expires_at: isoTime(row.redeem_expires_at!),
    ...(row.superseded_tx_hashes.length === 0 ? {} : { superseded_tx_hashes: row.superseded_tx_hashes }),
  };
};
