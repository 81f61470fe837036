import type { z } from 'zod';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findPayer, upsertPayer } from './store.ts';

/**
 * A payer's delegation changed on chain. The new allowance is stored now, so that the next attempt
 * is evaluated with it instead of being accepted and failing. A wallet that never paid has no row;
 * it is read when it pays.
 */
export const onDelegationChanged =
  ({ pool }: { pool: Pool }) =>
  async (event: z.infer<typeof wallet.events.delegationChanged>): Promise<void> => {
    const payer = await findPayer(pool, event.account_id, event.wallet_id);
    if (payer === null) return;
    const active = event.status === 'active' && event.delegate !== null;
    await upsertPayer(pool, active ? { ...payer, authority: event.delegate! } : payer, {
      balance: BigInt(event.balance),
      allowance: active ? BigInt(event.allowance) : 0n,
      slot: BigInt(event.slot),
    });
  };
