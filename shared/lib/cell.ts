/**
 * The cell that made an id, key or token: a number of ten bits, the last ten of its random bits
 * (docs/adr/0071). So a gateway in front of several cells needs no directory of ids.
 */
const CELLS = 1024;
export const MAX_CELL = CELLS - 1;

let own = 0;

/** Sets the cell of this process. Only its start calls it, before anything is made. */
export const setCell = (cell: number): void => {
  own = cell;
};

/** The cell of this process. */
export const ownCell = (): number => own;

/** The bytes with a cell in their last ten bits. */
export const withCell = (bytes: Buffer, cell = own): Buffer => {
  const last = bytes.length - 2;
  const marked = Buffer.from(bytes);
  marked.writeUInt16BE((bytes.readUInt16BE(last) & ~MAX_CELL) | cell, last);
  return marked;
};

const HEX = '0123456789abcdef';
/** Crockford's alphabet of TypeIDs. */
const BASE32 = '0123456789abcdefghjkmnpqrstvwxyz';
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** A cell as the last two characters of a TypeID. */
export const cellSuffix = (cell = own): string => `${BASE32[cell >> 5]}${BASE32[cell & 31]}`;

/** The last ten bits of a number, without the number itself. */
const lastBits = (digits: string, alphabet: string): number => {
  let rest = 0;
  for (const digit of digits) rest = (rest * alphabet.length + alphabet.indexOf(digit)) % CELLS;
  return rest;
};

const ofBytes = (text: string): number => Buffer.from(text, 'base64url').readUInt16BE(30) & MAX_CELL;

/** Of signed JSON, by the object that it is about: a token, an access token, a cursor. */
const ofPayload = (text: string): number | null => {
  let payload: unknown;
  try {
    payload = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (Array.isArray(payload)) return Number.isInteger(payload[0]) ? payload[0] : null;
  const { settlement_id, quote_id, sub } = Object(payload) as Record<string, unknown>;
  const id = settlement_id ?? quote_id ?? sub;
  return typeof id === 'string' ? cellOf(id) : null;
};

/** The kinds of texts, and the part of each that names the cell. */
const KINDS: readonly [RegExp, (part: string) => number | null][] = [
  [/^(?:[a-z]+_)?([0-7][0-9a-hjkmnp-tv-z]{25})$/, (part) => lastBits(part.slice(-2), BASE32)],
  [/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{9}([0-9a-f]{3})$/, (part) => lastBits(part, HEX)],
  [/^(?:vendor|dk)_(?:test|live)_([0-9A-Za-z]{43})[0-9A-Za-z]{6}$/, (part) => lastBits(part, BASE62)],
  [/^(?:ml|rv|dc)_(?:test|live)_([A-Za-z0-9_-]{43})$/, ofBytes],
  [/^rt_(?:test|live)_([0-7][0-9a-hjkmnp-tv-z]{25})_/, (part) => lastBits(part.slice(-2), BASE32)],
  [/^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/, ofPayload],
  [/^[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/, ofPayload],
];

/**
 * The cell of an id, a key, a token or a cursor. It proves nothing: who makes up an id chooses its
 * cell, and finds nothing there.
 * @returns a cell for every text of a known form, else null
 */
export const cellOf = (text: string): number | null => {
  for (const [form, cellIn] of KINDS) {
    const part = form.exec(text)?.[1];
    if (part !== undefined) return cellIn(part);
  }
  return null;
};
