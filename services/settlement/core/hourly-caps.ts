import { ServiceError } from '../../../shared/contract/errors.ts';
import type { CappedPayer, HourlyCaps, ReachedCap } from '../../../shared/db/hourly-caps.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { declined, type PaymentDeclined } from '../declines/model.ts';

const VERBS = { paid: 'pay', authorized: 'authorize' } as const;
/** What each cap bounds. The message names it, because the payer's options differ. */
const BOUNDS: Record<ReachedCap['reached'], (verb: string) => string> = {
  wallet: (verb) => `what one wallet may ${verb} in an hour`,
  account: (verb) => `what one account may ${verb} in an hour with all its wallets`,
  environment: (verb) => `what all accounts together may ${verb} in an hour`,
};

/** The cap that is reached, in the words of its message. */
const boundOf = ({ counts }: Pick<HourlyCaps, 'counts'>, { reached }: ReachedCap): string =>
  BOUNDS[reached](VERBS[counts]);

/** Counts a refusal by a cap. */
const countRefusal = ({ reached }: ReachedCap): void =>
  count('quittance_cap_refusals_total', 1, { cap: reached });

const capReached = (caps: HourlyCaps, reached: ReachedCap, amountMicro: bigint): PaymentDeclined => {
  const bound = boundOf(caps, reached);
  const retryAfterSeconds = caps.refillsInSeconds();
  if (amountMicro > reached.capMicro)
    return declined(
      'hourly_cap',
      `the payment exceeds the hourly cap, ${bound}: pay a smaller amount, or write to support`,
      { money_moved: 'no', safe_action: 'stop', retryAfterSeconds },
    );
  return declined(
    'hourly_cap',
    `the hourly cap is reached, ${bound}; repeat with the same payment_attempt_id when it refills`,
    // Another replica may have reserved the rest for this same attempt and not have committed it
    // yet.
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds },
  );
};

/**
 * Accepts an attempt within the hourly caps. They are reserved first, so that every accepted
 * payment can be signed (rule 7). An attempt over a cap is evaluated as well: a repeat is answered,
 * and every other reason to refuse has precedence.
 * @param payment `at`: a moment of the hour in which it counts, by default now
 * @param evaluate when it throws, the attempt may have been committed, so nothing is released
 * @throws ServiceError service_unavailable when a cap is reached and nothing else is wrong
 */
export const acceptWithinCaps = async <E extends { decision: string }>(
  caps: HourlyCaps,
  { payer, amountMicro, at }: { payer: CappedPayer; amountMicro: bigint; at?: number },
  evaluate: (isOverCap: boolean) => Promise<E>,
): Promise<E> => {
  const reserved = await caps.reserve(payer, amountMicro, at);
  const isOverCap = 'reached' in reserved;
  const evaluation = await evaluate(isOverCap);
  if (!isOverCap) {
    if (evaluation.decision !== 'accepted') reserved.release();
  } else if (evaluation.decision === 'over_hourly_cap') {
    countRefusal(reserved);
    throw capReached(caps, reserved, amountMicro);
  }
  return evaluation;
};

/**
 * The error of a capture for which the caps have no room. Its authorization keeps what it holds.
 */
export const captureOverCap = (caps: HourlyCaps, reached: ReachedCap, settlement_id: string): ServiceError =>
  new ServiceError(
    'service_unavailable',
    `the hourly cap is reached, ${boundOf(caps, reached)}; repeat the capture when it refills, or leave it to the end of the window`,
    { money_moved: 'no', settlement_id, retryAfterSeconds: caps.refillsInSeconds() },
  );

/**
 * Decides a capture within the hourly caps, which the signer counts in the same hour (rule 21).
 * @param at the moment in whose hour it counts
 * @param decide false: it was not decided. When it throws, it may have been, so nothing is released
 * @returns the cap that has no room for it, or whether it was decided
 */
export const captureWithinCaps = async (
  caps: HourlyCaps,
  { payer, amountMicro, at }: { payer: CappedPayer; amountMicro: bigint; at: number },
  decide: () => Promise<boolean>,
): Promise<boolean | ReachedCap> => {
  const reserved = await caps.reserve(payer, amountMicro, at);
  if ('reached' in reserved) {
    countRefusal(reserved);
    return reserved;
  }
  const isDecided = await decide();
  if (!isDecided) reserved.release();
  return isDecided;
};
