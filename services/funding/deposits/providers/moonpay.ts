import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { ServiceError } from '../../../../shared/contract/errors.ts';
import type { Clock } from '../../../../shared/lib/clock.ts';
import { microFromDecimal } from '../../../../shared/lib/money/micro.ts';
import type { ReportedEvent } from '../model.ts';
import {
  checkSignature,
  messageBody,
  type Onramp,
  ProviderId,
  parseDepositId,
  parseTxHash,
  type Report,
  requestProvider,
  signatureParts,
} from './onramp.ts';

/**
 * MoonPay: a signed URL of its widget. Source: dev.moonpay.com, and @moonpay/moonpay-node for the
 * signature.
 */
export const MoonpayConfig = z.strictObject({
  /** https://buy-sandbox.moonpay.com/ or https://buy.moonpay.com/ */
  widget_url: z.url({ protocol: /^https?$/ }),
  /** https://api.moonpay.com for sandbox and production: the key selects the mode. */
  api_url: z.url({ protocol: /^https?$/ }),
  publishable_key: z.string().min(1),
  /** Signs URLs. */
  secret_key: z.string().min(1),
  /** Verifies webhooks; it is not the key that signs URLs. */
  webhook_key: z.string().min(1),
  /** MoonPay's code for USDC on Solana. */
  currency_code: z.string().min(1).default('usdc_sol'),
});
export type MoonpayConfig = z.infer<typeof MoonpayConfig>;

/**
 * `base64(HMAC-SHA256(key, search))`. The search includes its question mark, and its values are
 * encoded as they are sent.
 */
export const signSearch = (search: string, secretKey: string): string =>
  createHmac('sha256', secretKey).update(search).digest('base64');

const EVENTS = new Map<string, ReportedEvent>([
  ['waitingPayment', 'waiting'],
  ['waitingAuthorization', 'waiting'],
  ['pending', 'paid'],
  ['completed', 'sent'],
  ['failed', 'refused'],
]);

// The objects are open, because MoonPay sends more fields than these. Numbers arrive as their
// texts.
const Transaction = z.object({
  id: ProviderId,
  status: z.string().max(64),
  quoteCurrencyAmount: z.string().nullish(),
  failureReason: z.string().nullish(),
  walletAddress: z.string().nullish(),
  cryptoTransactionId: z.string().nullish(),
  externalTransactionId: z.string().nullish(),
  currency: z.object({ code: z.string() }).nullish(),
});
const Message = z.object({ type: z.string(), data: z.unknown() });
const TYPES = new Set(['transaction_created', 'transaction_updated', 'transaction_failed']);

const toReport = (
  transaction: z.infer<typeof Transaction>,
  { currency_code }: MoonpayConfig,
): Report | null => {
  const depositId = parseDepositId(transaction.externalTransactionId);
  const event = EVENTS.get(transaction.status);
  if (depositId === null || event === undefined) return null;
  const isUsdc = transaction.currency?.code === currency_code;
  const cancelled = event === 'refused' && /^cancell?ed/i.test(transaction.failureReason ?? '');
  return {
    depositId,
    transactionId: transaction.id,
    providerStatus: transaction.status,
    event: cancelled ? 'cancelled' : event,
    amountMicro: isUsdc ? microFromDecimal(transaction.quoteCurrencyAmount ?? '') : null,
    txHash: parseTxHash(transaction.cryptoTransactionId),
    walletAddress: transaction.walletAddress ?? null,
    reason: transaction.failureReason ?? null,
  };
};

/** @param clock the wall clock: MoonPay signs by its own clock */
export const createMoonpay = (config: MoonpayConfig, clock: Clock): Onramp => ({
  open: async ({ depositId, owner, fiatCurrency, fiatAmount, returnUrl }) => {
    const fields: Record<string, string> = {
      apiKey: config.publishable_key,
      currencyCode: config.currency_code,
      baseCurrencyCode: fiatCurrency.toLowerCase(),
      baseCurrencyAmount: fiatAmount,
      lockAmount: 'true',
      walletAddress: owner,
      externalTransactionId: depositId,
      ...(returnUrl === null ? {} : { redirectURL: returnUrl }),
    };
    // URLSearchParams would write a space as "+", but MoonPay signs the output of
    // encodeURIComponent. The URL class encodes an apostrophe in addition, as a browser does.
    const url = new URL(config.widget_url);
    url.search = Object.entries(fields)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join('&');
    const signature = signSearch(url.search, config.secret_key);
    return {
      paymentUrl: `${url.href}&signature=${encodeURIComponent(signature)}`,
      promisedMicro: null,
    };
  },

  readWebhook: ({ body, headers }) => {
    const parts = signatureParts(headers['moonpay-signature-v2']);
    const time = parts.get('t');
    const signed = [`${time}.`, body];
    checkSignature({
      key: config.webhook_key,
      signed,
      signature: parts.get('s'),
      time,
      now: clock(),
    });
    const message = Message.safeParse(messageBody(body));
    // MoonPay sends its other webhooks (identity checks, sales) to the same address.
    if (message.success && !TYPES.has(message.data.type)) return null;
    const transaction = Transaction.safeParse(message.data?.data);
    if (!transaction.success)
      throw new ServiceError('validation_error', 'the message is not a transaction of MoonPay');
    return toReport(transaction.data, config);
  },

  poll: async (depositId) => {
    const url = new URL(`${config.api_url.replace(/\/$/, '')}/v1/transactions/ext/${depositId}`);
    url.searchParams.set('apiKey', config.publishable_key);
    // MoonPay answers a list, because it does not require the external id to be unique. Its order
    // does not matter: the state machine accepts reports in any order.
    const found = z
      .array(Transaction)
      .safeParse(await requestProvider(url, { method: 'GET' }, { ifUnknown: [] }));
    if (!found.success)
      throw new ServiceError(
        'service_unavailable',
        'MoonPay answers in an unknown form; repeat the call later',
      );
    return found.data.map((each) => toReport(each, config)).filter((report) => report !== null);
  },
});
