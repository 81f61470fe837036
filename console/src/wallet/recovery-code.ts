/**
 * The printed recovery code: 128 random bits in Crockford's base 32 (no I, L, O, U), followed by 12
 * bits of SHA-256, which distinguish a typing error from the code of another wallet. Seven groups
 * of four characters.
 */

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const CODE_BYTES = 16;
const CHARACTERS = 28;

/** The first 12 bits of SHA-256. */
const checkOf = async (bytes: Uint8Array<ArrayBuffer>): Promise<bigint> => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return (BigInt(digest[0]!) << 4n) | (BigInt(digest[1]!) >> 4n);
};

/** 16 bytes as "XXXX-XXXX-…", seven groups. */
export const formatRecoveryCode = async (bytes: Uint8Array<ArrayBuffer>): Promise<string> => {
  let value = bytes.reduce((all, byte) => (all << 8n) | BigInt(byte), 0n);
  value = (value << 12n) | (await checkOf(bytes));
  const text = Array.from({ length: CHARACTERS }, (_, at) => {
    const shift = BigInt(5 * (CHARACTERS - 1 - at));
    return ALPHABET[Number((value >> shift) & 31n)];
  }).join('');
  return text.match(/.{4}/g)!.join('-');
};

/** Accepted alternatives: lower case, spaces, and letters that look like digits. */
const plain = (typed: string): string =>
  typed.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1');

/** The bytes of a typed code. Null if it is too short, has a wrong character, or is mistyped. */
export const parseRecoveryCode = async (typed: string): Promise<Uint8Array<ArrayBuffer> | null> => {
  const text = plain(typed);
  if (text.length !== CHARACTERS || [...text].some((each) => !ALPHABET.includes(each))) return null;
  const value = [...text].reduce((all, each) => (all << 5n) | BigInt(ALPHABET.indexOf(each)), 0n);
  const bytes = new Uint8Array(CODE_BYTES);
  for (let at = 0; at < CODE_BYTES; at += 1)
    bytes[at] = Number((value >> BigInt(12 + 8 * (CODE_BYTES - 1 - at))) & 255n);
  return (await checkOf(bytes)) === (value & 0xfffn) ? bytes : null;
};

/** True if the text is this group of the code, 0 to 6. */
export const isGroup = (code: string, group: number, typed: string): boolean =>
  code.split('-')[group] === plain(typed);
