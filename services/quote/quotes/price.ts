import type { Records } from '../../../shared/boot.ts';
import { conflict, invalid } from '../../../shared/contract/errors.ts';
import { type FeeRule, feeMicro } from '../../../shared/lib/money/fee.ts';
import type { Peers, Reservation, Service } from '../peers.ts';

/**
 * A payment is signed up to 60 s after its quote's expiry (rule 11). The rest is for the answer to
 * arrive.
 */
const SIGNED_WITHIN_MS = 90_000;

/**
 * The amounts of a quote.
 * @param field that named the amount
 * @throws ServiceError validation_error where the fee leaves nothing to the vendor
 */
export const amountsOf = (
  amountMicro: bigint,
  rule: FeeRule,
  field: 'quote_amount' | 'max_amount' = 'quote_amount',
) => {
  const fee = feeMicro(amountMicro, rule);
  if (amountMicro <= fee) {
    throw invalid(
      field,
      `must exceed the fee of ${fee} micro-units, or the vendor would receive nothing; send at least "${rule.minMicro + 1n}"`,
    );
  }
  return { quote_amount: amountMicro, fee_amount: fee };
};

const checkReservation = ({ status, retry_after_seconds: retryAfterSeconds }: Reservation): void => {
  if (retryAfterSeconds !== null) {
    throw conflict(
      'the payout address has no USDC token account and the platform pays for no more token accounts today; send any USDC to the address from a wallet, which creates the account, or try again tomorrow',
      { retryAfterSeconds },
    );
  }
  if (status === 'refused') {
    throw conflict(
      'the payout address has no USDC token account and the quota of accounts that the platform pays for is used up; send any USDC to the address from a wallet, which creates the account, or use an address that has one',
    );
  }
};

type ReserveDeps = Pick<Records, 'clock'> & Pick<Peers, 'reserveTokenAccount'>;

/**
 * Reserves the token account that a quote of this lifetime pays.
 * @returns whether it exists
 * @throws ServiceError conflict where the payout address cannot receive USDC
 */
export const reservePayout = async (
  { clock, reserveTokenAccount }: ReserveDeps,
  { account_id, payout_address }: Pick<Service, 'account_id' | 'payout_address'>,
  lifetimeMs: number,
): Promise<boolean> => {
  const until = clock() + lifetimeMs + SIGNED_WITHIN_MS;
  const reservation = await reserveTokenAccount(account_id, payout_address, until);
  checkReservation(reservation);
  return reservation.status === 'exists';
};

/**
 * Makes sure that the token account of payments exists now or within seconds which cannot create it
 * themselves, because a wallet of somebody else signs them.
 * @throws ServiceError conflict where the payout address cannot receive USDC
 */
export const preparePayout = async (
  deps: ReserveDeps & Pick<Peers, 'createPayoutAccount'>,
  { account_id, payout_address }: Pick<Service, 'account_id' | 'payout_address'>,
  lifetimeMs: number,
): Promise<void> => {
  if (await reservePayout(deps, { account_id, payout_address }, lifetimeMs)) return;
  await deps.createPayoutAccount({ account_id, owner: payout_address });
};
