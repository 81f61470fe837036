import { resourceOf } from '../../checks/resource.ts';
import { type QuoteClaims, storedClaims, type TokenVerifier } from '../../checks/tokens.ts';
import type { Fetch } from '../../transport.ts';
import { type Call, sendCall, tryHeaders } from '../base/call.ts';
import { type AskedPayment, readBill } from '../base/dialects.ts';
import { BodyTooLargeError, PaymentBlockedError } from '../base/errors.ts';
import { createLocks } from '../base/lock.ts';
import type { OutgoingOffer } from '../base/outgoing-offer.ts';
import { addressOf, isForMany, isTab } from '../base/rules.ts';
import type { PaymentRecord } from '../base/store.ts';
import { isRefusedOffer, type Offers, type OutgoingPayments } from '../outgoing/outgoing-payments.ts';
import { type Delivery, discard } from '../payments/delivery.ts';
import type { Bill, Payments } from '../payments/payments.ts';
import type { Purchases } from './purchase.ts';

type RequestsDeps = {
  fetch: Fetch;
  verify: TokenVerifier;
  payments: Payments;
  delivery: Delivery;
  purchases: Purchases;
  outgoing: OutgoingPayments;
};

/** A platform's fetch may return its own Response class, so `instanceof` does not tell. */
const isRecord = (next: Response | PaymentRecord): next is PaymentRecord => 'fingerprint' in next;

const hasOffer = (offers: readonly OutgoingOffer[]): offers is Offers => offers.length > 0;

/** @throws BodyTooLargeError if the request cannot be sent again with a payment */
const repeatable = (call: Call): Call => {
  if (call.body.bytes === null)
    throw new BodyTooLargeError(
      'The vendor asks a price, and the body is above maxBodyBytes, so it cannot be sent again.',
    );
  return call;
};

/** The record of a request without what it has presented. */
const unpaidOf = ({ unsaved: _, tab: _tab, ...record }: PaymentRecord): PaymentRecord => ({
  ...record,
  settlement: null,
  paidAt: null,
});

/** Refuses to pay a vendor that a page cannot present the payment to. */
const createBlockedCheck = (fetch: Fetch) => {
  /** The origins whose CORS allows the headers of a payment. */
  const allowing = new Set<string>();
  return async (call: Call, record: PaymentRecord, quote: QuoteClaims): Promise<void> => {
    const { origin } = new URL(call.url);
    if (allowing.has(origin)) return;
    try {
      await tryHeaders(fetch, call, record);
    } catch (cause) {
      call.signal?.throwIfAborted();
      throw new PaymentBlockedError(origin, quote, cause);
    }
    allowing.add(origin);
  };
};

/** Adds the prepaid settlement of the address to the record, if there is one. */
const createWithPrepaid =
  (payments: Payments) =>
  async (name: string, record: PaymentRecord, url: string): Promise<PaymentRecord> => {
    const prepaid = await payments.prepaid(url);
    if (prepaid === null) return record;
    const { settlement, paidAt, repeatable, quoteToken } = prepaid;
    const isOfTab = quoteToken !== null && isTab(storedClaims(quoteToken));
    const prepaying = { ...record, url, settlement, paidAt, ...(isOfTab && { tab: true as const }) };
    // Nothing is lost with the record of a request that may run again, except a unit.
    if (repeatable === true) return { ...prepaying, repeatable, unsaved: true };
    await payments.keep(name, prepaying);
    return prepaying;
  };

/** Sends a request whose record is stored if no answer comes. */
const createSendKept =
  (fetch: Fetch, payments: Payments) =>
  async (name: string, record: PaymentRecord, call: Call): Promise<Response> => {
    try {
      return await sendCall(fetch, call, record);
    } catch (error) {
      // An equal request presents the same id. A vendor with a record of it takes no second unit.
      if (record.unsaved === true) await payments.keep(name, record);
      throw error;
    }
  };

/** Pays an offer of another protocol, or returns the 402 if there is none. */
const createBuyOffered =
  (outgoing: OutgoingPayments) =>
  async (name: string, record: PaymentRecord, call: Call, response: Response): Promise<Response> => {
    const offers = await outgoing.readOffers(response, call);
    return hasOffer(offers) ? outgoing.buy(name, record, repeatable(call), response, offers) : response;
  };

/**
 * Pays an offer of another protocol that costs less than the quote next to it.
 * @returns null if there is none, or the key allows none. The 402 is then read
 */
const createBuyCheaper =
  (outgoing: OutgoingPayments) =>
  async (
    name: string,
    record: PaymentRecord,
    call: Call,
    response: Response,
    quote: QuoteClaims,
  ): Promise<Response | null> => {
    const cheaper =
      isForMany(quote) || quote.capture !== undefined
        ? []
        : await outgoing.readOffers(response, call, BigInt(quote.quote_amount));
    if (!hasOffer(cheaper)) {
      discard(response);
      return null;
    }
    try {
      return await outgoing.buy(name, record, repeatable(call), response, cheaper);
    } catch (error) {
      if (isRefusedOffer(error)) return null;
      throw error;
    }
  };

/**
 * Removes the prepaid settlement that a vendor answered with 402, because it is used up.
 * @throws NotDeliveredError if it has units left
 */
const createDropUsedUp =
  ({ payments, delivery }: Pick<RequestsDeps, 'payments' | 'delivery'>) =>
  async (name: string, record: PaymentRecord): Promise<void> => {
    // A vendor who ends a tab early gets no more than was used of it.
    if (record.tab === true) await payments.leaveTab(record);
    else if (await payments.hasUnits(record))
      await delivery.notDelivered(
        name,
        record,
        'The vendor requests another payment while the prepaid settlement has units left.',
        true,
      );
    // No unit was consumed for this request.
    await payments.dropPrepaid(record.url, record.settlement!.settlement_id);
    await payments.remove(name, record);
  };

/**
 * Extends the tab that a request has presented, and sends the request again. Of many concurrent
 * calls one extends it, and is served first.
 */
const createExtendTab =
  (
    { payments, verify }: Pick<RequestsDeps, 'payments' | 'verify'>,
    inTurn: ReturnType<typeof createLocks>,
    dropUsedUp: ReturnType<typeof createDropUsedUp>,
  ) =>
  /** @returns null if its vendor offers no extension */
  async (
    {
      name,
      record,
      call,
      extensions,
    }: { name: string; record: PaymentRecord; call: Call; extensions: number },
    { quoteToken }: AskedPayment,
    send: (name: string, record: PaymentRecord, call: Call) => Promise<Response | PaymentRecord>,
  ): Promise<Response | PaymentRecord | null> => {
    const quote = record.tab === true ? await verify('quote', quoteToken).catch(() => null) : null;
    if (quote?.extends === undefined) return null;
    return inTurn(resourceOf(record.url), call.signal, async () => {
      // Another call has extended it since this one was sent.
      if (payments.extensionsOf(record) !== extensions) return record;
      const next = await payments.extend(record, repeatable(call), { quote, quoteToken });
      if (next === null) {
        await payments.endTab(record);
        await dropUsedUp(name, record);
        return unpaidOf(record);
      }
      // One that has paid nothing itself may extend the tab in its next turn.
      return next.extended === undefined ? next : send(name, next, call);
    });
  };

/**
 * Pays a bill. Of many concurrent calls for a prepaid bill one buys and is served first. The others
 * get what it bought.
 */
const createPay =
  (
    { purchases }: Pick<RequestsDeps, 'purchases'>,
    inTurn: ReturnType<typeof createLocks>,
    withPrepaid: ReturnType<typeof createWithPrepaid>,
  ) =>
  /** @returns the answer, or the record with the prepaid settlement to send */
  async (name: string, record: PaymentRecord, call: Call, bill: Bill): Promise<Response | PaymentRecord> => {
    const unpaid = unpaidOf(record);
    const purchase = () =>
      purchases.orAnother(name, unpaid, call, () => purchases.buy(name, unpaid, call, bill));
    if (!isForMany(bill.quote)) return purchase();
    return inTurn(resourceOf(bill.url), call.signal, async () => {
      const prepaying = await withPrepaid(name, unpaid, bill.url);
      return prepaying.settlement === null ? purchase() : prepaying;
    });
  };

/** Sends requests that have bought nothing yet. Names are those of the store. */
export const createRequests = ({ fetch, verify, payments, delivery, purchases, outgoing }: RequestsDeps) => {
  const [inTurn, refuseBlocked] = [createLocks(), createBlockedCheck(fetch)];
  const [buyOffered, buyCheaper] = [createBuyOffered(outgoing), createBuyCheaper(outgoing)];
  const [withPrepaid, sendKept] = [createWithPrepaid(payments), createSendKept(fetch, payments)];
  const dropUsedUp = createDropUsedUp({ payments, delivery });
  const extendTab = createExtendTab({ payments, verify }, inTurn, dropUsedUp);
  const pay = createPay({ purchases }, inTurn, withPrepaid);

  /**
   * Sends the request once, and pays if the vendor requests it.
   * @returns the answer, or the record to send next
   */
  const send = async (name: string, record: PaymentRecord, call: Call): Promise<Response | PaymentRecord> => {
    const extensions = payments.extensionsOf(record);
    const response = await sendKept(name, record, call);
    const isPrepaying = record.settlement !== null;
    if (response.status !== 402)
      return isPrepaying ? delivery.conclude(name, record, call, response) : response;
    const asked = await readBill(response);
    const isPayable = asked !== null && asked !== 'refused';
    if (!isPrepaying && !isPayable)
      return asked === null ? buyOffered(name, record, call, response) : response;
    if (isPrepaying) discard(response);
    if (record.extended !== undefined)
      return delivery.notDelivered(name, record, 'The tab was extended, and the vendor does not accept it.');
    if (!isPayable && record.tab === true) {
      await dropUsedUp(name, record);
      return unpaidOf(record);
    }
    if (!isPayable)
      return delivery.notDelivered(name, record, 'The vendor no longer accepts the prepaid settlement.');
    const extended = await extendTab({ name, record, call, extensions }, asked, send);
    if (extended !== null) return extended;
    if (isPrepaying) await dropUsedUp(name, record);
    const quote = await verify('quote', asked.quoteToken);
    const elsewhere = isPrepaying ? null : await buyCheaper(name, record, call, response, quote);
    if (elsewhere !== null) return elsewhere;
    const url = isPrepaying ? record.url : addressOf(call, response, quote);
    await refuseBlocked(repeatable(call), record, quote);
    return pay(name, record, call, { ...asked, quote, url });
  };

  const request = async (name: string, first: PaymentRecord, call: Call): Promise<Response> => {
    let next: Response | PaymentRecord = first;
    while (isRecord(next)) next = await send(name, next, call);
    return next;
  };

  return {
    /** Sends the request with its record's payment, and pays once if the vendor requests it. */
    request,
    /** Sends the request with the address's prepaid settlement, if there is one. */
    requestPrepaid: async (name: string, record: PaymentRecord, call: Call): Promise<Response> => {
      // A concurrent buyer of this address is served first: its units may suffice only for it.
      const prepaying = await inTurn(resourceOf(call.url), call.signal, () =>
        withPrepaid(name, record, call.url),
      );
      return request(name, prepaying, call);
    },
  };
};
