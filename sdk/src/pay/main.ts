import { bigintFault } from '../amounts.ts';
import { createTokenVerifier, type Environment } from '../checks/tokens.ts';
import { type Client, createClient } from '../client.ts';
import { refuseFault, unlessMissing } from '../options.ts';
import type { Fetch } from '../transport.ts';
import { createLedger } from './base/budget.ts';
import { type Call, type CallInit, readCall } from './base/call.ts';
import { createCallbacks } from './base/callbacks.ts';
import { PaymentKeyReusedError } from './base/errors.ts';
import { receiptOf, withReceipt } from './base/receipt.ts';
import { createReports } from './base/reports.ts';
import { createRules } from './base/rules.ts';
import { memoryStore } from './base/store.ts';
import { createExchange } from './entry/exchange.ts';
import { checked, type PayOptions } from './entry/options.ts';
import type { Network } from './outgoing/offer-dialect.ts';
import { createOutgoingPayments } from './outgoing/outgoing-payments.ts';
import { createPayments } from './payments/payments.ts';
import { createPrepaid } from './payments/prepaid.ts';
import { createTabs } from './payments/tabs.ts';

export type { Amount, NamedUsdc } from '../amounts.ts';
export { isResourceOf, resourceOf } from '../checks/resource.ts';
export {
  BadTokenError,
  createTokenVerifier,
  type Environment,
  type QuoteClaims,
  type SettlementClaims,
  type TokenVerifier,
} from '../checks/tokens.ts';
export type { Budget } from './base/budget.ts';
export type { Callbacks, Declined } from './base/callbacks.ts';
export type { Settlement } from './base/dialects.ts';
export * from './base/errors.ts';
export { type Approve, type Price, payeesOfPrice } from './base/price.ts';
export type { VendorProblem } from './base/problem.ts';
export { type Receipt, receiptOf } from './base/receipt.ts';
export type { Rules } from './base/rules.ts';
export { memoryStore, type PaymentRecord, type PaymentStore } from './base/store.ts';
export { type Usage, usageOf } from './base/usage.ts';
export type { PayOptions, SignedIn } from './entry/options.ts';

export type PayInit = CallInit & {
  /**
   * Your id of one purchase. Calls with the same key, concurrent or after a crash, pay once until
   * it is delivered. Without a key, a call first uses what an equal request has paid without a
   * delivery, and concurrent equal calls buy one each. If several calls with one key run at once,
   * the signal of the first counts.
   */
  paymentKey?: string;
};
export type PayingFetch = {
  (input: string | URL | Request, init?: PayInit): Promise<Response>;
  /**
   * Ends the tabs that are open at vendors, so that they are captured now and the rest of their
   * ceilings is released.
   */
  closeTabs: () => Promise<void>;
};

const MAX_BODY_BYTES = 1_048_576;

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

/** One request of a caller from its first try to the delivery, by checked options. */
const createBuyer = (
  fetch: Fetch,
  { baseUrl, payer, budget = {}, store = memoryStore(), x402 = true, ...rest }: ReturnType<typeof checked>,
) => {
  const { environment, signIn } = payer;
  const client = createClient({ baseUrl, credential: signIn, fetch });
  const ledger = createLedger(budget);
  const { checkQuote, checkExtension, checkPrice } = createRules(rest);
  const { paid, refused, tabEnded } = createCallbacks(rest);
  const approve = rest.approve ?? (() => true);
  const report = client.settlement.reportExternal;
  const read = client.settlement.get;
  const prepaid = createPrepaid(store);
  const tabs = createTabs({
    fetch,
    read,
    ledger,
    store,
    prepaid,
    maxAmount: rest.maxAmount,
    ended: tabEnded,
  });
  const exchange = createExchange({
    fetch,
    read,
    verify: createTokenVerifier(environment, async () => (await client.gateway.jwks({ environment })).keys),
    payments: createPayments({
      settle: client.settlement.settle,
      read,
      prepaid,
      tabs,
      check: checkQuote,
      checkExtension,
      ledger,
      approve,
      store,
      paid,
    }),
    outgoing: createOutgoingPayments({
      fetch,
      pay: client.settlement.payExternal,
      report,
      reports: createReports(report, store),
      network: x402 ? networkOf(client, environment) : async () => null,
      check: checkPrice,
      ledger,
      approve,
      store,
      paid,
    }),
  });
  const buy = async (call: Call, name: string): Promise<Response> => {
    try {
      return await exchange(call, name);
    } catch (error) {
      refused(error, call);
      throw error;
    }
  };
  return { buy, closeTabs: tabs.closeAll };
};

const createPaying = (fetch: Fetch, options: ReturnType<typeof checked>): PayingFetch => {
  const { buy, closeTabs } = createBuyer(fetch, options);
  const maxBodyBytes = options.maxBodyBytes ?? MAX_BODY_BYTES;

  /**
   * Calls with a key in progress. Further calls wait for the first and get copies of its answer.
   */
  const inFlight = new Map<string, { fingerprint: string; answer: Promise<Response> }>();

  const pay = async (input: string | URL | Request, { paymentKey, ...more }: PayInit = {}) => {
    const { maxAmount: _max, approve: _approve, ...init } = more;
    const plain = () =>
      fetch(typeof input === 'object' && 'headers' in input ? input.url : String(input), init);
    if (more.maxAmount !== undefined) refuseFault('maxAmount', bigintFault(more.maxAmount));
    // Arguments that the platform refuses are refused by its fetch, in its own words. A fetch of
    // the caller may accept them.
    const call = await readCall(input, more, maxBodyBytes).catch(() => null);
    // Other schemes (data:, blob:) are never paid.
    if (call === null || !/^https?:/.test(call.url)) return plain();
    if (paymentKey === undefined) return buy(call, `call:${call.fingerprint}`);
    const under = inFlight.get(paymentKey);
    if (under !== undefined) {
      if (under.fingerprint !== call.fingerprint)
        throw new PaymentKeyReusedError('The key belongs to another request.');
      // Cloning is still possible, because the first caller awaits one more promise before it
      // reads.
      const answer = await under.answer;
      return withReceipt(answer.clone(), receiptOf(answer));
    }
    const answer = buy(call, `key:${paymentKey}`).finally(() => inFlight.delete(paymentKey));
    inFlight.set(paymentKey, { fingerprint: call.fingerprint, answer });
    return answer;
  };
  return Object.assign(pay, { closeTabs });
};

/**
 * A fetch that pays. A 402 with a quote of this payment system is verified, checked against the
 * rules and paid with the delegate key, and the request is sent again. A 402 without one is paid if
 * it offers an exact price of x402 or a charge of MPP on the API's network, by the same rules: the
 * cheapest that the key allows. Every other answer is
 * returned unchanged. One call pays at most once. If another buyer has paid the quote, the vendor
 * is asked for another one. `receiptOf` returns what an answer has cost.
 * @throws TypeError at once, beginning with the name of a wrong option, and at the first call for a
 *   missing one
 * @throws PaymentDeclinedError and its kinds, or BadTokenError: nothing was paid
 * @throws ApiError, PaymentUndecidedError or PaidElsewhereError of settle, if it did not pay or
 * the outcome is unknown
 * @throws ApprovalRequiredError if the owner must approve the payment first; the same call with the
 * same key goes on with it
 * @throws NotDeliveredError if the vendor has the payment and does not deliver
 * @throws PaymentOpenError if a vendor of x402 or MPP has the payment, does not deliver, and may
 *   still use it
 */
export const payingFetch = (fetch: Fetch, options: PayOptions): PayingFetch => {
  if (typeof fetch !== 'function')
    throw new TypeError('payingFetch: the first argument must be a fetch, the second one the options');
  return unlessMissing(
    'payingFetch',
    () => createPaying(fetch, checked(options)),
    (refuse) => Object.assign(async () => refuse(), { closeTabs: async () => refuse() }),
  );
};
