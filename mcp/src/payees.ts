import { createHash } from 'node:crypto';
import path from 'node:path';
import { withLock } from '../../cli/src/lock.ts';
import { readPrivate, writePrivate } from '../../cli/src/private-file.ts';
import type { Output } from '../../sdk/src/types.ts';
import type { Settings } from './settings.ts';

/** Whom the person has agreed to pay, by the settings or by an answer. It is stored in a file. */

/** An address that is paid, and the origin that asks for it. */
type Payee = { payee: string; origin: string };
/** Everybody whom a price pays. `isOutside`: the vendor does not use Quittance. */
type Asked = { addresses: readonly string[]; origin: string; isOutside: boolean };
type Delegate = Pick<Output<'identity.getOwnDelegate'>, 'external'>;

const eachOf = ({ addresses, origin }: Asked): Payee[] => addresses.map((payee) => ({ payee, origin }));
const isSame = (one: Payee, other: Payee) => one.payee === other.payee && one.origin === other.origin;

/** Whether the limits of the key name whom it pays, so that its owner has agreed already. */
const isOfKey = ({ external }: Delegate, { addresses, origin, isOutside }: Asked): boolean => {
  if (!isOutside || external === null) return false;
  const { origins, pay_to } = external;
  const isAddress = (address: string) => pay_to !== 'any' && pay_to.includes(address);
  return origins?.includes(origin) === true || addresses.every(isAddress);
};

export const createPayees = (
  { baseUrl, key, folder, payees }: Pick<Settings, 'baseUrl' | 'key' | 'folder' | 'payees'>,
  readDelegate: () => Promise<Delegate>,
) => {
  const owner = createHash('sha256').update(`${baseUrl}\n${key}`).digest('hex');
  const file = path.join(folder, 'payees', `${owner}.json`);
  const read = async () => (await readPrivate<Payee[]>(file)) ?? [];

  return {
    /** An origin that asks for another payee than before is new, also for one part of an amount. */
    isKnown: async (asked: Asked): Promise<boolean> => {
      if (payees === 'any' || payees.includes(asked.origin)) return true;
      const known = await read();
      const isKnown = (each: Payee) => payees.includes(each.payee) || known.some((one) => isSame(one, each));
      return eachOf(asked).every(isKnown) || isOfKey(await readDelegate(), asked);
    },
    /** Stores the payees that the person has accepted. */
    add: (asked: Asked): Promise<void> =>
      withLock(`${file}.lock`, async () => {
        const known = await read();
        const added = eachOf(asked).filter((each) => !known.some((one) => isSame(one, each)));
        if (added.length > 0) await writePrivate(file, [...known, ...added]);
      }),
  };
};
export type Payees = ReturnType<typeof createPayees>;
