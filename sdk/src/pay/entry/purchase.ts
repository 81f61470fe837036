import type { TokenVerifier } from '../../checks/tokens.ts';
import { sleep } from '../../wait.ts';
import type { Call } from '../base/call.ts';
import { readBill } from '../base/dialects.ts';
import { QuoteTakenError } from '../base/errors.ts';
import { addressOf, refuseLapsed } from '../base/rules.ts';
import type { PaymentRecord } from '../base/store.ts';
import { type Delivery, discard, jittered } from '../payments/delivery.ts';
import type { Bill, Payments } from '../payments/payments.ts';

/**
 * The maximum number of quotes that others pay, and of repeats of the same quote, before a call
 * gives up.
 */
const MOST_TAKEN = 10;
const MOST_SAME = 5;
/** The pause while a vendor only has the quote that another buyer pays. */
const SAME_QUOTE_MS = 1000;

type PurchaseDeps = { verify: TokenVerifier; payments: Payments; delivery: Delivery };

/** Buys with the vendor's quote, or with its next one while other buyers pay the quotes. */
export const createPurchases = ({ verify, payments, delivery }: PurchaseDeps) => {
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
    const response = await delivery.sendPatiently(call, unpaid, quoteId);
    const bill = response.status === 402 ? await readBill(response) : null;
    if (bill === null || bill === 'refused') return response;
    discard(response);
    const quote = await verify('quote', bill.quoteToken);
    return { ...bill, quote, url: addressOf(call, response, quote) };
  };

  /**
   * Pays a bill and presents the payment.
   * @throws QuoteTakenError if another buyer pays the quote
   */
  const buy = async (name: string, record: PaymentRecord, call: Call, bill: Bill): Promise<Response> => {
    refuseLapsed(bill.quote);
    return delivery.collect(name, await payments.buy(name, record, call, bill), call);
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
        if (bill !== null && !('quote' in bill)) return bill;
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

  return { buy, orAnother };
};
export type Purchases = ReturnType<typeof createPurchases>;
