import { sql } from '../../../../shared/db/pool.ts';

/**
 * Whether an issued settlement's redeem window has elapsed. While its payment is forked away (pending again) nobody can
 * redeem it, and the time that it was away is added: the payer must not lose what he has paid for to a fork. The first
 * condition is the one that the index of the expiry job serves.
 */
export const windowElapsed = sql.fragment`(redeem_expires_at <= app_now() and chain_status <> 'pending'
  and redeem_expires_at + forked_for <= app_now())`;
