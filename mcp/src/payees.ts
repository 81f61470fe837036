import { createHash } from 'node:crypto';
import path from 'node:path';
import { withLock } from '../../cli/src/lock.ts';
import { readPrivate, writePrivate } from '../../cli/src/private-file.ts';
import type { Settings } from './settings.ts';

/** Whom the person has agreed to pay, by the settings or by an answer. It is stored in a file. */

/** An address that is paid, and the origin that asks for it. */
type Payee = { payee: string; origin: string };

const isSame = (one: Payee, other: Payee) => one.payee === other.payee && one.origin === other.origin;

export const createPayees = ({
  baseUrl,
  key,
  folder,
  payees,
}: Pick<Settings, 'baseUrl' | 'key' | 'folder' | 'payees'>) => {
  const owner = createHash('sha256').update(`${baseUrl}\n${key}`).digest('hex');
  const file = path.join(folder, 'payees', `${owner}.json`);
  const read = async () => (await readPrivate<Payee[]>(file)) ?? [];

  return {
    /** An address that asks for another payee than before is new. */
    isKnown: async (found: Payee): Promise<boolean> => {
      if (payees === 'any' || payees.includes(found.payee) || payees.includes(found.origin)) return true;
      return (await read()).some((each) => isSame(each, found));
    },
    /** Stores a payee that the person has accepted. */
    add: (found: Payee): Promise<void> =>
      withLock(`${file}.lock`, async () => {
        const known = await read();
        if (!known.some((each) => isSame(each, found))) await writePrivate(file, [...known, found]);
      }),
  };
};
export type Payees = ReturnType<typeof createPayees>;
