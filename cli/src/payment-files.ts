import { createHash } from 'node:crypto';
import path from 'node:path';
import type { PaymentRecord, PaymentStore } from '../../sdk/src/pay/main.ts';
import { acquireLock } from './lock.ts';
import { readPrivate, removePrivate, writePrivate } from './private-file.ts';
import type { Environment } from './sign-ins.ts';

/**
 * Stores payments until their delivery, one private file for each request or payment key. A command
 * that ended before the delivery, for whatever reason, is continued by its repeat, which therefore
 * pays nothing more.
 * @param folder of all files (`configFolder`)
 * @param payer the credential that pays, or the account of a sign-in. Only its hash is stored
 */
export const createPaymentFiles = (
  folder: string,
  { url, environment, payer }: { url: string; environment: Environment; payer: string },
  signal: AbortSignal,
) => {
  const owner = `${url}\n${environment}\n${createHash('sha256').update(payer).digest('hex')}`;
  const releases = new Map<string, () => Promise<void>>();
  const fileOf = (name: string) =>
    path.join(folder, 'payments', `${createHash('sha256').update(`${owner}\n${name}`).digest('hex')}.json`);
  const read = async (name: string) => (await readPrivate<PaymentRecord[]>(fileOf(name))) ?? [];
  const write = (name: string, records: PaymentRecord[]) =>
    records.length === 0 ? removePrivate(fileOf(name)) : writePrivate(fileOf(name), records);

  const store: PaymentStore = {
    load: async (name) => {
      // Held until `close`: two commands at once must not continue the same payment.
      if (!releases.has(name)) releases.set(name, await acquireLock(`${fileOf(name)}.lock`, signal));
      return read(name);
    },
    save: async (name, record) => {
      const records = await read(name);
      const index = records.findIndex(({ id }) => id === record.id);
      await write(name, index < 0 ? [...records, record] : records.with(index, record));
    },
    remove: async (name, id) => {
      const records = await read(name);
      if (records.some((each) => each.id === id))
        await write(
          name,
          records.filter((each) => each.id !== id),
        );
    },
  };
  return {
    store,
    /** Lets other commands use the same payments. */
    close: async () => {
      for (const release of releases.values()) await release();
      releases.clear();
    },
  };
};
