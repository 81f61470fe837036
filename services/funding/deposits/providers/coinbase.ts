import { createPrivateKey, type KeyObject, randomBytes } from 'node:crypto';
import { SignJWT } from 'jose';
import { z } from 'zod';
import { ServiceError } from '../../../../shared/contract/errors.ts';
import { privateKeyFromSeed } from '../../../../shared/lib/chain/ed25519.ts';
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
  type SignedMessage,
  signatureParts,
} from './onramp.ts';

/** The secret of a Coinbase API key: base64 of seed and public key (Ed25519), or a PEM (ES256). */
const ApiKeySecret = z.string().transform((text, context): { alg: 'EdDSA' | 'ES256'; key: KeyObject } => {
  try {
    if (text.startsWith('-----BEGIN')) return { alg: 'ES256', key: createPrivateKey(text) };
    const bytes = Buffer.from(text, 'base64');
    if (bytes.length === 64) return { alg: 'EdDSA', key: privateKeyFromSeed(bytes.subarray(0, 32)) };
  } catch {
    // The issue below reports it without the text, which is a secret.
  }
  context.addIssue({ code: 'custom', message: 'must be base64 of 64 bytes or a PEM' });
  return z.NEVER;
});

/**
 * Coinbase Onramp: its API makes a session. Source: openapi.yaml of coinbase/cdp-sdk and
 * docs.cdp.coinbase.com.
 */
export const CoinbaseConfig = z.strictObject({
  /** https://api.cdp.coinbase.com/platform */
  api_url: z.url({ protocol: /^https?$/ }),
  /** https://api.developer.coinbase.com/onramp */
  status_url: z.url({ protocol: /^https?$/ }),
  key_id: z.string().min(1),
  key_secret: ApiKeySecret,
  /** Of the webhook subscription. */
  webhook_secret: z.string().min(1),
  /** `sandbox-` selects Coinbase's sandbox. */
  user_ref_prefix: z.string().max(20).default(''),
  network: z.string().min(1).default('solana'),
});
export type CoinbaseConfig = z.infer<typeof CoinbaseConfig>;

const JWT_SECONDS = 120;
const PREFIX = 'ONRAMP_TRANSACTION_STATUS_';
const EVENTS = new Map<string, ReportedEvent>([
  ['CREATED', 'waiting'],
  ['AWAITING_AUTH', 'waiting'],
  ['AWAITING_PAYMENT', 'waiting'],
  ['IN_PROGRESS', 'paid'],
  ['SUCCESS', 'sent'],
  ['FAILED', 'refused'],
]);

const Amount = z.union([
  z.object({ currency: z.string(), value: z.string() }),
  z.string().transform((value) => ({ currency: null, value })),
]);
// The objects are open, because Coinbase sends more fields than these. Numbers arrive as their
// texts.
const Transaction = z.object({
  transactionId: ProviderId,
  status: z.string().max(64),
  partnerUserRef: z.string().nullish(),
  purchaseCurrency: z.string().nullish(),
  purchaseNetwork: z.string().nullish(),
  purchaseAmount: Amount.nullish(),
  walletAddress: z.string().nullish(),
  txHash: z.string().nullish(),
  failureReason: z.string().nullish(),
});
const Session = z.object({
  session: z.object({ onrampUrl: z.url({ protocol: /^https?$/ }) }),
  quote: z.object({ purchaseAmount: z.string() }).nullish(),
});
const Page = z.object({ transactions: z.array(z.record(z.string(), z.unknown())) });

const camelCase = (fields: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );

const toReport = (
  transaction: z.infer<typeof Transaction>,
  { user_ref_prefix, network }: CoinbaseConfig,
): Report | null => {
  const reference = transaction.partnerUserRef ?? '';
  const depositId = reference.startsWith(user_ref_prefix)
    ? parseDepositId(reference.slice(user_ref_prefix.length))
    : null;
  const event = EVENTS.get(transaction.status.replace(PREFIX, ''));
  if (depositId === null || event === undefined) return null;
  const { purchaseAmount, purchaseCurrency, purchaseNetwork } = transaction;
  const isUsdc =
    (purchaseAmount?.currency ?? purchaseCurrency) === 'USDC' && (purchaseNetwork ?? network) === network;
  return {
    depositId,
    transactionId: transaction.transactionId,
    providerStatus: transaction.status,
    event,
    amountMicro: isUsdc ? microFromDecimal(purchaseAmount?.value ?? '') : null,
    txHash: parseTxHash(transaction.txHash),
    walletAddress: transaction.walletAddress ?? null,
    reason: transaction.failureReason ?? null,
  };
};

/**
 * Coinbase signs the body (v0), and the body with the headers that it names (v1). v1 is checked
 * where it is present, because it covers more.
 */
const checkWebhook = ({ body, headers }: SignedMessage, key: string, now: number): void => {
  const parts = signatureParts(headers['x-hook0-signature']);
  const time = parts.get('t');
  const [names, withHeaders] = [parts.get('h'), parts.get('v1')];
  const values = names?.split(' ').map((name) => headers[name.toLowerCase()] ?? '');
  const [head, signature] =
    withHeaders === undefined || values === undefined
      ? [`${time}.`, parts.get('v0')]
      : [`${time}.${names}.${values.join('.')}.`, withHeaders];
  checkSignature({ key, signed: [head, body], signature, time, now });
};

const urlOf = (base: string, path: string) => new URL(`${base.replace(/\/$/, '')}${path}`);

/** A token for one request. It names the method, the host and the path. */
const bearer = async (
  { key_id, key_secret }: CoinbaseConfig,
  { method, url, now }: { method: string; url: URL; now: number },
): Promise<string> => {
  const issuedAt = Math.floor(now / 1000);
  const token = await new SignJWT({ uris: [`${method} ${url.host}${url.pathname}`] })
    .setProtectedHeader({
      alg: key_secret.alg,
      kid: key_id,
      typ: 'JWT',
      nonce: randomBytes(16).toString('hex'),
    })
    .setSubject(key_id)
    .setIssuer('cdp')
    .setIssuedAt(issuedAt)
    .setNotBefore(issuedAt)
    .setExpirationTime(issuedAt + JWT_SECONDS)
    .sign(key_secret.key);
  return `Bearer ${token}`;
};

const unknownForm = () =>
  new ServiceError('service_unavailable', 'Coinbase answers in an unknown form; repeat the call later');

/** @param clock the wall clock: Coinbase checks tokens and signs messages by its own clock */
export const createCoinbase = (config: CoinbaseConfig, clock: Clock): Onramp => {
  const authorization = (method: string, url: URL) => bearer(config, { method, url, now: clock() });

  return {
    open: async ({ depositId, owner, fiatCurrency, fiatAmount, returnUrl }) => {
      const url = urlOf(config.api_url, '/v2/onramp/sessions');
      const answer = await requestProvider(url, {
        method: 'POST',
        headers: { authorization: await authorization('POST', url), 'content-type': 'application/json' },
        body: JSON.stringify({
          purchaseCurrency: 'USDC',
          destinationNetwork: config.network,
          destinationAddress: owner,
          paymentAmount: fiatAmount,
          paymentCurrency: fiatCurrency,
          // Webhooks repeat only this id of the request, so each deposit is a separate user.
          partnerUserRef: `${config.user_ref_prefix}${depositId}`,
          ...(returnUrl === null ? {} : { redirectUrl: returnUrl }),
        }),
      });
      const made = Session.safeParse(answer);
      if (!made.success) throw unknownForm();
      return {
        paymentUrl: made.data.session.onrampUrl,
        promisedMicro: microFromDecimal(made.data.quote?.purchaseAmount ?? ''),
      };
    },

    readWebhook: (message) => {
      checkWebhook(message, config.webhook_secret, clock());
      const body = messageBody(message.body);
      const type = z.object({ eventType: z.string() }).safeParse(body);
      if (type.success && !type.data.eventType.startsWith('onramp.transaction.')) return null;
      const transaction = Transaction.safeParse(body);
      if (!transaction.success)
        throw new ServiceError('validation_error', 'the message is not a transaction of Coinbase');
      return toReport(transaction.data, config);
    },

    poll: async (depositId) => {
      const reference = `${config.user_ref_prefix}${depositId}`;
      const url = urlOf(config.status_url, `/v1/buy/user/${reference}/transactions`);
      const headers = { authorization: await authorization('GET', url) };
      url.searchParams.set('page_size', '20');
      const page = Page.safeParse(
        await requestProvider(url, { method: 'GET', headers }, { ifUnknown: { transactions: [] } }),
      );
      // The API and the webhooks have the same fields: in snake case here, in camel case there.
      const found = z.array(Transaction).safeParse(page.data?.transactions.map(camelCase));
      if (!found.success) throw unknownForm();
      return found.data
        .reverse()
        .map((each) => toReport({ partnerUserRef: reference, ...each }, config))
        .filter((report) => report !== null);
    },
  };
};
