import { randomBytes } from 'node:crypto';

/**
 * Clients of x402 and MPP as a vendor sees them: they read a 402 and answer with a credential. The
 * transaction is random bytes in the form of one. test/interop uses the unmodified clients.
 */

/** A wire transaction with an empty slot for the fee payer, and the payer's signature. */
export const wireTransaction = (message: Buffer = randomBytes(200)): string =>
  Buffer.concat([Buffer.from([2]), Buffer.alloc(64), randomBytes(64), message]).toString('base64');

const toBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const toBase64Url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
// biome-ignore lint/suspicious/noExplicitAny: answers are checked field by field
export const fromBase64 = (text: string | null): any => JSON.parse(Buffer.from(text!, 'base64').toString());

/** The fields of an MPP challenge as the header has them. */
export const challengeOf = (headers: Headers): Record<string, string> => {
  const text = headers.get('www-authenticate')!;
  const fields = [...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
  return Object.fromEntries(fields);
};

type Credential = Record<string, string>;
export type Rail = 'x402' | 'mpp';

/** The header of a payment for the offer of a 402. */
export const paymentOn: Record<Rail, (headers: Headers, transaction?: string) => Credential> = {
  x402: (headers, transaction = wireTransaction()) => {
    const { resource, accepts } = fromBase64(headers.get('payment-required'));
    const payment = { x402Version: 2, resource, accepted: accepts[0], payload: { transaction } };
    return { 'payment-signature': toBase64(payment) };
  },
  mpp: (headers, transaction = wireTransaction()) => {
    const credential = { challenge: challengeOf(headers), payload: { type: 'transaction', transaction } };
    return { authorization: `Payment ${toBase64Url(credential)}` };
  },
};

/** A payment of x402 version 1, which answers the requirements in the body. */
export const paymentV1 = (network: string, transaction = wireTransaction()): Credential => ({
  'x-payment': toBase64({ x402Version: 1, scheme: 'exact', network, payload: { transaction } }),
});

/** The memo that the offer of a 402 requires. */
export const memoOf: Record<Rail, (headers: Headers) => string> = {
  x402: (headers) => fromBase64(headers.get('payment-required')).accepts[0].extra.memo,
  mpp: (headers) => fromBase64(challengeOf(headers).request!).externalId,
};
