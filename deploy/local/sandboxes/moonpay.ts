import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { displayUsdc, plainUsdc } from '../../../shared/lib/money/usdc.ts';
import type { SandboxKeys } from './config.ts';
import { behaviourFields, behaviourOf, buttons, definitions, donePage, form, page } from './page.ts';
import type { PurchaseFlow, WebhookOf } from './purchase-flow.ts';
import { type Purchase, type PurchaseStatus, type Purchases, usdcFor } from './purchases.ts';

/**
 * A model of MoonPay: the widget behind a signed URL, signed webhooks, and the two status calls. It
 * was written from MoonPay's documentation and independently of our adapter.
 */
type MoonpayOptions = {
  keys: SandboxKeys['moonpay'];
  purchases: Purchases;
  flow: PurchaseFlow;
  webhookUrl: string;
};

const STATUSES: Record<PurchaseStatus, string> = {
  waiting_payment: 'waitingPayment',
  waiting_authorization: 'waitingAuthorization',
  pending: 'pending',
  completed: 'completed',
  failed: 'failed',
};
const CURRENCY = 'usdc_sol';

/** Numbers are JSON numbers, as MoonPay's are. */
const transactionOf = (purchase: Purchase) => ({
  id: purchase.id,
  createdAt: purchase.createdAt,
  updatedAt: purchase.updatedAt,
  status: STATUSES[purchase.status],
  failureReason: purchase.failureReason,
  baseCurrencyAmount: Number(purchase.fiatAmount),
  // Set after the USDC was sent.
  quoteCurrencyAmount:
    purchase.status === 'pending' || purchase.status === 'completed'
      ? Number(plainUsdc(purchase.amountMicro))
      : null,
  feeAmount: 0,
  extraFeeAmount: 0,
  networkFeeAmount: 0,
  areFeesIncluded: true,
  walletAddress: purchase.wallet,
  cryptoTransactionId: purchase.txHash,
  returnUrl: purchase.returnUrl,
  externalTransactionId: purchase.reference,
  externalCustomerId: null,
  paymentMethod: 'credit_debit_card',
  baseCurrency: { code: purchase.fiatCurrency.toLowerCase(), type: 'fiat' },
  currency: { code: CURRENCY, type: 'crypto', precision: 6, metadata: { networkCode: 'solana' } },
});

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text);

/** The fields of a widget's query string, or the reason why MoonPay refuses it. */
const readSearch = (
  search: string,
  { publishableKey, secretKey }: SandboxKeys['moonpay'],
): Record<string, string> | string => {
  const match = /^(\?.*)&signature=([^&]*)$/.exec(search);
  if (match === null) return 'The URL is not signed, or the signature does not come last.';
  const given = Buffer.from(decodeURIComponent(match[2]!), 'base64');
  const expected = hmac(secretKey, match[1]!).digest();
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return 'The signature does not match the URL.';
  }
  const fields = Object.fromEntries(new URLSearchParams(match[1]));
  if (fields.apiKey !== publishableKey) return 'The API key is unknown.';
  if (fields.currencyCode !== CURRENCY) return `This sandbox sells only ${CURRENCY}.`;
  if (!/^[0-9]{1,7}(\.[0-9]{1,2})?$/.test(fields.baseCurrencyAmount ?? '')) return 'The amount is invalid.';
  try {
    new PublicKey(fields.walletAddress ?? '');
  } catch {
    return 'The wallet address is invalid.';
  }
  return fields;
};

const failure = (reply: FastifyReply, problem: string) =>
  reply
    .code(400)
    .type('text/html')
    .send(page('MoonPay sandbox', `<p>${problem}</p>`));

const webhooksOf =
  ({ keys, webhookUrl }: MoonpayOptions): WebhookOf =>
  (purchase, change) => {
    const changed = purchase.status === 'failed' ? 'transaction_failed' : 'transaction_updated';
    const type = change === 'created' ? 'transaction_created' : changed;
    return {
      url: webhookUrl,
      body: JSON.stringify({ type, data: transactionOf(purchase), externalCustomerId: null }),
      sign: (body) => {
        const time = Math.floor(Date.now() / 1000);
        return {
          'moonpay-signature-v2': `t=${time},s=${hmac(keys.webhookKey, `${time}.${body}`).digest('hex')}`,
          // MoonPay also sends the older header, which signs only the body.
          'moonpay-signature': hmac(keys.webhookKey, body).digest('base64'),
        };
      },
    };
  };

const findPurchase = (purchases: Purchases, id: string | undefined): Purchase | undefined => {
  const purchase = purchases.find(id ?? '');
  return purchase?.provider === 'moonpay' ? purchase : undefined;
};

/** The widget: the purchase and its payment methods. */
const registerWidget = (app: FastifyInstance, { keys, flow }: MoonpayOptions): void => {
  app.get('/', (request, reply) => {
    const search = request.url.slice(request.url.indexOf('?'));
    const fields = readSearch(search, keys);
    if (typeof fields === 'string') return failure(reply, fields);
    const shown = definitions({
      'You pay': `${fields.baseCurrencyAmount} ${fields.baseCurrencyCode?.toUpperCase()}`,
      'You get': displayUsdc(usdcFor(fields.baseCurrencyAmount!)),
      Wallet: fields.walletAddress!,
    });
    const choices = buttons({
      approve: 'Approve',
      three_d_secure: 'Approve with 3-D Secure',
      bank: 'Pay by bank transfer',
      decline: 'Decline',
    });
    const body = shown + form('pay', { search }, `${choices}${behaviourFields}`);
    return reply.type('text/html').send(page('MoonPay sandbox', body));
  });

  app.post('/pay', (request, reply) => {
    const posted = request.body as Record<string, string>;
    const fields = readSearch(posted.search ?? '', keys);
    if (typeof fields === 'string') return failure(reply, fields);
    const now = new Date().toISOString();
    const status = { three_d_secure: 'waiting_authorization', bank: 'waiting_payment' } as const;
    const purchase: Purchase = {
      id: randomUUID(),
      provider: 'moonpay',
      reference: fields.externalTransactionId ?? '',
      wallet: fields.walletAddress!,
      fiatCurrency: fields.baseCurrencyCode ?? '',
      fiatAmount: fields.baseCurrencyAmount!,
      amountMicro: usdcFor(fields.baseCurrencyAmount!).toString(),
      returnUrl: fields.redirectURL ?? null,
      status: status[posted.action as keyof typeof status] ?? 'waiting_authorization',
      failureReason: null,
      txHash: null,
      transfer: null,
      behaviour: behaviourOf(posted),
      createdAt: now,
      updatedAt: now,
    };
    flow.open(purchase);
    if (posted.action === 'three_d_secure' || posted.action === 'bank') {
      return reply.redirect(`step?id=${purchase.id}`, 303);
    }
    if (posted.action === 'approve') flow.pay(purchase);
    else flow.fail(purchase, 'rejected_card');
    return reply.redirect(`done?id=${purchase.id}`, 303);
  });
};

/** The bank's page: the 3-D Secure challenge, or the expected transfer. */
const registerBank = (app: FastifyInstance, { purchases, flow }: MoonpayOptions): void => {
  app.get<{ Querystring: { id?: string } }>('/step', (request, reply) => {
    const purchase = findPurchase(purchases, request.query.id);
    if (purchase === undefined) return failure(reply, 'This payment does not exist.');
    const names =
      purchase.status === 'waiting_payment'
        ? { confirm: 'The transfer has arrived', refuse: 'It never comes', cancel: 'Cancel' }
        : { confirm: 'Confirm', refuse: 'Refuse', cancel: 'Cancel' };
    const title = purchase.status === 'waiting_payment' ? 'Your bank: transfer' : 'Your bank: 3-D Secure';
    return reply.type('text/html').send(page(title, form('step', { id: purchase.id }, buttons(names))));
  });

  app.post('/step', (request, reply) => {
    const { id, action } = request.body as Record<string, string>;
    const purchase = findPurchase(purchases, id);
    if (purchase === undefined) return failure(reply, 'This payment does not exist.');
    const waits = purchase.status === 'waiting_payment' || purchase.status === 'waiting_authorization';
    if (waits && action === 'confirm') flow.pay(purchase);
    else if (waits && action === 'cancel') flow.fail(purchase, 'cancelled');
    else if (waits) {
      const bank = purchase.status === 'waiting_payment';
      flow.fail(purchase, bank ? 'timeout_bank_transfer' : 'timeout_3d_secure');
    }
    return reply.redirect(`done?id=${purchase.id}`, 303);
  });
};

export const registerMoonpay = (app: FastifyInstance, options: MoonpayOptions): void => {
  const { keys, purchases, flow } = options;
  flow.reportBy('moonpay', webhooksOf(options));
  registerWidget(app, options);
  registerBank(app, options);

  app.get<{ Querystring: { id?: string } }>('/done', (request, reply) => {
    const purchase = findPurchase(purchases, request.query.id);
    if (purchase === undefined) return failure(reply, 'This payment does not exist.');
    const added = { transactionId: purchase.id, transactionStatus: STATUSES[purchase.status] };
    return reply.type('text/html').send(donePage('MoonPay sandbox', purchase, added));
  });

  const known = (apiKey: string | undefined) => apiKey === keys.publishableKey;
  type Ask = { Params: { id: string }; Querystring: { apiKey?: string } };

  app.get<Ask>('/v1/transactions/ext/:id', ({ params, query }, reply) =>
    known(query.apiKey)
      ? purchases.of('moonpay', params.id).map(transactionOf)
      : reply.code(401).send({ message: 'Unknown API key' }),
  );
  app.get<Ask>('/v1/transactions/:id', ({ params, query }, reply) => {
    if (!known(query.apiKey)) return reply.code(401).send({ message: 'Unknown API key' });
    const purchase = findPurchase(purchases, params.id);
    return purchase === undefined ? reply.code(404).send({ message: 'Not found' }) : transactionOf(purchase);
  });
};
