import type { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import type { wallet } from '../../../shared/contract/wallet.ts';
import { findPayer, upsertPayer, type WalletState } from './store.ts';

type Deps = Pick<Records, 'pool'> & {
  /** Closes the authorizations that these wallets no longer cover. */
  closeIfShort: (states: readonly WalletState[]) => Promise<void>;
};

/**
 * A payer's delegation changed on chain. The new allowance is stored now, so that the next attempt
 * is evaluated with it instead of being accepted and failing. Authorizations that the wallet no
 * longer covers are closed. A wallet that never paid has no row;
 * it is read when it pays.
 */
export const onDelegationChanged =
  ({ pool, closeIfShort }: Deps) =>
  async (event: z.infer<typeof wallet.events.delegationChanged>): Promise<void> => {
    const payer = await findPayer(pool, event.account_id, event.wallet_id);
    if (payer === null) return;
    const active = event.status === 'active' && event.delegate !== null;
    const wallet = active ? { ...payer, authority: event.delegate! } : payer;
    const allowance = active ? event.allowance : '0';
    await upsertPayer(pool, wallet, {
      balance: BigInt(event.balance),
      allowance: BigInt(allowance),
      slot: BigInt(event.slot),
    });
    await closeIfShort([{ wallet, balance: event.balance, allowance, slot: event.slot }]);
  };
