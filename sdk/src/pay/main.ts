import { type Client, createClient } from '../client.ts';
import type { Credential } from '../credential.ts';
import { createTokenVerifier, type Environment } from '../tokens.ts';
import type { Fetch } from '../transport.ts';
import { type Budget, createLedger } from './budget.ts';
import { type CallInit, readCall } from './call.ts';
import { PaymentKeyReusedError } from './errors.ts';
import { createExchange } from './exchange.ts';
import type { Network } from './external-offers.ts';
import { createExternalPayments } from './external-payments.ts';
import { paymentOf, withPayment } from './payment-of.ts';
import { createPayments } from './payments.ts';
import type { Approve } from './price.ts';
import { createReports } from './reports.ts';
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
export { type Payment, paymentOf } from './payment-of.ts';
export type { Approve, Price } from './price.ts';
export type { Rules } from './rules.ts';
export { memoryPayments, type PaymentRecord, type PaymentStore } from './store.ts';

/** A sign-in of the account, for programs that a person uses. Agents get a delegate key. */
export type SignedIn = { environment: Environment; signIn: Credential };

export type PayOptions = Rules & {
  /**
   * The address of the API. Its keys verify every quote, and payments go there, whatever a vendor's
   * answer names.
   */
  baseUrl: string;
  /** `dk_test_…` or `dk_live_…`: it also determines the environment. Or a sign-in, with its own. */
  delegateKey: string | SignedIn;
  budget?: Budget;
  /** The final decision on a price that passes all rules. False: it is not paid. */
  approve?: Approve;
  /**
   * False: a 402 of a vendor that does not use Quittance is returned unchanged. Otherwise it is
   * paid if its offer of x402 is payable and the delegate's `external` allows it.
   */
  x402?: boolean;
  /** Default: in memory. Use a durable store if a crash must not lose what was paid for. */
  store?: PaymentStore;
  /** Bodies are held in memory to be sent again. Default 1 MiB. */
  maxBodyBytes?: number;
};

export type PayInit = CallInit & {
  /**
   * Your id of one purchase. Calls with the same key, concurrent or after a crash, pay once until
   * it is delivered. Without a key, a call first uses what an equal request has paid without a
   * delivery, and concurrent equal calls buy one each. If several calls with one key run at once,
   * the signal of the first counts.
   */
  paymentKey?: string;
};
export type PayingFetch = (input: string | URL | Request, init?: PayInit) => Promise<Response>;

const MAX_BODY_BYTES = 1_048_576;

const keyOf = (delegateKey: string): SignedIn => {
  const environment = /^dk_(test|live)_/.exec(delegateKey)?.[1] as Environment | undefined;
  // The message omits the text, because it may be another secret.
  if (environment === undefined) throw new TypeError('delegateKey is not a delegate key');
  return { environment, signIn: delegateKey };
};

/** Reads the network of an environment once. It never changes. */
const networkOf = (client: Client, environment: Environment) => {
  let held: Network | null = null;
  return async (): Promise<Network | null> => {
    if (held !== null) return held;
    const { usdc_mint, x402_network } = (await client.gateway.environments()).environments[environment] ?? {};
    if (usdc_mint !== undefined && x402_network != null) held = { usdc_mint, x402_network };
    return held;
  };
};

/**
 * A fetch that pays. A 402 with a quote of this payment system is verified, checked against the
 * rules and paid with the delegate key, and the request is sent again. A 402 without one is paid if
 * it offers an exact price of x402 on the API's network, by the same rules. Every other answer is
 * returned unchanged. One call pays at most once. If another buyer has paid the quote, the vendor
 * is asked for another one. `paymentOf` returns what an answer has cost.
 * @throws PaymentDeclinedError and its kinds, or BadTokenError: nothing was paid
 * @throws ApiError, PaymentUndecidedError or PaidElsewhereError of settle, if it did not pay or
 * the outcome is unknown
 * @throws ApprovalRequiredError if the owner must approve the payment first; the same call with the
 * same key goes on with it
 * @throws NotDeliveredError if the vendor has the payment and does not deliver
 * @throws PaymentOpenError if a vendor of x402 has the payment, does not deliver, and may still use
 *   it
 */
export const payingFetch = (
  fetch: Fetch,
  {
    baseUrl,
    delegateKey,
    budget = {},
    approve,
    store = memoryPayments(),
    x402 = true,
    maxBodyBytes,
    ...rules
  }: PayOptions,
): PayingFetch => {
  const { environment, signIn } = typeof delegateKey === 'string' ? keyOf(delegateKey) : delegateKey;
  const client = createClient({ baseUrl, credential: signIn, fetch });
  const ledger = createLedger(budget);
  const { checkQuote, checkPrice } = createRules(rules);
  const ask = approve ?? (() => true);
  const report = client.settlement.reportExternal;
  const exchange = createExchange({
    fetch,
    verify: createTokenVerifier(environment, async () => (await client.gateway.jwks({ environment })).keys),
    payments: createPayments({
      settle: client.settlement.settle,
      read: client.settlement.get,
      check: checkQuote,
      ledger,
      approve: ask,
      store,
    }),
    external: createExternalPayments({
      fetch,
      pay: client.settlement.payExternal,
      report,
      reports: createReports(report, store),
      network: x402 ? networkOf(client, environment) : async () => null,
      check: checkPrice,
      ledger,
      approve: ask,
      store,
    }),
  });

  /**
   * Calls with a key in progress. Further calls wait for the first and get copies of its answer.
   */
  const inFlight = new Map<string, { fingerprint: string; answer: Promise<Response> }>();

  return async (input, { paymentKey, ...more } = {}) => {
    const { maxAmount: _max, approve: _approve, ...init } = more;
    const call = await readCall(input, more, maxBodyBytes ?? MAX_BODY_BYTES);
    // Other schemes (data:, blob:) are never paid.
    if (!/^https?:/.test(call.url)) return fetch(call.url, init);
    if (paymentKey === undefined) return exchange(call, `call:${call.fingerprint}`);
    const under = inFlight.get(paymentKey);
    if (under !== undefined) {
      if (under.fingerprint !== call.fingerprint)
        throw new PaymentKeyReusedError('The key belongs to another request.');
      // Cloning is still possible, because the first caller awaits one more promise before it
      // reads.
      const answer = await under.answer;
      return withPayment(answer.clone(), paymentOf(answer));
    }
    const answer = exchange(call, `key:${paymentKey}`).finally(() => inFlight.delete(paymentKey));
    inFlight.set(paymentKey, { fingerprint: call.fingerprint, answer });
    return answer;
  };
};
