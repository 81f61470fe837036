import { resourceOf } from '../../checks/resource.ts';
import type { PaymentRecord, PaymentStore } from '../base/store.ts';

const nameOf = (url: string): string => `prepaid:${resourceOf(url)}`;

/** The prepaid settlements of addresses, in the store of payments. */
export const createPrepaid = (store: PaymentStore) => ({
  /** The prepaid settlement of this address, or null if none was bought. */
  find: async (url: string): Promise<PaymentRecord | null> => (await store.load(nameOf(url))).at(-1) ?? null,
  /** Stores a settlement for further calls of its address. */
  save: async (record: PaymentRecord): Promise<void> => store.save(nameOf(record.url), record),
  /** Removes a settlement that is used up. */
  drop: async (url: string, settlementId: string): Promise<void> => {
    const name = nameOf(url);
    for (const { id, settlement } of await store.load(name))
      if (settlement?.settlement_id === settlementId) await store.remove(name, id);
  },
});
export type Prepaid = ReturnType<typeof createPrepaid>;
