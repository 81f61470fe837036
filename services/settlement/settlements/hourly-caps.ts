import type { CappedPayer, HourlyCaps, ReachedCap } from '../../../shared/db/hourly-caps.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { declined, type PaymentDeclined } from '../declines/model.ts';

/** What each cap bounds. The message names it, because the payer's options differ. */
const BOUNDS: Record<ReachedCap['reached'], string> = {
  wallet: 'what one wallet may pay in an hour',
  account: 'what one account may pay in an hour with all its wallets',
  environment: 'what all accounts together may pay in an hour',
};

const capReached = (
  { reached, capMicro }: ReachedCap,
  amountMicro: bigint,
  retryAfterSeconds: number,
): PaymentDeclined => {
  if (amountMicro > capMicro)
    return declined(
      'hourly_cap',
      `the payment exceeds the hourly cap, ${BOUNDS[reached]}: pay a smaller amount, or write to support`,
      { money_moved: 'no', safe_action: 'stop', retryAfterSeconds },
    );
  return declined(
    'hourly_cap',
    `the hourly cap is reached, ${BOUNDS[reached]}; repeat with the same payment_attempt_id when it refills`,
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
    count('quittance_cap_refusals_total', 1, { cap: reserved.reached });
    throw capReached(reserved, amountMicro, caps.refillsInSeconds());
  }
  return evaluation;
};
