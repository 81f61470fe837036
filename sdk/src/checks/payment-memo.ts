import { displayUsdc } from '../generated/usdc.ts';

/**
 * The memo of a payment that a wallet shows to a person. It says what is paid to whom, and ends
 * with the hash of the offer that it answers.
 */

type Sold = { amount: string; resource: string };

/**
 * With the hash these are 76 bytes, for which the memo program takes at most 27,000 compute units.
 */
const LONGEST_TEXT = 53;
/**
 * 128 bits. An offer has a nonce of the vendor, so nobody can look for one with the same hash. The
 * memo that clients of x402 make themselves is longer, so it has room in their compute units.
 */
const HASH_LENGTH = 22;
const HASH = /^[\w-]{22}$/;

/** "0.05 USDC to shop.example". Of a long name the end is kept, which says whose it is. */
export const memoTextOf = ({ amount, resource }: Sold): string => {
  const [price, { host }] = [`${displayUsdc(amount)} to `, new URL(resource)];
  const room = LONGEST_TEXT - price.length;
  return `${price}${host.length > room ? `..${host.slice(2 - room)}` : host}`;
};

/** @param text null: the client has no room for one */
export const memoOf = (text: string | null, hash: string): string =>
  `${text === null ? '' : `${text} `}${hash.slice(0, HASH_LENGTH)}`;

/** Whether a memo says nothing to its reader but what is sold. */
export const isMemoOf = (memo: string, sold: Sold): boolean => {
  const text = `${memoTextOf(sold)} `;
  return HASH.test(memo.startsWith(text) ? memo.slice(text.length) : memo);
};
