import { signingDeadline } from '../../services/chain-submitter/ledger/model/state.ts';
import { errorAnswer } from '../../services/gateway/http/errors.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { CaptureTerms } from '../../shared/contract/quote/capture.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { signToken } from '../../shared/lib/tokens/compact-token.ts';
import { type Refusal, refusalIn } from '../support/rules/refusals.ts';
import { actors } from './actors.ts';
import { createCaller, Unanswered } from './caller.ts';
import { type Call, calls, EPOCH } from './database.ts';
import type { Harness, Process } from './harness.ts';
import type { SettlementReplica } from './processes.ts';

export type Quote = {
  quoteId: string;
  token: string;
  grossMicro: bigint;
  expiresAt: number;
  payer: number;
  /** Until when its payment may be signed. Epoch milliseconds. */
  signBefore: number;
  /** The units that it prepays; null: none. */
  units: number | null;
  /** Its amount is a ceiling, of which the vendor captures what is used. */
  hasCeiling: boolean;
  /** The quote whose ceiling it extends. Null: none. */
  extended: Quote | null;
  claims: Claims;
};
type Claims = Omit<QuoteClaims, 'kid' | 'typ'>;
export type Attempt = {
  attemptId: string;
  quote: Quote;
  /** The delegate that calls; null: the account itself. */
  delegateId: string | null;
  /** Codes of refusals that can have no other reason than the attempt's acceptance. */
  causedByItself: readonly string[];
  /** The client got this 200, and these errors for calls that it made afterwards. */
  paid: { settlement_id: string; settlement_token: string; max_amount?: string } | null;
  refused: string | null;
};

/** Numbers of the delegates without limits, one for each payer. */
export const OTHER_DELEGATE = 90;
const MOST_COPIES = 8;
const COPIES_WITHIN_MS = 40;
/** Refusals that record nothing or may change: the same id may be used again. */
const TRANSIENT = ['service_unavailable', 'internal_error', 'approval_required'];

/** The fee is that of the fixed prices of a run. */
const captureOf = (windowSeconds: number): CaptureTerms => ({
  ...{ mode: 'usage', window_seconds: windowSeconds, unit_price: null, threshold: null },
  fee: { bps: 100, min: '0' },
});

/** A quote token as the quote service signs it. */
export const createQuote = (
  harness: Harness,
  {
    number,
    payer,
    grossMicro,
    livesMs,
    units,
    windowSeconds,
  }: {
    number: number;
    payer: number;
    grossMicro: bigint;
    livesMs: number;
    units: number | null;
    /** Of a ceiling; null: the whole amount is paid at once. */
    windowSeconds: number | null;
  },
): Quote => {
  const quoteId = actors.quoteId(number);
  const expiresAt = EPOCH + harness.now() + livesMs;
  const claims: Claims = {
    env: 'test',
    quote_id: quoteId,
    vendor_account_id: actors.vendor.account_id,
    service_id: actors.vendor.service_id,
    service_name: 'simulated',
    payout_address: actors.vendor.payout,
    mint: actors.mint,
    quote_amount: String(grossMicro),
    fee_amount: String(grossMicro / 100n),
    currency: 'USDC',
    issued_at: isoTime(EPOCH + harness.now()),
    expires_at: isoTime(expiresAt),
    redeem_window_seconds: harness.random.int(30, 120),
    scope: units === null || windowSeconds !== null ? null : { units },
    ...(windowSeconds !== null && { capture: captureOf(windowSeconds) }),
  };
  harness.call(quoteId, `Q${number}`);
  return signQuote(claims, { payer, extended: null });
};

export const signQuote = (claims: Claims, { payer, extended }: Pick<Quote, 'payer' | 'extended'>): Quote => ({
  ...{ quoteId: claims.quote_id, payer, extended, claims },
  token: signToken('quote', claims, actors.quoteKey),
  grossMicro: BigInt(claims.quote_amount),
  expiresAt: Date.parse(claims.expires_at),
  units: claims.scope === null ? null : (claims.scope as { units: number }).units,
  signBefore: signingDeadline(claims),
  hasCeiling: claims.capture !== undefined,
});

/** A quote that extends the ceiling of another one, as the quote service signs it. */
export const createExtension = (
  harness: Harness,
  { number, extended, addedMicro, livesMs }: Record<'number' | 'livesMs', number> & Extending,
): Quote => {
  const quoteId = actors.quoteId(number);
  const times = { issued_at: EPOCH + harness.now(), expires_at: EPOCH + harness.now() + livesMs };
  const claims: Claims = {
    ...extended.claims,
    quote_id: quoteId,
    quote_amount: String(addedMicro),
    fee_amount: String(addedMicro / 100n),
    issued_at: isoTime(times.issued_at),
    expires_at: isoTime(times.expires_at),
    extends: extended.quoteId,
  };
  harness.call(quoteId, `E${number}`);
  return signQuote(claims, { payer: extended.payer, extended });
};
type Extending = { extended: Quote; addedMicro: bigint };

/** The payers' programs and the vendor's: they call, repeat, and record every answer. */
export const createClients = (
  harness: Harness,
  {
    replicas,
    onPaid,
  }: {
    replicas: () => readonly SettlementReplica[];
    onPaid: (paid: NonNullable<Attempt['paid']>, attempt: Attempt) => void;
  },
) => {
  const { random } = harness;
  const process: Process = { name: 'client', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const attempts: Attempt[] = [];
  /** All refusals of settlement, in virtual time. */
  const refusals: Refusal[] = [];
  const { call, isIdle } = createCaller(harness, process, replicas);
  /** Programs that still call. */
  let pursuing = 0;

  const recordSettlement = (
    attempt: Attempt,
    answer: { settlement_id: string; settlement_token: string },
  ) => {
    const { attemptId, paid } = attempt;
    if (paid === null) {
      attempt.paid = answer;
      onPaid(answer, attempt);
      return;
    }
    if (paid.settlement_id !== answer.settlement_id || paid.settlement_token !== answer.settlement_token)
      harness.fail('same attempt, same settlement', `${attemptId} was answered with two settlements`);
  };

  /** Records a refusal as the gateway words it. */
  const keep = (
    { attemptId, quote: { quoteId, payer }, causedByItself }: Attempt,
    { askedAt, read, error }: { askedAt: number; read: Call; error: ServiceError },
  ): void => {
    const said = refusalIn(errorAnswer(error, settlement.operations.settle).body)!;
    const { account_id: accountId } = actors.payers[payer]!;
    const { attemptReadAt, quoteReadAt } = read;
    const readAt =
      attemptReadAt === null || quoteReadAt === null ? askedAt : Math.min(attemptReadAt, quoteReadAt);
    refusals.push({
      ...{ accountId, attemptId, quoteId, causedByItself, askedAt, readAt, at: harness.now() },
      ...said,
    });
  };

  /** One call of settle. True: the answer is final. */
  const ask = async (attempt: Attempt): Promise<boolean> => {
    const { attemptId, quote, delegateId } = attempt;
    const askedAt = harness.now();
    const read: Call = { attemptReadAt: null, quoteReadAt: null, isRefused: false };
    // A refusal before acceptance records nothing: the same id may be paid later.
    const wasPaid = attempt.paid !== null;
    const { account_id, wallet_id } = actors.payers[quote.payer]!;
    const caller =
      delegateId === null
        ? { kind: 'jwt' as const, account_id, session_id: 'session', auth_time: 0 }
        : { kind: 'delegate_key' as const, account_id, wallet_id, delegate_id: delegateId, key_id: 'key' };
    const input = { quote_token: quote.token, payment_attempt_id: attemptId };
    try {
      const answer = await call((replica) => calls.run(read, () => replica.settle(input, caller)));
      harness.trace('client', `${attemptId}: ${answer.status} ${answer.settlement_id}`);
      if (answer.status === 'pending') return false;
      recordSettlement(attempt, answer);
      return true;
    } catch (error) {
      const code = error instanceof ServiceError ? error.code : 'internal_error';
      harness.trace('client', `${attemptId}: ${code} (${(error as Error).message})`);
      if (error instanceof ServiceError && !(error instanceof Unanswered))
        keep(attempt, { askedAt, read, error });
      if (TRANSIENT.includes(code)) return false;
      // An authorization may end without a payment after its payer got it.
      if (wasPaid && !quote.hasCeiling) attempt.refused = code;
      return true;
    }
  };

  const redeem = async ({ paid, attemptId }: Attempt): Promise<void> => {
    if (paid === null) return;
    const { account_id, service_id } = actors.vendor;
    const caller = { kind: 'service_key' as const, account_id, service_id, key_id: 'key' };
    const { settlement_id, settlement_token } = paid;
    try {
      await call((replica) => replica.redeem({ settlement_id, settlement_token }, caller));
      harness.trace('vendor', `redeems ${attemptId}`);
    } catch (error) {
      harness.trace('vendor', `could not redeem ${attemptId}: ${(error as Error).message}`);
    }
  };

  /**
   * The calls of a program that lost its records after its account has paid: with another id, by
   * another delegate, or with another quote of the same payer.
   */
  const askOtherwise = async ({ attemptId, quote, delegateId }: Attempt): Promise<void> => {
    const others = attempts.filter((one) => one.quote.payer === quote.payer && one.quote !== quote);
    const other = others.length === 0 ? quote : random.pick(others).quote;
    const otherwise = random.pick([
      { attemptId: `${attemptId}+${attempts.length}`, quote, delegateId },
      { attemptId, quote, delegateId: actors.delegateId(OTHER_DELEGATE + quote.payer) },
      { attemptId, quote: other, delegateId },
    ]);
    const attempt: Attempt = { ...otherwise, causedByItself: [], paid: null, refused: null };
    attempts.push(attempt);
    await ask(attempt);
  };

  /** Calls until there is a final answer, then repeats the call now and then. */
  const pursue = async (attempt: Attempt): Promise<void> => {
    pursuing += 1;
    for (let tries = 0; tries < 40 && !(await ask(attempt)); tries++)
      await harness.sleep(process, random.between(200, 6000));
    if (random.chance(0.3)) await ask(attempt);
    if (attempt.paid !== null && random.chance(0.3)) await askOtherwise(attempt);
    if (random.chance(0.5)) {
      await harness.sleep(process, random.between(0, 20_000));
      await redeem(attempt);
    }
    if (random.chance(0.3)) {
      await harness.sleep(process, random.between(0, 30_000));
      await ask(attempt);
    }
    pursuing -= 1;
  };

  return {
    attempts,
    refusals,
    process,
    ask,
    isIdle: () => pursuing === 0 && isIdle(),
    begin: (
      attemptId: string,
      quote: Quote,
      { delayMs, by }: { delayMs: number; by: Pick<Attempt, 'delegateId' | 'causedByItself'> },
    ) => {
      const attempt: Attempt = { attemptId, quote, ...by, paid: null, refused: null };
      attempts.push(attempt);
      harness.inside(process, delayMs, () => void pursue(attempt));
      // An impatient client sends several concurrent calls.
      const copies = random.chance(0.4) ? random.int(1, MOST_COPIES) : 0;
      for (let copy = 0; copy < copies; copy++)
        harness.inside(process, delayMs + random.between(0, COPIES_WITHIN_MS), () => void ask(attempt));
    },
  };
};
export type Clients = ReturnType<typeof createClients>;
