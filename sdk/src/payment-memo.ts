import { displayUsdc } from './generated/usdc.ts';

/**
 * The memo of a payment that a wallet shows to a person. It says what is paid to whom, and ends
 * with the hash of the offer that it answers.
 */

type Sold = { amount: string; resource: string };

/**
 * With the hash these are 76 bytes, for which the memo program takes at most 27,000 compute units.
 */
const LONGEST_TEXT = 53;
/** 128 bits. An offer has a nonce of the vendor, so nobody can look for one with the same hash. */
const HASH_BESIDE_TEXT = 22;
const HASH = /^[\w-]{43}$/;
const SHORT_HASH = /^[\w-]{22}$/;

/** "0.05 USDC to shop.example". Of a long name the end is kept, which says whose it is. */
export const memoTextOf = ({ amount, resource }: Sold): string => {
  const [price, { host }] = [`${displayUsdc(amount)} to `, new URL(resource)];
  const room = LONGEST_TEXT - price.length;
  return `${price}${host.length > room ? `..${host.slice(2 - room)}` : host}`;
};

/** @param text null: the client has no room for one */
export const memoOf = (text: string | null, hash: string): string =>
  text === null ? hash : `${text} ${hash.slice(0, HASH_BESIDE_TEXT)}`;

/** Whether a memo says nothing to its reader but what is sold. */
export const isMemoOf = (memo: string, sold: Sold): boolean => {
  const text = `${memoTextOf(sold)} `;
  return memo.startsWith(text) ? SHORT_HASH.test(memo.slice(text.length)) : HASH.test(memo);
};
