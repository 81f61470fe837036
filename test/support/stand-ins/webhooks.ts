import { createHmac } from 'node:crypto';

/**
 * Webhooks as the providers sign them, to be forged and altered. They share no code with the
 * product.
 */
const hmac = (key: string, text: string) => createHmac('sha256', key).update(text).digest('hex');
const seconds = () => Math.floor(Date.now() / 1000);

export type SignedWebhook = { body: string; headers: Record<string, string> };

export const moonpayWebhook = (key: string, body: object | string, time = seconds()): SignedWebhook => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { body: text, headers: { 'moonpay-signature-v2': `t=${time},s=${hmac(key, `${time}.${text}`)}` } };
};

export const coinbaseWebhook = (key: string, body: object | string, time = seconds()): SignedWebhook => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const signature = `t=${time},v0=${hmac(key, `${time}.${text}`)}`;
  return { body: text, headers: { 'x-hook0-signature': signature } };
};

/** MoonPay's fields of a payment. */
export const moonpayEvent = (deposit: { deposit_id: string; wallet: string }, data: object) => ({
  type: 'transaction_updated',
  data: {
    id: `mp-${deposit.deposit_id}`,
    status: 'completed',
    externalTransactionId: deposit.deposit_id,
    quoteCurrencyAmount: 48.5,
    walletAddress: deposit.wallet,
    cryptoTransactionId: null,
    failureReason: null,
    currency: { code: 'usdc_sol' },
    ...data,
  },
});

/** Coinbase's fields of a payment. */
export const coinbaseEvent = (deposit: { deposit_id: string; wallet: string }, data: object) => ({
  eventType: 'onramp.transaction.updated',
  transactionId: `cb-${deposit.deposit_id}`,
  status: 'ONRAMP_TRANSACTION_STATUS_SUCCESS',
  partnerUserRef: `sandbox-${deposit.deposit_id}`,
  purchaseNetwork: 'solana',
  purchaseAmount: { currency: 'USDC', value: '48.5' },
  walletAddress: deposit.wallet,
  txHash: '',
  ...data,
});
