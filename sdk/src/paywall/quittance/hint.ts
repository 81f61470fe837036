import { displayUsdc } from '../../generated/usdc.ts';
import type { Bill } from '../base/dialect.ts';

/** A longer address is not repeated: the hint is for a line of a terminal. */
const LONGEST_ADDRESS = 200;

/** An address as an argument of a shell. */
const argument = (address: string): string =>
  /^[\w.:/-]+$/.test(address) ? address : `'${address.replaceAll("'", '%27')}'`;

/**
 * What a person reads who meets a 402 in a terminal: its price, and how it is paid. Programs read
 * the other fields.
 */
export const hintOf = (
  { amount, units, metered }: Pick<Bill, 'amount' | 'units' | 'metered'>,
  { method, address }: { method: string; address: string },
): string => {
  const price =
    metered !== null
      ? `Up to ${displayUsdc(amount)}, for what is used`
      : `${displayUsdc(amount)}${units === null ? '' : ` for ${units} requests`}`;
  const url = address.length > LONGEST_ADDRESS ? '<address>' : argument(address);
  const command = `quittance pay ${method === 'GET' ? '' : `-X ${method} `}${url}`;
  // A browser gets a page for a fixed price only.
  return method === 'GET' && metered === null
    ? `${price}. Open this address in a browser, or pay with: ${command}`
    : `${price}. Pay with: ${command}`;
};
