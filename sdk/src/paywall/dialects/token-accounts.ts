import { boundedMap } from '../../bounded-map.ts';
import { fromHex, hash, hex, utf8 } from '../../checks/encoding.ts';

/** Addresses of Solana, as the hexadecimal digits of their bytes. */

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const ADDRESS_BYTES = 32;

/** @param address the base58 form of 32 bytes */
export const hexOfAddress = (address: string): string => {
  let value = 0n;
  for (const character of address) value = value * 58n + BigInt(BASE58.indexOf(character));
  return value.toString(16).padStart(2 * ADDRESS_BYTES, '0');
};

export const TOKEN_PROGRAM = hexOfAddress('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
const ACCOUNT_PROGRAM = hexOfAddress('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL');
const MARK = hex(utf8('ProgramDerivedAddress'));

/** The curve Ed25519: -x² + y² = 1 + D·x²·y² modulo P. */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
const SIGN_BIT = 2n ** 255n;

/** Whether 32 bytes are a point of the curve: whether x² = (y² - 1) / (D·y² + 1) has a root. */
const isOnCurve = (bytes: Uint8Array): boolean => {
  const y = BigInt(`0x${hex(bytes.slice().reverse())}`) % SIGN_BIT;
  const square = (y * y) % P;
  let base = ((square + P - 1n) * (D * square + 1n)) % P;
  let power = 1n;
  for (let exponent = (P - 1n) / 2n; exponent > 0n; exponent /= 2n) {
    if (exponent % 2n === 1n) power = (power * base) % P;
    base = (base * base) % P;
  }
  return power < 2n;
};

const MAX_ACCOUNTS = 100;
const derived = boundedMap<string>(MAX_ACCOUNTS);

/**
 * The associated token account of an owner: the first address of its seeds that is off the curve,
 * so that nobody has a key of it.
 */
export const tokenAccountOf = async (owner: string, mint: string): Promise<string> => {
  const seeds = [hexOfAddress(owner), TOKEN_PROGRAM, hexOfAddress(mint)].join('');
  const known = derived.get(seeds);
  if (known !== undefined) return known;
  for (let bump = 255; ; bump -= 1) {
    const last = bump.toString(16).padStart(2, '0');
    const account = await hash(fromHex(`${seeds}${last}${ACCOUNT_PROGRAM}${MARK}`));
    if (isOnCurve(account)) continue;
    derived.set(seeds, hex(account));
    return hex(account);
  }
};
