import type { Pool } from '../../../shared/db/pool.ts';
import type { Peers } from '../peers.ts';
import { claimPaymentsToRedeem, type LinkPayment, recordRedeemed } from '../quotes/store.ts';

type Deps = { pool: Pool } & Pick<Peers, 'redeemLinkPayment'>;

const BATCH = 50;

/**
 * Redeems the confirmed payments of links, because their vendors need no server that does. One that
 * cannot be redeemed now is tried again after a minute.
 * @returns whether there was one
 */
export const redeemPayments =
  ({ pool, redeemLinkPayment }: Deps) =>
  async (): Promise<boolean> => {
    const claimed = await claimPaymentsToRedeem(pool, BATCH);
    const redeem = async (payment: LinkPayment) => {
      if ((await redeemLinkPayment(payment)).done) await recordRedeemed(pool, payment);
    };
    const outcomes = await Promise.allSettled(claimed.map(redeem));
    const failed = outcomes.find(({ status }) => status === 'rejected');
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason;
    return claimed.length > 0;
  };
