import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import type { Delivery, Webhook } from './delivery.ts';
import type { ProviderName, Purchase, PurchaseStatus, Purchases } from './purchases.ts';
import type { Treasury } from './treasury.ts';

/** How a provider tells of a purchase; the first word on one is "created". */
export type Teller = (purchase: Purchase, word: 'created' | 'changed') => Webhook;

/**
 * What happens behind the counter, the same for both providers: a purchase goes from state to state, each told by a
 * webhook, and what is paid for is sent on the chain.
 */
export const createDesk = ({
  purchases,
  treasury,
  delivery,
}: {
  purchases: Purchases;
  treasury: Treasury;
  delivery: Delivery;
}) => {
  const tellers = new Map<ProviderName, Teller>();

  const tell = (purchase: Purchase, word: 'created' | 'changed'): void => {
    const over = purchase.status === 'completed' || purchase.status === 'failed';
    delivery.send(purchase, tellers.get(purchase.provider)!(purchase, word), { over });
  };

  const step = (purchase: Purchase, status: PurchaseStatus, changes: Partial<Purchase> = {}): void => {
    purchases.change(purchase, { ...changes, status });
    tell(purchase, 'changed');
  };

  const sendUsdc = async (purchase: Purchase): Promise<void> => {
    const nothing = purchase.behaviour.transfer === 'none';
    const txHash = nothing ? bs58.encode(randomBytes(64)) : await treasury.send(purchase);
    step(purchase, 'completed', { txHash });
  };

  return {
    tellBy: (provider: ProviderName, teller: Teller): void => {
      tellers.set(provider, teller);
    },
    /** Takes a new purchase in its first state. */
    open: (purchase: Purchase): void => {
      purchases.add(purchase);
      tell(purchase, 'created');
    },
    /** The money is there: the USDC follows. */
    pay: (purchase: Purchase): void => {
      step(purchase, 'pending');
      void sendUsdc(purchase);
    },
    fail: (purchase: Purchase, failureReason: string): void => step(purchase, 'failed', { failureReason }),
    /** What was paid for when the sandbox stopped. */
    resume: (): void => {
      for (const purchase of purchases.withStatus('pending')) void sendUsdc(purchase);
    },
  };
};
export type Desk = ReturnType<typeof createDesk>;
