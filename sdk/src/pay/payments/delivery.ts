import { storedClaims } from '../../checks/tokens.ts';
import type { ReadSettlement } from '../../settle.ts';
import type { Fetch } from '../../transport.ts';
import { sleep } from '../../wait.ts';
import { askUsage, type Call, sendCall } from '../base/call.ts';
import { readWait } from '../base/dialects.ts';
import { NotDeliveredError, PaidRedirectError } from '../base/errors.ts';
import { receiptIn, withReceipt } from '../base/receipt.ts';
import { isAuthorization } from '../base/rules.ts';
import type { PaymentRecord } from '../base/store.ts';
import { withUsage } from '../base/usage.ts';
import type { Payments } from './payments.ts';

/** How long a vendor delivers a settlement again to the request that redeemed it. */
export const REDELIVERY_MS = 600_000;
/** After these statuses the same request may still be delivered. Every other answer is final. */
const NOT_YET = new Set([401, 403, 408, 425, 429]);
/** The longest total wait that a vendor may ask for. */
const ASKING_MS = 60_000;

/** Adds jitter, so that callers who were refused together do not return together. */
export const jittered = (ms: number): number => ms * (1 + Math.random() / 2);

export const isRedirect = ({ type, status }: Response): boolean =>
  type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);

/** True if the same request cannot get another answer later. */
export const isFinal = ({ status }: Response): boolean => status < 500 && !NOT_YET.has(status);

/** Frees the connection of an unread answer. */
export const discard = (response: Response): void => {
  response.body?.cancel().catch(() => undefined);
};

/** @throws PaidRedirectError if the answer to the payment is a redirect */
const refuseRedirect = ({ settlement, id }: PaymentRecord, call: Call, response: Response): void => {
  if (!isRedirect(response) || call.redirect === 'manual') return;
  discard(response);
  throw new PaidRedirectError(response.headers.get('location'), settlement!.settlement_id, id);
};

/** The vendor has released what was authorized for a request. It buys again, by another attempt. */
export class ReleasedError extends Error {}

type DeliveryDeps = { fetch: Fetch; payments: Payments; read: ReadSettlement };

/**
 * True if the answer refuses a request without a redeem: too large for the vendor or a proxy
 * before it, an invalid header. Nothing was delivered, and the buyer keeps the payment. Null:
 * unknown.
 */
const isRefusal = async (
  payments: Payments,
  { quoteToken, settlement }: PaymentRecord,
  response: Response,
): Promise<boolean | null> => {
  if (response.status < 400 || !isFinal(response) || quoteToken === null) return false;
  // It is captured after the delivery, or never. Its ceiling is released in both cases.
  if (isAuthorization(storedClaims(quoteToken))) return false;
  const isUntouched = await payments.isUntouched(settlement!.settlement_id);
  if (isUntouched) discard(response);
  return isUntouched;
};

const refusedPayment = ({ settlement }: PaymentRecord): string =>
  'The vendor was paid and does not accept the payment. Repeat the call: it presents the same payment and pays nothing more. ' +
  `If that is refused too, name settlement ${settlement!.settlement_id} to the vendor, who can refund it.`;

/** Presents payments to vendors and handles their answers. Names are those of the store. */
export const createDelivery = ({ fetch, payments, read }: DeliveryDeps) => {
  /**
   * Keeps or removes the record of a payment that the vendor did not honour.
   * @throws NotDeliveredError always
   */
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
    refuseRedirect(record, call, response);
    const isUntouched = await isRefusal(payments, record, response);
    if (isUntouched === null) return response;
    if (isUntouched)
      return notDelivered(name, record, `The vendor refused the request with status ${response.status}.`);
    await payments.conclude(name, record, isFinal(response));
    if (isFinal(response)) await payments.answered(record);
    const ask = () => askUsage(fetch, call, record);
    return withUsage(withReceipt(response, receiptIn(record)), record, { read, ask });
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
    if (await payments.endReleased(name, record)) throw new ReleasedError();
    return notDelivered(name, record, refusedPayment(record));
  };

  return { notDelivered, conclude, sendPatiently, collect };
};
export type Delivery = ReturnType<typeof createDelivery>;
