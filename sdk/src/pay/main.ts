import { createClient } from '../client.ts';
import { createTokenVerifier, type Environment, type QuoteClaims } from '../tokens.ts';
import type { Fetch } from '../transport.ts';
import type { Budget } from './budget.ts';
import { readCall } from './call.ts';
import { PaymentKeyReusedError } from './errors.ts';
import { createExchange } from './exchange.ts';
import { createPayments } from './payments.ts';
import { createRules, type Rules } from './rules.ts';
import { memoryPayments, type PaymentStore } from './store.ts';

export { isResourceOf, resourceOf } from '../resource.ts';
export {
  BadTokenError,
  createTokenVerifier,
  type Environment,
  type QuoteClaims,
  type SettlementClaims,
  type TokenVerifier,
} from '../tokens.ts';
export type { Budget } from './budget.ts';
export type { Settlement } from './dialects.ts';
export * from './errors.ts';
export type { Rules } from './rules.ts';
export { memoryPayments, type PaymentRecord, type PaymentStore } from './store.ts';

export type PayOptions = Rules & {
  /** Where the API is reached. Its keys judge every quote and payments go here, whatever a vendor's answer names. */
  baseUrl: string;
  /** `dk_test_…` or `dk_live_…`: also says which environment's quotes are paid. */
  delegateKey: string;
  budget?: Budget;
  /** The last word on a quote that keeps all rules; false: it is not paid. */
  approve?: (quote: QuoteClaims, call: { method: string; url: string }) => boolean | Promise<boolean>;
  /** Default: in memory. Give a durable one where a crash must not lose what was paid for. */
  store?: PaymentStore;
  /** Bodies are kept in memory to be sent again. Default 1 MiB. */
  maxBodyBytes?: number;
};

export type PayInit = RequestInit & {
  /**
   * Yours for one purchase: calls with the same key, at once or after a crash, pay once until it is delivered. Without a key a
   * call first uses up what an equal request has paid and was not delivered; equal calls at once buy one each. Of calls with
   * one key at once the first one's signal counts.
   */
  paymentKey?: string;
};
export type PayingFetch = (input: string | URL | Request, init?: PayInit) => Promise<Response>;

const MAX_BODY_BYTES = 1_048_576;

/**
 * A fetch that pays. A 402 with a bill of this payment system is verified, held against the rules,
 * paid with the delegate key and asked again; every other answer, a 402 in another language too,
 * comes back untouched. One call pays at most once. Where another buyer has paid the quote, the
 * vendor is asked for another one.
 * @throws PaymentDeclinedError and its kinds, or BadTokenError: nothing was paid
 * @throws ApiError, PaymentUndecidedError or PaidElsewhereError of settle, when it did not pay or
 * it is not known yet
 * @throws NotDeliveredError when the vendor has the payment and does not deliver
 */
export const payingFetch = (
  fetch: Fetch,
  {
    baseUrl,
    delegateKey,
    budget = {},
    approve,
    store = memoryPayments(),
    maxBodyBytes,
    ...rules
  }: PayOptions,
): PayingFetch => {
  const environment = /^dk_(test|live)_/.exec(delegateKey)?.[1] as Environment | undefined;
  // Said without the text: it may be another secret.
  if (environment === undefined) throw new TypeError('delegateKey is not a delegate key');
  const client = createClient({ baseUrl, credential: delegateKey, fetch });
  const exchange = createExchange({
    fetch,
    verify: createTokenVerifier(environment, async () => (await client.gateway.jwks({ environment })).keys),
    payments: createPayments({
      settle: client.settlement.settle,
      read: client.settlement.get,
      check: createRules(rules),
      budget,
      approve: approve ?? (() => true),
      store,
    }),
  });

  /** Calls with a key that are under way: the others wait for the one and get copies of its answer. */
  const inFlight = new Map<string, { fingerprint: string; answer: Promise<Response> }>();

  return async (input, { paymentKey, ...init } = {}) => {
    const call = await readCall(input, init, maxBodyBytes ?? MAX_BODY_BYTES);
    // What is no request over HTTP (data:, blob:) costs nothing.
    if (!/^https?:/.test(call.url)) return fetch(call.url, init);
    if (paymentKey === undefined) return exchange(call, `call:${call.fingerprint}`);
    const under = inFlight.get(paymentKey);
    if (under !== undefined) {
      if (under.fingerprint !== call.fingerprint)
        throw new PaymentKeyReusedError('the key stands for another request');
      // In time: this was waiting for the answer itself, the first caller waits for one promise more before it can read.
      return (await under.answer).clone();
    }
    const answer = exchange(call, `key:${paymentKey}`).finally(() => inFlight.delete(paymentKey));
    inFlight.set(paymentKey, { fingerprint: call.fingerprint, answer });
    return answer;
  };
};
