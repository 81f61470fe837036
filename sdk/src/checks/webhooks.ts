import { QuittanceError } from '../errors.ts';
import type { webhooks } from '../generated/types.ts';
import { fromBase64, type HmacKey, hmacKey, utf8 } from './encoding.ts';

/**
 * An event as a webhook endpoint gets it. `type` determines the fields of `data`. The API may add
 * types, so a `switch` needs a default.
 */
export type WebhookEvent = webhooks[keyof webhooks];
/** The event of one type: `WebhookEventOf<'settlement.issued'>`. */
export type WebhookEventOf<T extends WebhookEvent['type']> = Extract<WebhookEvent, { type: T }>;

/** The delivery was not made by the API, or not now. Answer 400 and do nothing else. */
export class WebhookVerificationError extends QuittanceError {
  override readonly name: string = 'WebhookVerificationError';
}

export type WebhookHeaders =
  | { get: (name: string) => string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type VerifyWebhookOptions = {
  /** How much the clocks may differ, in seconds. Default 300. */
  toleranceSeconds?: number;
};

const TOLERANCE_SECONDS = 300;
const PREFIX = 'whsec_';
/** A rotation of the secret gives two. Further ones are not read. */
const MOST_SIGNATURES = 10;

const refuse = (message: string): never => {
  throw new WebhookVerificationError(message);
};

/** The bytes that were signed. */
const bytesOf = (body: unknown): Uint8Array<ArrayBuffer> => {
  if (typeof body === 'string') return utf8(body);
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (ArrayBuffer.isView(body))
    return new Uint8Array(body.buffer, body.byteOffset, body.byteLength) as Uint8Array<ArrayBuffer>;
  throw new TypeError(
    'body: pass the received text or bytes, not the parsed object, because the signature is over the bytes. In Express: express.raw({ type: "application/json" })',
  );
};

const headerIn = (headers: WebhookHeaders, name: string): string => {
  const found =
    typeof headers.get === 'function'
      ? (headers as { get: (name: string) => string | null }).get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  const value = Array.isArray(found) ? found.join(' ') : (found as string | null | undefined);
  return value || refuse(`the header ${name} is missing: the request is no webhook of the API`);
};

const keysOf = (secrets: string | readonly string[]): Promise<HmacKey[]> => {
  const all = typeof secrets === 'string' ? [secrets] : [...(secrets ?? [])];
  if (all.length === 0) throw new TypeError('secret is missing: pass the secret of the endpoint (whsec_…)');
  return Promise.all(
    all.map((secret) => {
      const bytes =
        typeof secret === 'string' && secret.startsWith(PREFIX) && fromBase64(secret.slice(PREFIX.length));
      // The message omits the text, because it may be another secret.
      if (!bytes || bytes.length === 0)
        throw new TypeError(
          'secret: use the text that begins with whsec_, which the creation of the endpoint has shown',
        );
      return hmacKey(bytes);
    }),
  );
};

const checkTime = (timestamp: string, toleranceSeconds: number): void => {
  if (!/^[0-9]{1,12}$/.test(timestamp)) refuse('the header webhook-timestamp is not a time in seconds');
  const age = Math.floor(Date.now() / 1000) - Number(timestamp);
  if (Math.abs(age) <= toleranceSeconds) return;
  const where = age > 0 ? `${age} s ago` : `${-age} s in the future`;
  refuse(
    `the webhook was sent ${where}, and ${toleranceSeconds} s are accepted: it is a replay, or the clock of this machine is wrong`,
  );
};

/** True if one of the signatures was made with one of the keys. Compares in constant time. */
const isSigned = async (
  keys: HmacKey[],
  signatures: string,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> => {
  const macs = signatures
    .split(' ', MOST_SIGNATURES)
    .filter((each) => each.startsWith('v1,'))
    .flatMap((each) => fromBase64(each.slice(3)) ?? []);
  if (macs.length === 0) refuse('the header webhook-signature has no signature of the form v1,…');
  const checks = macs.flatMap((mac) => keys.map((key) => crypto.subtle.verify('HMAC', key, mac, signed)));
  return (await Promise.all(checks)).includes(true);
};

const eventIn = (bytes: Uint8Array): WebhookEvent => {
  let event: Partial<WebhookEvent> | null = null;
  try {
    event = JSON.parse(
      new TextDecoder('utf-8', { fatal: true }).decode(bytes),
    ) as Partial<WebhookEvent> | null;
  } catch {
    // Reported below.
  }
  if (typeof event?.id !== 'string' || typeof event.type !== 'string') refuse('the signed body is no event');
  return event as WebhookEvent;
};

/**
 * Verifies a delivery to a webhook endpoint, and returns its event. It works in Node, browsers and
 * workers. A delivery can be repeated: handle each `event.id` once. Events can arrive in any order.
 * @param body the received text or bytes, before any parser
 * @param headers of the request: `Headers`, or the object of Node's server
 * @param secret `whsec_…` of the endpoint, or a list while it is rotated
 * @throws WebhookVerificationError if it was not signed with a secret, or not in these minutes
 * @throws TypeError if the body is parsed already, or a secret is none
 */
export const verifyWebhook = async (
  body: string | ArrayBuffer | ArrayBufferView,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS }: VerifyWebhookOptions = {},
): Promise<WebhookEvent> => {
  const bytes = bytesOf(body);
  const keys = await keysOf(secret);
  const id = headerIn(headers, 'webhook-id');
  const timestamp = headerIn(headers, 'webhook-timestamp');
  const signatures = headerIn(headers, 'webhook-signature');
  checkTime(timestamp, toleranceSeconds);
  const head = utf8(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + bytes.length);
  signed.set(head);
  signed.set(bytes, head.length);
  if (!(await isSigned(keys, signatures, signed)))
    refuse(
      'no signature matches: the secret is of another endpoint, or the body was changed or parsed on the way',
    );
  return eventIn(bytes);
};
