import { PROGRAMS } from '../ledger/model/programs.ts';
import type { PlainInstruction } from './message.ts';

/**
 * Guards: instructions of Lighthouse that Phantom, Solflare and other wallets add to a transaction
 * to protect their users. One that holds does nothing, and one that does not fails the transaction.
 */

/** Wallets add at most this many. */
export const MAX_GUARDS = 6;
/**
 * The first byte of the assertions about the data of one account, its info and its token account,
 * each with a form for several fields. The others of Lighthouse write (0, 1), read what was written
 * (4), or are about a mint, stake, a program, a tree or the time, which others than the buyer
 * change.
 */
const ASSERTIONS = new Set([2, 3, 5, 6, 9, 10]);

export const isGuard = ({ program }: PlainInstruction): boolean => program === PROGRAMS.lighthouse;

/**
 * Why guards may not be co-signed; null if they may. Whoever can change an account that a guard
 * names can make the transaction fail, and our fee payer pays for that. A buyer can do so with its
 * own accounts anyway.
 * @param own the buyer's accounts
 */
export const wrongWithGuards = (
  guards: readonly PlainInstruction[],
  own: readonly string[],
): string | null => {
  if (guards.length > MAX_GUARDS) return `more than ${MAX_GUARDS} guard instructions`;
  for (const { data, accounts } of guards) {
    if (!ASSERTIONS.has(data[0] ?? -1)) return 'a guard does more than assert something of one account';
    if (accounts.length !== 1) return 'a guard names another number of accounts than one';
    if (!own.includes(accounts[0]!.address)) return 'a guard names an account of somebody else';
  }
  return null;
};
