import type { z } from 'zod';
import { readUntil } from '../../../shared/bus/read-until.ts';
import { accountFrozen, isErrorCode, ServiceError } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { batched } from '../../../shared/db/batched.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { verifyToken } from '../../../shared/lib/compact-token.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { fact, payerFor, refreshPayer, settleJob } from '../attempt.ts';
import type { Deps } from '../deps.ts';
import { failureExtras } from '../domain/settlement.ts';
import { type Accepted, type Attempt, acceptAttempts, type Offer, type Verdict } from '../store/accept.ts';
import type { Payer } from '../store/payers.ts';
import { findAttempt, readSettlement, type SettlementRow } from '../store/settlements.ts';

type Answer = z.infer<typeof settlement.operations.settle.output>;
type Caller = PrincipalOf<readonly ['jwt', 'delegate_key']>;

/** A raced statement saw an older snapshot; the next one sees the winner. Losing this often means a bug. */
const MAX_RACES = 5;

const limit = (message: string) => (): ServiceError =>
  new ServiceError('limit_exceeded', message, { money_moved: 'no', safe_action: 'raise_limit' });
const notAllowed = (message: string) => (): ServiceError =>
  new ServiceError('forbidden', message, { money_moved: 'no', safe_action: 'stop' });

const refuse: Record<Exclude<Verdict, 'accepted' | 'known'>, () => ServiceError> = {
  quote_taken: () =>
    new ServiceError('quote_already_settled', 'the quote is paid or being paid by another attempt', {
      money_moved: 'no',
      safe_action: 'new_quote',
    }),
  quote_expired: () =>
    new ServiceError('quote_expired', 'the quote has expired', {
      money_moved: 'no',
      safe_action: 'new_quote',
    }),
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
      {
        money_moved: 'no',
        safe_action: 'top_up',
      },
    ),
  allowance_short: () =>
    new ServiceError('delegation_inactive', 'the wallet allows no spending, or less than this payment', {
      money_moved: 'no',
      safe_action: 'raise_limit',
    }),
  payer_unknown: () => new ServiceError('internal_error', 'internal error'),
  raced: () =>
    new ServiceError('service_unavailable', 'too much contention; repeat with the same payment_attempt_id', {
      money_moved: 'unknown',
      safe_action: 'retry_same_attempt',
      retryAfterSeconds: 1,
    }),
};

const chainAway = () =>
  new ServiceError('service_unavailable', 'the chain is away; repeat with the same payment_attempt_id', {
    money_moved: 'no',
    safe_action: 'retry_same_attempt',
    retryAfterSeconds: 2,
  });

/** Long enough that clients do not call in a loop through a pause, which people begin and end. */
const PAUSE_RETRY_SECONDS = 30;
const paused = () =>
  new ServiceError(
    'service_unavailable',
    'new payments are paused; repeat with the same payment_attempt_id, those accepted go on',
    { money_moved: 'no', safe_action: 'retry_same_attempt', retryAfterSeconds: PAUSE_RETRY_SECONDS },
  );

/** Of the quote, not of the caller: another credential would not help, so no 403. */
const vendorFrozen = () =>
  new ServiceError('conflict', 'the vendor of this quote takes no payments at the moment', {
    money_moved: 'no',
    safe_action: 'stop',
  });

/** POST /v1/settle (docs/settle.md). */
export const settle = (deps: Deps): Handler<typeof settlement.operations.settle> => {
  const acceptOne = batched((offers: readonly Offer[]) => acceptAttempts(deps.pool, offers));
  return async ({ quote_token, payment_attempt_id }, caller) => {
    const claims = verifyToken('quote', quote_token, { env: deps.environment, keys: deps.publicKeys });
    if (claims.mint !== deps.mint) {
      throw new ServiceError('validation_error', 'quote_token: not a quote of this network', {
        money_moved: 'no',
      });
    }
    const settlementId = newId('stl');
    // From now: where many come at once the acceptance itself takes seconds, and the gateway waits no longer for them.
    const until = performance.now() + deps.settleWaitMs;
    // Before anything of this settlement exists, so that no word of it is missed and its row need not be read.
    const waiter = deps.waiting.until(settlementId, deps.settleWaitMs);
    try {
      const verdict = await judge(deps, acceptOne, settlementId, {
        quote_token,
        payment_attempt_id,
        claims,
        caller,
      });
      if (typeof verdict !== 'string')
        return repeat(deps, verdict, { quoteId: claims.quote_id, caller, until });
      if (verdict !== 'accepted') throw refuse[verdict]();
      const record = (await waiter.woken) as Shown | undefined;
      return record === undefined ? outcome(deps, settlementId, until) : show(record);
    } finally {
      waiter.cancel();
    }
  };
};

/** Those that are under way at the same moment share a statement. */
type AcceptOne = (offer: Offer) => Promise<Accepted>;

type Asked = {
  quote_token: string;
  payment_attempt_id: string;
  claims: QuoteClaims;
  caller: Caller;
};

/**
 * Judges an attempt and accepts it if it may be. Rule 3: a repeat is answered from its row before anything that could have
 * changed since is held against it. The accepting statement sees to that, and where something refuses before it, the
 * attempt is looked up first.
 * @returns the row of an attempt that is known, else the verdict
 */
const judge = async (
  deps: Deps,
  acceptOne: AcceptOne,
  settlementId: string,
  { quote_token, payment_attempt_id, claims, caller }: Asked,
): Promise<SettlementRow | Exclude<Verdict, 'known'>> => {
  const known = () => findAttempt(deps.pool, caller.account_id, payment_attempt_id);
  let payer: Payer;
  try {
    payer = await payerOf(deps, claims, caller);
  } catch (error) {
    const row = await known();
    if (row === null) throw error;
    return row;
  }
  const attempt: Attempt = {
    settlementId,
    accountId: caller.account_id,
    paymentAttemptId: payment_attempt_id,
    delegateId: caller.kind === 'delegate_key' ? caller.delegate_id : null,
    walletId: payer.wallet_id,
    quoteToken: quote_token,
    claims,
  };
  const verdict = await accept(deps, acceptOne, attempt, payer);
  return verdict === 'known' ? ((await known()) ?? 'raced') : verdict;
};

/** The wallet that is to pay a new attempt, unless new ones are refused: everything is asked at once. */
const payerOf = async (deps: Deps, claims: QuoteClaims, caller: Caller): Promise<Payer> => {
  if (caller.frozen) throw accountFrozen({ money_moved: 'no', safe_action: 'stop' });
  const walletId = caller.kind === 'delegate_key' ? caller.wallet_id : null;
  const [payer, chainReadable, isPaused, isVendorFrozen] = await Promise.all([
    payerFor(deps, caller.account_id, walletId, claims),
    deps.isChainReadable(),
    deps.isPaused(),
    deps.isFrozen(claims.vendor_account_id),
  ]);
  if (isPaused) throw paused();
  if (isVendorFrozen) throw vendorFrozen();
  // What was accepted before waits for the chain; nothing new is begun without it (decisions.md, Limits).
  if (!chainReadable) throw chainAway();
  return payer;
};

/** Accepts, looking at the chain once when the last sight says that the payer cannot pay. */
const accept = async (deps: Deps, acceptOne: AcceptOne, attempt: Attempt, known: Payer): Promise<Verdict> => {
  const traceparent = activeTraceparent();
  const { settlementId: settlement_id, accountId: account_id, claims } = attempt;
  const messagesOf = ({ owner, authority }: Payer) => [
    settleJob({
      settlement_id,
      account_id,
      payment_attempt_id: attempt.paymentAttemptId,
      quote_token: attempt.quoteToken,
      wallet_id: known.wallet_id,
      owner,
      authority,
      drive: 1,
      generation: 0,
      created_at: deps.clock(),
    }),
    fact('accepted', {
      settlement_id,
      quote_id: claims.quote_id,
      account_id,
      delegate_id: attempt.delegateId,
      wallet_id: attempt.walletId,
      service_id: claims.service_id,
      vendor_account_id: claims.vendor_account_id,
      quote_amount: claims.quote_amount,
      fee_amount: claims.fee_amount,
    }),
  ];
  let payer = known;
  let looked = false;
  for (let races = 0; races < MAX_RACES; ) {
    await failpoint('settlement.beforeAccept');
    const messages = messagesOf(payer).map((message) => ({ ...message, traceparent }));
    const { verdict, outbox } = await acceptOne({ attempt, messages });
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

/** A repeat: the same quote, by the same delegate or the account's own sign-in. */
const repeat = async (
  deps: Deps,
  row: SettlementRow,
  { quoteId, caller, until }: { quoteId: string; caller: Caller; until: number },
): Promise<Answer> => {
  if (row.quote_id !== quoteId) {
    throw new ServiceError('conflict', 'this payment_attempt_id was used with another quote', {
      safe_action: 'stop',
    });
  }
  if (caller.kind === 'delegate_key' && row.delegate_id !== caller.delegate_id) {
    throw new ServiceError('conflict', 'this payment_attempt_id belongs to another delegate', {
      safe_action: 'stop',
    });
  }
  count('settle.idempotent_replays', 1, { operation: 'settle' });
  return row.status === 'pending' ? outcome(deps, row.settlement_id, until) : show(row);
};

/** A repeat may wait where another replica's caller is told of the outcome, and no other (`Waiting.wake`). */
const REPEAT_AGAIN_MS = 1000;

/** Waits for the fact. Reads first: whoever comes here may be late. */
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
