import { resourceOf } from '../../checks/resource.ts';
import { ApiError } from '../../errors.ts';
import type { Fetch } from '../../transport.ts';
import type { CallOptions, Input, Output } from '../../types.ts';
import type { Ledger } from '../base/budget.ts';
import { type Call, presentCall } from '../base/call.ts';
import { NotAllowedError, NotDeliveredError, PaidRedirectError, PaymentOpenError } from '../base/errors.ts';
import type { OutgoingOffer } from '../base/outgoing-offer.ts';
import type { Approve, Price } from '../base/price.ts';
import { problemIn, reasonOf } from '../base/problem.ts';
import { type Receipt, receiptFrom, withReceipt } from '../base/receipt.ts';
import type { ReportExternal, Reports } from '../base/reports.ts';
import { addressOf } from '../base/rules.ts';
import type { PaymentRecord, PaymentStore } from '../base/store.ts';
import { isHeld, isRefusedForGood } from '../payments/attempts.ts';
import { discard, isFinal, isRedirect, REDELIVERY_MS } from '../payments/delivery.ts';
import type { Network } from './offer-dialect.ts';
import {
  askedOf,
  offerHeaders,
  payableOffers,
  priceOf,
  railOf,
  readPaymentResponse,
  transactionOf,
} from './outgoing-offers.ts';
import { createPreferences } from './preferences.ts';

type Signed = Output<'settlement.payExternal'>;
type PayExternal = (input: Input<'settlement.payExternal'>, options: CallOptions) => Promise<Signed>;

type OutgoingDeps = {
  fetch: Fetch;
  pay: PayExternal;
  report: ReportExternal;
  reports: Reports;
  /** Null if the API serves no network of x402 in this environment. */
  network: () => Promise<Network | null>;
  check: (price: Price, url: string, maxAmount: bigint | undefined) => void;
  ledger: Ledger;
  approve: Approve;
  store: PaymentStore;
  /** Called after each payment. */
  paid: (receipt: Receipt) => void;
};
/** The offers of a 402 that the API can pay, the cheapest first. */
export type Offers = readonly [OutgoingOffer, ...OutgoingOffer[]];
type OutgoingRecord = PaymentRecord & { external: NonNullable<PaymentRecord['external']> };

/** What an answer without a statement about its settlement is reported as: an empty object. */
const NO_STATEMENT = 'e30=';

export const isOutgoing = (record: PaymentRecord): record is OutgoingRecord => record.external !== undefined;

/** Whether the API refuses this offer, and may accept another one: its payee is not allowed. */
export const isRefusedOffer = (error: unknown): boolean =>
  error instanceof ApiError &&
  error.moneyMoved === 'no' &&
  (error.code === 'forbidden' || error.code === 'validation_error');

/** Signs the payments of records. The same record gets the same bytes. */
const createSigning = (deps: OutgoingDeps) => {
  const { ledger, store } = deps;

  const remove = async (name: string, { id }: PaymentRecord): Promise<void> => {
    ledger.release(id);
    await store.remove(name, id);
  };

  /** Reserves the amount and stores the record that pays, before anything is signed. */
  const begin = async (name: string, begun: OutgoingRecord, call: Call): Promise<OutgoingRecord> => {
    const { id, url, external } = begun;
    const price = priceOf(external, url);
    deps.check(price, url, call.maxAmount);
    ledger.reserve(id, new URL(url).origin, price);
    try {
      if (!(await (call.approve ?? deps.approve)(price, { method: call.method, url })))
        throw new NotAllowedError('the payment was not approved', price);
      call.signal?.throwIfAborted();
      await store.save(name, begun);
      return begun;
    } catch (error) {
      ledger.release(id);
      throw error;
    }
  };

  /** The signed payment of a record: the same bytes each time. @throws ApiError, NoAnswerError */
  const sign = async (name: string, record: OutgoingRecord, { signal }: Call): Promise<Signed> => {
    const { external, id } = record;
    const input = { payment_attempt_id: id, resource: external.resource, ...askedOf(external) };
    try {
      return await deps.pay(input, signal === undefined ? {} : { signal });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      error.paymentAttemptId = record.id;
      // Without an explicit "no" the bytes may exist, so the hold and the record stay. After
      // an error that may be repeated, the same attempt continues.
      if (error.moneyMoved !== 'no' || error.retryable) throw error;
      if (isHeld(name, error)) ledger.release(record.id);
      else await remove(name, record);
      throw error;
    }
  };

  return { remove, begin, sign };
};
type Signing = ReturnType<typeof createSigning>;

type PaidOutcome = { settlement_id: string; tx_hash: string | null; confirmed: boolean };

const receiptOfOutgoing = (
  { external, url }: OutgoingRecord,
  { settlement_id, tx_hash, confirmed }: PaidOutcome,
): Receipt =>
  receiptFrom(priceOf(external, url), {
    settlementId: settlement_id,
    rail: railOf(external),
    transaction: tx_hash,
    confirmed,
  });

/** Handles the answers of vendors to payments. */
const createOutcomes = (deps: OutgoingDeps, { remove }: Signing) => {
  const { ledger, store, reports } = deps;

  /**
   * Handles a refusal after the payment was presented.
   * @returns if the payment has failed for good, so that another one may be made
   */
  const refused = async (
    name: string,
    record: OutgoingRecord,
    { settlement_id }: Signed,
    response: Response,
  ): Promise<void> => {
    const payment_response = readPaymentResponse(record.external, response) ?? NO_STATEMENT;
    const price = priceOf(record.external, record.url);
    const problem = await problemIn(response);
    const outcome = await deps.report({ settlement_id, payment_response }).catch(() => null);
    if (outcome?.status === 'failed') return remove(name, record);
    discard(response);
    if (outcome?.status !== 'confirmed') throw new PaymentOpenError(settlement_id, record.id, price, problem);
    ledger.spend(record.id);
    const { tx_hash } = outcome;
    // The first answer after the payment is known. Later ones find `paidAt`.
    if (record.paidAt === null)
      deps.paid(receiptOfOutgoing(record, { settlement_id, tx_hash, confirmed: true }));
    const paidAt = record.paidAt ?? Date.now();
    // For a while an equal request presents the payment again. With a key it never buys again.
    if (Date.now() - paidAt > REDELIVERY_MS && !name.startsWith('key:')) await remove(name, record);
    else await store.save(name, { ...record, paidAt });
    const message = `The vendor was paid with transaction ${tx_hash} and does not accept the payment.${reasonOf(problem)}`;
    throw new NotDeliveredError(message, settlement_id, record.id, { txHash: tx_hash, problem });
  };

  /** Stores and reports what a vendor says about its settlement. A failure changes no answer. */
  const keepStatement = async (record: OutgoingRecord, settlement_id: string, statement: string | null) => {
    if (statement === null) return;
    const report = { settlement_id, payment_response: statement };
    await reports.add({ ...record, external: { ...record.external, report } }).catch(() => undefined);
  };

  return { refused, keepStatement };
};

/** Presents payments to their vendors. */
const createPresentation = (deps: OutgoingDeps, signing: Signing) => {
  const { fetch, ledger, store } = deps;
  const { refused, keepStatement } = createOutcomes(deps, signing);

  /**
   * Presents the payment of a record, and returns the vendor's answer.
   * @returns `failed` if the payment has failed for good; the answer is then the vendor's 402
   */
  const present = async (name: string, record: OutgoingRecord, call: Call) => {
    const signed = await signing.sign(name, record, call);
    const { settlement_id } = signed;
    const shown = offerHeaders(record.external, signed.payment_signature);
    const response = await presentCall(fetch, call, record, shown);
    const statement = readPaymentResponse(record.external, response);
    // Vendors settle before they deliver and say so. A refusal without that, such as a 413, is no
    // delivery.
    if (response.status === 402 || (response.status >= 400 && isFinal(response) && statement === null)) {
      await refused(name, record, signed, response);
      return { response, failed: true };
    }
    await keepStatement(record, settlement_id, statement);
    const receipt = receiptOfOutgoing(record, {
      settlement_id,
      tx_hash: signed.tx_hash ?? transactionOf(statement),
      confirmed: signed.status === 'confirmed',
    });
    if (isRedirect(response) && call.redirect !== 'manual') {
      discard(response);
      throw new PaidRedirectError(response.headers.get('location'), settlement_id, record.id);
    }
    if (isFinal(response)) {
      ledger.spend(record.id);
      if (record.paidAt === null) deps.paid(receipt);
      // The delivery is returned even if the record stays. It then presents the payment once more.
      await Promise.resolve(store.remove(name, record.id)).catch(() => undefined);
    }
    return { response: withReceipt(response, receipt), failed: false };
  };
  return present;
};

/** Whether the rules of this client allow an offer. */
const isAllowed = ({ check }: OutgoingDeps, offer: OutgoingOffer, call: Call): boolean => {
  try {
    check(priceOf(offer, call.url), call.url, call.maxAmount);
    return true;
  } catch {
    return false;
  }
};

/**
 * Pays vendors that do not use Quittance. The API signs a payment, and the vendor uses it. The same
 * record shows the same bytes, whatever the vendor answers. Names are those of the store.
 */
export const createOutgoingPayments = (deps: OutgoingDeps) => {
  const { ledger, reports } = deps;
  const preferences = createPreferences();
  const signing = createSigning(deps);
  const present = createPresentation(deps, signing);

  /**
   * Pays the first offer of a 402 that the key allows, and returns the vendor's answer to the
   * payment.
   */
  const buy = async (
    name: string,
    record: PaymentRecord,
    call: Call,
    asked: Response,
    [offer, ...others]: Offers,
  ): Promise<Response> => {
    const url = addressOf(call, asked, priceOf(offer, call.url));
    discard(asked);
    await reports.repeat();
    const external = { ...offer, resource: resourceOf(url) };
    const begun = await signing.begin(name, { ...record, url, external }, call);
    try {
      return (await present(name, begun, call)).response;
    } catch (error) {
      const [next, ...more] = others;
      if (next === undefined || !isRefusedOffer(error)) throw error;
      // Nothing was signed for the attempt, so the next offer may have its id.
      return buy(name, record, call, asked, [next, ...more]);
    }
  };

  return {
    /**
     * The offers of a 402 that the API can pay and the rules allow, the cheapest first. If they
     * allow none, all of them, because `buy` then says why.
     * @param below only those that the rules allow and that cost less
     */
    readOffers: async (response: Response, call: Call, below?: bigint): Promise<OutgoingOffer[]> => {
      const offers = await payableOffers(response, { call, readNetwork: deps.network, below });
      if (offers.some(({ version }) => version === 'mpp')) preferences.learn(call);
      const allowed = offers.filter((offer) => isAllowed(deps, offer, call));
      return allowed.length > 0 || below !== undefined ? allowed : offers;
    },

    buy,
    /** The call with what this client tells its vendor about the payments that it makes. */
    preferring: preferences.add,

    /**
     * Presents the payment of a leftover record again. Null if it has failed for good.
     */
    resume: async (name: string, record: OutgoingRecord, call: Call): Promise<Response | null> => {
      const price = priceOf(record.external, record.url);
      deps.check(price, record.url, call.maxAmount);
      ledger.reserve(record.id, new URL(record.url).origin, price);
      try {
        const { response, failed } = await present(name, record, call);
        if (!failed) return response;
        discard(response);
        return null;
      } catch (error) {
        if (isRefusedForGood(error) && !(error as ApiError).retryable) return null;
        throw error;
      }
    },
  };
};
export type OutgoingPayments = ReturnType<typeof createOutgoingPayments>;
