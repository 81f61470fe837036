import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import type { Delivery, Webhook } from './delivery.ts';
import type { ProviderName, Purchase, PurchaseStatus, Purchases } from './purchases.ts';
import type { Treasury } from './treasury.ts';

/** The webhook by which a provider reports a purchase: `created` first, `changed` afterwards. */
export type WebhookOf = (purchase: Purchase, change: 'created' | 'changed') => Webhook;

/**
 * The states of a purchase, the same for both providers. Each change of state sends a webhook, and
 * a paid purchase sends USDC on the chain.
 */
export const createPurchaseFlow = ({
  purchases,
  treasury,
  delivery,
}: {
  purchases: Purchases;
  treasury: Treasury;
  delivery: Delivery;
}) => {
  const webhooks = new Map<ProviderName, WebhookOf>();

  const notify = (purchase: Purchase, change: 'created' | 'changed'): void => {
    const over = purchase.status === 'completed' || purchase.status === 'failed';
    delivery.send(purchase, webhooks.get(purchase.provider)!(purchase, change), { over });
  };

  const step = (purchase: Purchase, status: PurchaseStatus, changes: Partial<Purchase> = {}): void => {
    purchases.change(purchase, { ...changes, status });
    notify(purchase, 'changed');
  };

  const sendUsdc = async (purchase: Purchase): Promise<void> => {
    const nothing = purchase.behaviour.transfer === 'none';
    const txHash = nothing ? bs58.encode(randomBytes(64)) : await treasury.send(purchase);
    step(purchase, 'completed', { txHash });
  };

  return {
    reportBy: (provider: ProviderName, webhookOf: WebhookOf): void => {
      webhooks.set(provider, webhookOf);
    },
    /** Adds a new purchase in its first state. */
    open: (purchase: Purchase): void => {
      purchases.add(purchase);
      notify(purchase, 'created');
    },
    /** The customer paid. The USDC transfer follows. */
    pay: (purchase: Purchase): void => {
      step(purchase, 'pending');
      void sendUsdc(purchase);
    },
    fail: (purchase: Purchase, failureReason: string): void => step(purchase, 'failed', { failureReason }),
    /**
     * Sends the USDC of purchases that were paid but not yet delivered when the sandbox stopped.
     */
    resume: (): void => {
      for (const purchase of purchases.withStatus('pending')) void sendUsdc(purchase);
    },
  };
};
export type PurchaseFlow = ReturnType<typeof createPurchaseFlow>;
