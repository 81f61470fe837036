import { ServiceError } from '../../../shared/contract/errors.ts';
import type { HourlyCaps, ReachedCap } from '../../../shared/db/hourly-caps.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Accepted, Offer } from './store/accept-attempts.ts';

/** Each says whose cap it is: what a payer can do about it differs. */
const OF: Record<ReachedCap['reached'], string> = {
  wallet: 'what one wallet may pay in an hour',
  account: 'what one account may pay in an hour with all its wallets',
  environment: 'what all accounts together may pay in an hour',
};

const capReached = (
  { reached, capMicro }: ReachedCap,
  amountMicro: bigint,
  retryAfterSeconds: number,
): ServiceError => {
  if (amountMicro > capMicro)
    return new ServiceError(
      'service_unavailable',
      `the payment is above the hourly cap, ${OF[reached]}; no wait helps, write to support`,
      { money_moved: 'no', safe_action: 'stop', retryAfterSeconds },
    );
  return new ServiceError(
    'service_unavailable',
    `the hourly cap is reached, ${OF[reached]}; repeat with the same payment_attempt_id when it refills`,
    // Another replica may have reserved the last of it for this very attempt and not have committed it yet.
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds },
  );
};

/**
 * Accepts an attempt within the hourly caps. They are reserved first, so that what is accepted is signed (rule 7). When one
 * is reached, the attempt is judged all the same: a repeat is answered, and every other reason to refuse comes first.
 * @param acceptOne where it throws, the attempt may have been committed, so nothing is released then
 * @throws ServiceError service_unavailable when a cap is reached and nothing else is wrong
 */
export const acceptWithinCaps = async (
  caps: HourlyCaps,
  wallet: string,
  offer: Omit<Offer, 'isOverCap'>,
  acceptOne: (offer: Offer) => Promise<Accepted>,
): Promise<Accepted> => {
  const { accountId, claims } = offer.attempt;
  const amountMicro = BigInt(claims.quote_amount);
  const reserved = await caps.reserve({ wallet, accountId }, amountMicro);
  const isOverCap = 'reached' in reserved;
  const accepted = await acceptOne({ ...offer, isOverCap });
  if (!isOverCap) {
    if (accepted.verdict !== 'accepted') reserved.release();
  } else if (accepted.verdict === 'over_hourly_cap') {
    count('settle.cap_refusals', 1, { cap: reserved.reached });
    throw capReached(reserved, amountMicro, caps.refillsInSeconds());
  }
  return accepted;
};
