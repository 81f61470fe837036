import { createHmac, randomUUID } from 'node:crypto';
import { PublicKey } from '@solana/web3.js';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { importJWK, jwtVerify } from 'jose';
import { z } from 'zod';
import { displayUsdc, plainUsdc } from '../../../shared/lib/money/usdc.ts';
import type { SandboxKeys } from './config.ts';
import { behaviourFields, behaviourOf, buttons, definitions, donePage, form, page } from './page.ts';
import type { PurchaseFlow, WebhookOf } from './purchase-flow.ts';
import { type Purchase, type PurchaseStatus, type Purchases, usdcFor } from './purchases.ts';

/**
 * A model of Coinbase Onramp: sessions for a signed token, a payment page that can be used once,
 * signed webhooks, and the status of a user's payments. It was written from Coinbase's
 * documentation and independently of our adapter.
 */
type CoinbaseOptions = {
  keys: SandboxKeys['coinbase'];
  purchases: Purchases;
  flow: PurchaseFlow;
  webhookUrl: string;
  /** The sandbox's own URL, for the address of the payment page. */
  baseUrl: () => string;
};

const STATUSES: Record<PurchaseStatus, string> = {
  waiting_payment: 'AWAITING_PAYMENT',
  waiting_authorization: 'AWAITING_AUTH',
  pending: 'IN_PROGRESS',
  completed: 'SUCCESS',
  failed: 'FAILED',
};
const SESSION_MS = 5 * 60_000;
/** The card number that is accepted. Every other one is declined. */
const GOOD_CARD = '4242424242424242';
const MAX_TOKEN_SECONDS = 120;

const SessionRequest = z.object({
  purchaseCurrency: z.literal('USDC'),
  destinationNetwork: z.literal('solana'),
  destinationAddress: z.string().refine((text) => {
    try {
      return new PublicKey(text).toBase58() === text;
    } catch {
      return false;
    }
  }),
  paymentAmount: z.string().regex(/^[0-9]{1,7}(\.[0-9]{1,2})?$/),
  paymentCurrency: z.string().regex(/^[A-Z]{3}$/),
  partnerUserRef: z.string().min(1).max(49),
  redirectUrl: z.url().optional(),
});
type Session = z.infer<typeof SessionRequest> & { madeAt: number };

const transactionOf = (purchase: Purchase) => ({
  transactionId: purchase.id,
  status: `ONRAMP_TRANSACTION_STATUS_${STATUSES[purchase.status]}`,
  purchaseCurrency: 'USDC',
  purchaseNetwork: 'solana',
  purchaseAmount: { currency: 'USDC', value: plainUsdc(purchase.amountMicro) },
  paymentTotal: { currency: purchase.fiatCurrency, value: purchase.fiatAmount },
  txHash: purchase.txHash ?? '',
  createdAt: purchase.createdAt,
  completedAt: purchase.status === 'completed' ? purchase.updatedAt : null,
  paymentMethod: 'CARD',
  walletAddress: purchase.wallet,
  type: 'ONRAMP_TRANSACTION_TYPE_BUY_AND_SEND',
  partnerUserRef: purchase.reference,
  ...(purchase.failureReason === null ? {} : { failureReason: purchase.failureReason }),
});
const snakeCase = (fields: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

const refuse = (reply: FastifyReply, status: number, errorType: string, errorMessage: string) =>
  reply.code(status).send({ errorType, errorMessage, correlationId: randomUUID(), errorLink: '' });
const failure = (reply: FastifyReply, problem: string) =>
  reply
    .code(400)
    .type('text/html')
    .send(page('Coinbase sandbox', `<p>${problem}</p>`));

/** Checks whether a request carries a token that we signed for this method, host and path. */
const createAuthenticator = (keys: CoinbaseOptions['keys']) => {
  const publicKey = importJWK({ kty: 'OKP', crv: 'Ed25519', x: keys.publicKey, alg: 'EdDSA' });
  return async (request: FastifyRequest): Promise<boolean> => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) return false;
    try {
      const { payload, protectedHeader } = await jwtVerify(token, await publicKey, {
        issuer: 'cdp',
        subject: keys.keyId,
        algorithms: ['EdDSA'],
        requiredClaims: ['exp', 'nbf', 'iat'],
        typ: 'JWT',
      });
      const path = new URL(request.url, 'http://host').pathname;
      const uri = `${request.method} ${request.headers.host}${path}`;
      const life = payload.exp! - payload.iat!;
      return (
        protectedHeader.kid === keys.keyId &&
        life <= MAX_TOKEN_SECONDS &&
        Array.isArray(payload.uris) &&
        payload.uris.includes(uri)
      );
    } catch {
      return false;
    }
  };
};

const webhooksOf =
  ({ keys, webhookUrl }: CoinbaseOptions): WebhookOf =>
  (purchase, change) => {
    const last = { completed: 'success', failed: 'failed' }[purchase.status as string];
    const eventType = `onramp.transaction.${change === 'created' ? change : (last ?? 'updated')}`;
    const id = randomUUID();
    return {
      url: webhookUrl,
      body: JSON.stringify({ eventType, ...transactionOf(purchase) }),
      sign: (body) => {
        const headers: Record<string, string> = {
          'content-type': 'application/json',
          'x-event-id': id,
          'x-event-type': eventType,
        };
        const time = Math.floor(Date.now() / 1000);
        const hmac = (text: string) => createHmac('sha256', keys.webhookSecret).update(text).digest('hex');
        const names = Object.keys(headers).join(' ');
        const bound = `${time}.${names}.${Object.values(headers).join('.')}.${body}`;
        const signature = `t=${time},v0=${hmac(`${time}.${body}`)},h=${names},v1=${hmac(bound)}`;
        return { ...headers, 'x-hook0-signature': signature };
      },
    };
  };

const purchaseOf = (session: Session, behaviour: Purchase['behaviour']): Purchase => {
  const now = new Date().toISOString();
  return {
    id: randomUUID(),
    provider: 'coinbase',
    reference: session.partnerUserRef,
    wallet: session.destinationAddress,
    fiatCurrency: session.paymentCurrency,
    fiatAmount: session.paymentAmount,
    amountMicro: usdcFor(session.paymentAmount).toString(),
    returnUrl: session.redirectUrl ?? null,
    status: 'waiting_payment',
    failureReason: null,
    txHash: null,
    transfer: null,
    behaviour,
    createdAt: now,
    updatedAt: now,
  };
};

/** The payment page of a session and the page after it. */
const registerPages = (
  app: FastifyInstance,
  { purchases, flow }: CoinbaseOptions,
  sessions: Map<string, Session>,
): void => {
  const sessionOf = (token: string | undefined): Session | string => {
    const session = sessions.get(token ?? '');
    if (session === undefined) return 'This payment page does not exist or was already used.';
    return Date.now() - session.madeAt > SESSION_MS ? 'This payment page has expired.' : session;
  };

  app.get<{ Querystring: { sessionToken?: string } }>('/buy', (request, reply) => {
    const { sessionToken } = request.query;
    const session = sessionOf(sessionToken);
    if (typeof session === 'string') return failure(reply, session);
    const shown = definitions({
      'You pay': `${session.paymentAmount} ${session.paymentCurrency}`,
      'You get': displayUsdc(usdcFor(session.paymentAmount)),
      Wallet: session.destinationAddress,
    });
    const inputs = `<label>Card <input type="text" name="card" value="4242 4242 4242 4242" inputmode="numeric"></label>
<label>Code, any six digits <input type="text" name="code" value="000000" inputmode="numeric"></label>
${buttons({ pay: 'Pay', decline: 'Pay with a card that is declined' })}${behaviourFields}`;
    const body = shown + form('pay', { sessionToken: sessionToken! }, inputs);
    return reply.type('text/html').send(page('Coinbase sandbox', body));
  });

  app.post('/pay', (request, reply) => {
    const posted = request.body as Record<string, string>;
    const session = sessionOf(posted.sessionToken);
    if (typeof session === 'string') return failure(reply, session);
    if (!/^[0-9]{6}$/.test(posted.code ?? '')) return failure(reply, 'The code must have six digits.');
    sessions.delete(posted.sessionToken!);
    const purchase = purchaseOf(session, behaviourOf(posted));
    flow.open(purchase);
    const good = posted.card?.replaceAll(' ', '') === GOOD_CARD && posted.action !== 'decline';
    if (good) flow.pay(purchase);
    else flow.fail(purchase, 'FAILURE_REASON_BUY_FAILED');
    return reply.redirect(`done?id=${purchase.id}`, 303);
  });

  app.get<{ Querystring: { id?: string } }>('/done', (request, reply) => {
    const purchase = purchases.find(request.query.id ?? '');
    if (purchase?.provider !== 'coinbase') return failure(reply, 'This payment does not exist.');
    return reply.type('text/html').send(donePage('Coinbase sandbox', purchase));
  });
};

export const registerCoinbase = (app: FastifyInstance, options: CoinbaseOptions): void => {
  const { keys, purchases, flow, baseUrl } = options;
  const sessions = new Map<string, Session>();
  const isAuthentic = createAuthenticator(keys);

  flow.reportBy('coinbase', webhooksOf(options));
  registerPages(app, options, sessions);

  app.post('/platform/v2/onramp/sessions', async (request, reply) => {
    if (!(await isAuthentic(request))) return refuse(reply, 401, 'unauthorized', 'The token is not valid.');
    const wanted = SessionRequest.safeParse(request.body);
    if (!wanted.success) {
      const fields = wanted.error.issues.map(({ path }) => path.join('.')).join(', ');
      return refuse(reply, 400, 'invalid_request', `Missing or invalid: ${fields}`);
    }
    const token = randomUUID();
    sessions.set(token, { ...wanted.data, madeAt: Date.now() });
    const onrampUrl = `${baseUrl()}/buy?sessionToken=${token}`;
    return reply.code(201).send({ session: { onrampUrl } });
  });

  app.get<{ Params: { user: string } }>('/onramp/v1/buy/user/:user/transactions', async (request, reply) => {
    if (!(await isAuthentic(request))) return refuse(reply, 401, 'unauthorized', 'The token is not valid.');
    const transactions = purchases.of('coinbase', request.params.user).map(transactionOf).map(snakeCase);
    return { transactions, next_page_key: '', total_count: String(transactions.length) };
  });
};
