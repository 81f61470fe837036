import type { Settlement } from './dialects.ts';
import type { OutgoingOffer } from './outgoing-offer.ts';

/** One logical request that is being paid, or is paid and not delivered yet. Plain JSON. */
export type PaymentRecord = {
  /** The payment attempt's id, and the `x-payment-request-id` of every try after a 402. */
  id: string;
  /** A hash of the request's method, address and body. */
  fingerprint: string;
  /** The paid address: the called one, or the target of a redirect within its origin. */
  url: string;
  /**
   * The quote that this request pays. Null if it uses a prepaid settlement of another request.
   */
  quoteToken: string | null;
  /** Null until the payment is confirmed. */
  settlement: Settlement | null;
  /** When it was confirmed, in milliseconds of this machine's clock. */
  paidAt: number | null;
  /**
   * Set if another attempt of the account has paid the quote: the `x-payment-request-id` to use.
   * The vendor may have delivered it to another request.
   */
  adopted?: { requestId: string };
  /** Set if it uses a tab that another request has opened. */
  tab?: true;
  /** The method of the request that has opened a tab, with which it is closed. */
  method?: string;
  /** Set if the vendor runs a prepaid request again for the same unit. */
  repeatable?: true;
  /** Set while such a request is sent. Its record is stored if it fails. */
  unsaved?: true;
  /** The quote with which this request has extended the ceiling of its tab. */
  extended?: string;
  /** Of a tab whose ceiling was extended: what it is now, in micro-units. */
  ceiling?: string;
  /** Of a tab whose ceiling is being extended: the attempt, whose amount `ceiling` has already. */
  extending?: { id: string; quoteToken: string };
  /** The transaction that paid, if it is known. */
  txHash?: string;
  /**
   * Set if the vendor does not use Quittance: what it asked, with which the same bytes are signed.
   */
  external?: OutgoingOffer & {
    /** What the API is told to pay for: the paid address without its query. */
    resource: string;
    /** Set while the vendor's answer is not reported yet. */
    report?: { settlement_id: string; payment_response: string };
  };
};

/**
 * Stores payments until their delivery, so that a crash in between does not buy twice. Its content
 * gives access to deliveries. Protect it like the delegate key, and use one store per key.
 */
export type PaymentStore = {
  /** The records under this name, oldest first. */
  load: (name: string) => Promise<readonly PaymentRecord[]> | readonly PaymentRecord[];
  /** Stores a record durably. It replaces the record with the same id under this name. */
  save: (name: string, record: PaymentRecord) => Promise<void> | void;
  /** Removes the record with this id under this name, if it exists. */
  remove: (name: string, id: string) => Promise<void> | void;
};

/**
 * A store in memory, for a first try. It is lost at a restart. Then an equal request may buy again
 * what was paid and not delivered. `examples/` has stores for Redis and Postgres.
 */
export const memoryStore = (): PaymentStore => {
  const names = new Map<string, Map<string, PaymentRecord>>();
  return {
    load: (name) => [...(names.get(name)?.values() ?? [])],
    save: (name, record) => {
      names.set(name, (names.get(name) ?? new Map<string, PaymentRecord>()).set(record.id, record));
    },
    remove: (name, id) => {
      const held = names.get(name);
      held?.delete(id);
      if (held?.size === 0) names.delete(name);
    },
  };
};
