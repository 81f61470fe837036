import { resourceOf } from '../resource.ts';
import type { TokenVerifier } from '../tokens.ts';
import type { Fetch } from '../transport.ts';
import { sleep } from '../wait.ts';
import { type Call, sendCall } from './call.ts';
import { readBill, readWait } from './dialects.ts';
import { NotDeliveredError, PaidRedirectError, PaymentKeyReusedError, QuoteTakenError } from './errors.ts';
import { createLocks } from './lock.ts';
import type { Bill, Payments } from './payments.ts';
import { addressOf, isPrepaid, refuseLapsed } from './rules.ts';
import type { PaymentRecord } from './store.ts';

type ExchangeDeps = { fetch: Fetch; verify: TokenVerifier; payments: Payments };

/** How long a vendor delivers a settlement again to the request that redeemed it. */
const REDELIVERY_MS = 600_000;
/** After these statuses the same request may still be delivered. Every other answer is final. */
const NOT_YET = new Set([401, 403, 408, 425, 429]);

/**
 * The maximum number of quotes that others pay, and of repeats of the same quote, before a call
 * gives up.
 */
const MOST_TAKEN = 10;
const MOST_SAME = 5;
/**
 * The pause while a vendor only has the paid quote, and the longest wait that a vendor may ask for.
 */
const SAME_QUOTE_MS = 1000;
const ASKING_MS = 60_000;
/** Jitter, so that callers who were refused at the same time do not return at the same time. */
const jittered = (ms: number): number => ms * (1 + Math.random() / 2);

const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);

/** Frees the connection of an unread answer. */
const discard = (response: Response): void => {
  response.body?.cancel().catch(() => undefined);
};

/**
 * One logical request from its first try to the delivery. Invariants: it buys at most once. A
 * purchase is stored before it is sent and until it is delivered. A payment is presented only at
 * the paid address.
 */
export const createExchange = ({ fetch, verify, payments }: ExchangeDeps) => {
  const inTurn = createLocks();

  const notDelivered = async (
    name: string,
    record: PaymentRecord,
    message: string,
    hasUnits?: boolean,
  ): Promise<never> => {
    const { settlement_id } = record.settlement!;
    // While units are left, no other request buys more from a vendor that does not deliver what was
    // paid.
    if (!(hasUnits ?? (await payments.hasUnits(record))))
      await payments.dropPrepaid(record.url, settlement_id);
    // While a redelivery is possible, an equal request presents the payment again and does not buy.
    // With a key it never buys.
    const over = Date.now() - record.paidAt! > REDELIVERY_MS && !name.startsWith('key:');
    if (record.quoteToken === null || over) await payments.remove(name, record);
    throw new NotDeliveredError(message, settlement_id, record.id);
  };

  /** Handles the answer to a request that presented a payment. */
  const conclude = async (
    name: string,
    record: PaymentRecord,
    call: Call,
    response: Response,
  ): Promise<Response> => {
    if (isRedirect(response) && call.redirect !== 'manual') {
      discard(response);
      const location = response.headers.get('location');
      throw new PaidRedirectError(location, record.settlement!.settlement_id, record.id);
    }
    if (response.status < 500 && !NOT_YET.has(response.status)) {
      try {
        await payments.remove(name, record);
      } catch {
        // The delivery is returned nevertheless. The leftover record is presented once more and
        // buys nothing.
      }
    }
    return response;
  };

  /**
   * Sends a call, and waits for the outcome of another buyer's payment if the vendor asks for it.
   */
  const sendPatiently = async (call: Call, record: PaymentRecord, refused?: string): Promise<Response> => {
    const until = Date.now() + ASKING_MS;
    for (;;) {
      const response = await sendCall(fetch, call, record, refused);
      const waitMs = await readWait(response);
      if (waitMs === null || Date.now() + waitMs > until) return response;
      discard(response);
      await sleep(jittered(waitMs), call.signal);
    }
  };

  /** Presents the payment of this request, or one that it has adopted. */
  const collect = async (name: string, record: PaymentRecord, call: Call): Promise<Response> => {
    const isAdopted = record.adopted !== undefined;
    const response = await (isAdopted ? sendPatiently(call, record) : sendCall(fetch, call, record));
    if (response.status !== 402) return conclude(name, record, call, response);
    discard(response);
    if (isAdopted && !(await payments.hasUnits(record))) return payments.disown(name, record);
    return notDelivered(name, record, 'The vendor was paid and does not accept the payment.');
  };

  /**
   * Asks the vendor for another quote, because another buyer pays this one. Returns the quote, or
   * an answer that needs no payment.
   */
  const askForAnother = async (
    record: PaymentRecord,
    call: Call,
    quoteId: string,
  ): Promise<Bill | Response> => {
    const unpaid = { ...record, settlement: null };
    const response = await sendPatiently(call, unpaid, quoteId);
    const bill = response.status === 402 ? await readBill(response) : null;
    if (bill === null || bill === 'refused') return response;
    discard(response);
    const { quoteToken } = bill;
    const quote = await verify('quote', quoteToken);
    return { quote, quoteToken, url: addressOf(call, response, quote) };
  };

  /**
   * Runs a purchase. If another buyer pays the quote, it buys with the vendor's next quote.
   */
  const orAnother = async <T extends Response | null>(
    name: string,
    record: PaymentRecord,
    call: Call,
    purchase: () => Promise<T>,
  ): Promise<T | Response> => {
    let next: () => Promise<T | Response> = purchase;
    let same = 0;
    for (let taken = 0; ; taken += 1) {
      try {
        return await next();
      } catch (error) {
        if (!(error instanceof QuoteTakenError)) throw error;
        const bill = taken < MOST_TAKEN ? await askForAnother(record, call, error.quote.quote_id) : null;
        if (bill instanceof Response) return bill;
        const isSame = bill?.quote.quote_id === error.quote.quote_id;
        if (isSame) same += 1;
        if (bill === null || same > MOST_SAME) throw error.elsewhere ?? error;
        // The vendor may not know yet that the quote is being paid. Or the other payment has
        // failed, and the quote can be paid after all.
        if (isSame) await sleep(jittered(SAME_QUOTE_MS), call.signal);
        next = () => buy(name, record, call, bill);
      }
    }
  };

  const buy = async (name: string, record: PaymentRecord, call: Call, bill: Bill): Promise<Response> => {
    refuseLapsed(bill.quote);
    return collect(name, await payments.buy(name, record, call, bill), call);
  };

  /** Adds the prepaid settlement of the address to the record, if there is one. */
  const riding = async (name: string, record: PaymentRecord, url: string): Promise<PaymentRecord> => {
    const prepaid = await payments.prepaid(url);
    if (prepaid === null) return record;
    const rides = { ...record, url, settlement: prepaid.settlement, paidAt: prepaid.paidAt };
    await payments.keep(name, rides);
    return rides;
  };

  /** Sends the request without a payment of its own, and pays once if the vendor requests it. */
  const request = async (name: string, first: PaymentRecord, call: Call): Promise<Response> => {
    let record = first;
    for (;;) {
      const response = await sendCall(fetch, call, record);
      const rode = record.settlement;
      if (response.status !== 402) return rode === null ? response : conclude(name, record, call, response);
      const bill = await readBill(response);
      if (rode === null && (bill === null || bill === 'refused')) return response;
      discard(response);
      if (bill === null || bill === 'refused')
        return notDelivered(name, record, 'The vendor no longer accepts the prepaid settlement.');
      if (rode !== null) {
        if (await payments.hasUnits(record))
          return notDelivered(
            name,
            record,
            'The vendor requests another payment while the prepaid settlement has units left.',
            true,
          );
        // The units are used up, and none was consumed for this request.
        await payments.dropPrepaid(record.url, rode.settlement_id);
        await payments.remove(name, record);
      }
      const { quoteToken } = bill;
      const quote = await verify('quote', quoteToken);
      const url = rode === null ? addressOf(call, response, quote) : record.url;
      const unpaid: PaymentRecord = { ...record, settlement: null, paidAt: null };
      const purchase = () =>
        orAnother(name, unpaid, call, () => buy(name, unpaid, call, { quote, quoteToken, url }));
      if (!isPrepaid(quote)) return purchase();

      // Of many concurrent calls one buys and is served first. Then the others use what it bought.
      const turn = await inTurn(resourceOf(url), call.signal, async () => {
        const rides = await riding(name, unpaid, url);
        return rides.settlement === null ? { answer: await purchase() } : { rides };
      });
      if ('answer' in turn) return turn.answer;
      record = turn.rides;
    }
  };

  const proceed = async (name: string, record: PaymentRecord, call: Call): Promise<Response> => {
    if (record.quoteToken === null) {
      if (record.settlement !== null) return request(name, record, call);
      // A concurrent buyer of this address is served first, because its units may suffice only for
      // it.
      const ride = () => riding(name, record, call.url);
      return request(name, await inTurn(resourceOf(call.url), call.signal, ride), call);
    }
    const resume = async (): Promise<Response | null> => {
      if (record.settlement !== null) return collect(name, record, call);
      const paid = await payments.resume(name, record, call);
      return paid === null ? null : collect(name, paid, call);
    };
    // A new attempt needs a new id, because the failure belongs to the old id.
    return (await orAnother(name, record, call, resume)) ?? take(name, call);
  };

  const take = async (name: string, call: Call): Promise<Response> => {
    const record = await payments.claim(name, call);
    try {
      if (record.fingerprint !== call.fingerprint)
        throw new PaymentKeyReusedError('The key belongs to another request that is not delivered yet.');
      return await proceed(name, record, call);
    } finally {
      payments.unclaim(record.id);
    }
  };

  /** @param name the name of the request in the store: its key, or its fingerprint */
  return (call: Call, name: string): Promise<Response> => take(name, call);
};
