import type { z } from 'zod';
import type { wallet } from '../../../shared/contract/wallet.ts';
import type { Deps } from '../deps.ts';
import { findPayer, savePayer } from '../store/payers.ts';

/**
 * A payer's delegation stands otherwise on chain: what it may spend is taken over now, so that the next attempt is
 * judged by it instead of being accepted and failing. A wallet that never paid is looked at when it does.
 */
export const delegationChanged =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (fact: z.infer<typeof wallet.events.delegationChanged>): Promise<void> => {
    const payer = await findPayer(pool, fact.account_id, fact.wallet_id);
    if (payer === null) return;
    const active = fact.status === 'active' && fact.delegate !== null;
    await savePayer(pool, active ? { ...payer, authority: fact.delegate! } : payer, {
      balance: BigInt(fact.balance),
      allowance: active ? BigInt(fact.allowance) : 0n,
      slot: BigInt(fact.slot),
    });
  };
