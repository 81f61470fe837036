import type { Settlement } from './dialects.ts';

/** One logical request that is being paid, or was paid and not delivered yet; plain JSON. */
export type PaymentRecord = {
  /** The payment attempt's id, and what `x-payment-request-id` says on every try. */
  id: string;
  /** Method, address and body of the request, as a hash. */
  fingerprint: string;
  /** The address that is paid: the one called, or where a redirect within its origin led. */
  url: string;
  /**
   * The quote that this request pays; null when it rides on a prepaid settlement that another has
   * paid.
   */
  quoteToken: string | null;
  /** Null until the payment is confirmed. */
  settlement: Settlement | null;
  /** When it was confirmed, in milliseconds of this machine's clock. */
  paidAt: number | null;
  /**
   * Present where another attempt of the account has paid the quote: what `x-payment-request-id`
   * says of it. The vendor may have delivered it to somebody else.
   */
  adopted?: { requestId: string };
};

/**
 * Where payments under way are kept, so that a crash between payment and delivery does not buy
 * twice. What it holds entitles to deliveries: keep it as private as the delegate key, and one for
 * each key.
 */
export type PaymentStore = {
  /** The records under this name, in the order they came. */
  load: (name: string) => Promise<readonly PaymentRecord[]> | readonly PaymentRecord[];
  /** Keeps a record, durably once it returns; it replaces the one with its id under this name. */
  save: (name: string, record: PaymentRecord) => Promise<void> | void;
  /** Removes the record with this id under this name, if there is one. */
  remove: (name: string, id: string) => Promise<void> | void;
};

/** A store that ends with the process. */
export const memoryPayments = (): PaymentStore => {
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
