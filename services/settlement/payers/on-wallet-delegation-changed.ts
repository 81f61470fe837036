import type { z } from 'zod';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { findPayer, upsertPayer } from './store.ts';

/**
 * A payer's delegation stands otherwise on chain: what it may spend is taken over now, so that the next attempt is
 * judged by it instead of being accepted and failing. A wallet that never paid is looked at when it does.
 */
export const delegationChanged =
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
