import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { conflict, ServiceError } from '../../../../shared/contract/errors.ts';
import type { OnrampProvider } from '../../../../shared/contract/funding/deposits.ts';
import { DepositId, TransactionHash } from '../../../../shared/contract/primitives.ts';
import type { ReportedEvent } from '../model.ts';

/** What a payment page is opened for. Fiat amounts are decimal texts, as the caller sent them. */
export type Purchase = {
  depositId: string;
  /** Where the USDC goes: the wallet's address. */
  owner: string;
  fiatCurrency: string;
  fiatAmount: string;
  /** Where the browser goes afterwards. */
  returnUrl: string | null;
};

/** What a provider reports of one payment: read from a signed webhook or from its API. */
export type Report = {
  depositId: string;
  /** The provider's id of the payment; one deposit may have several. */
  transactionId: string;
  /** As the provider writes it. With the transaction id it identifies a repeat. */
  providerStatus: string;
  event: ReportedEvent;
  /** USDC micro-units; null while unknown and for another currency. */
  amountMicro: bigint | null;
  txHash: string | null;
  /** The wallet that the provider reports as its destination. */
  walletAddress: string | null;
  /** Why the payment failed. */
  reason: string | null;
};

/** A webhook as it was received; header names are in lower case. */
export type SignedMessage = { body: Buffer; headers: Readonly<Record<string, string>> };

/** One fiat on-ramp. Everything specific to a provider is behind these three functions. */
export type Onramp = {
  /**
   * Makes the payment page.
   * @throws ServiceError conflict when the provider refuses the purchase, service_unavailable when
   *   it does not answer
   */
  open: (purchase: Purchase) => Promise<{ paymentUrl: string; promisedMicro: bigint | null }>;
  /**
   * Checks the signature over the bytes and reads them. Null: authentic, but not about a deposit.
   * @throws ServiceError unauthorized, or validation_error for an authentic message of an unknown
   *   form
   */
  readWebhook: (message: SignedMessage) => Report | null;
  /** All payments of a deposit that the provider knows. @throws ServiceError service_unavailable */
  poll: (depositId: string) => Promise<Report[]>;
};

/** The providers that this environment has keys for. */
export type Onramps = Partial<Record<OnrampProvider, Onramp>>;

const unauthorized = () => new ServiceError('unauthorized', 'the signature is not valid');

/**
 * How far a signed time may be from the service's clock, in both directions. Coinbase names this
 * bound, MoonPay names none.
 */
const TOLERANCE_SECONDS = 300;

/**
 * The `name=value` pairs of a signature header. @throws ServiceError unauthorized for a repeated
 * name
 */
export const signatureParts = (header: string | undefined): ReadonlyMap<string, string> => {
  const parts = new Map<string, string>();
  for (const part of (header ?? '').split(',')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(at, 0)).trim();
    if (at < 1 || parts.has(name)) throw unauthorized();
    parts.set(name, part.slice(at + 1).trim());
  }
  return parts;
};

/**
 * Checks `hex(HMAC-SHA256(key, signed))` in constant time, and the time of the signature.
 * @param time seconds since 1970 as in the header; it must be among the signed parts
 * @throws ServiceError unauthorized
 */
export const checkSignature = ({
  key,
  signed,
  signature,
  time,
  now,
}: {
  key: string;
  signed: readonly (string | Buffer)[];
  signature: string | undefined;
  time: string | undefined;
  now: number;
}): void => {
  const mac = createHmac('sha256', key);
  for (const part of signed) mac.update(part);
  const received = /^[0-9a-f]{64}$/.test(signature ?? '') ? Buffer.from(signature!, 'hex') : Buffer.alloc(32);
  const same = timingSafeEqual(mac.digest(), received);
  const fresh = /^[0-9]{1,12}$/.test(time ?? '') && Math.abs(now / 1000 - Number(time)) <= TOLERANCE_SECONDS;
  if (!same || !fresh) throw unauthorized();
};

/**
 * Parses JSON and keeps every number as its text, so that no amount becomes a float.
 * @throws SyntaxError
 */
export const parseExact = (text: string): unknown =>
  JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' ? (context?.source ?? String(value)) : value,
  );

/** The body of an authentic message. @throws ServiceError validation_error */
export const messageBody = (body: Buffer): unknown => {
  try {
    return parseExact(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    throw new ServiceError('validation_error', 'the body is not JSON');
  }
};

/** A provider's id of a payment. Postgres stores no NUL and no half of a surrogate pair. */
export const ProviderId = z.string().regex(/^[^\p{C}]{1,128}$/u);

/** A deposit's id, or null for any other text. */
export const parseDepositId = (text: string | null | undefined): string | null => {
  const parsed = DepositId.safeParse(text);
  return parsed.success ? parsed.data : null;
};

/** A transaction's signature, or null for any other text. */
export const parseTxHash = (text: string | null | undefined): string | null => {
  const parsed = TransactionHash.safeParse(text);
  return parsed.success ? parsed.data : null;
};

const TIMEOUT_MS = 8000;
const MAX_ANSWER_CHARS = 1_000_000;

/**
 * Calls the API of a provider. Neither its answer nor the URL, which may hold a key, is repeated in
 * an error or a log.
 * @param ifUnknown the result for the status 404
 * @throws ServiceError conflict for a refusal (4xx), service_unavailable for every other failure
 */
export const requestProvider = async (
  url: URL,
  init: RequestInit,
  { ifUnknown }: { ifUnknown?: unknown } = {},
): Promise<unknown> => {
  let status = 0;
  try {
    const response = await fetch(url, {
      ...init,
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    status = response.status;
    const text = await response.text();
    if (response.ok && text.length <= MAX_ANSWER_CHARS) return parseExact(text);
  } catch {
    status = 0;
  }
  if (status === 404 && ifUnknown !== undefined) return ifUnknown;
  // A 401 or a 429 concerns the platform's credentials and limits. It does not refuse the purchase.
  if (status >= 400 && status < 500 && ![401, 403, 404, 408, 429].includes(status)) {
    throw conflict('the provider refuses this purchase: try another amount or currency');
  }
  throw new ServiceError('service_unavailable', 'the provider does not answer right now', {
    retryAfterSeconds: 30,
  });
};
