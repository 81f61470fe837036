import bs58 from 'bs58';
import { LRUCache } from 'lru-cache';
import { PROGRAMS } from '../chain/addresses.ts';

/**
 * Reads messages, also those that other clients have built. The policy decides by what is read
 * here, so no builder uses it. web3.js needs 75 µs for a message, and a test compares both.
 */

/** One instruction with its accounts' addresses and the rights that the message gives them. */
export type PlainInstruction = {
  program: string;
  accounts: { address: string; signer: boolean; writable: boolean }[];
  data: Uint8Array;
};
export type PlainMessage = {
  /** In the order of their signatures; the first pays the fee. */
  signers: string[];
  writable: string[];
  /** Every account of the message, also one that no instruction names: a search by it finds all. */
  accounts: string[];
  blockhash: string;
  instructions: PlainInstruction[];
};

/** The highest bit of the first byte marks a versioned message, whose version the others are. */
const VERSIONED = 0x80;
const KEY_BYTES = 32;
/** Continues a compact length, which has seven bits in each byte. */
const CONTINUES = 0x80;

const texts = new LRUCache<string, string>({ max: 10_000 });
/** The base58 text of a key. Cached by the bytes, because most keys of a payment occur again. */
const textOf = (key: Buffer): string => {
  const bytes = key.toString('latin1');
  const found = texts.get(bytes);
  if (found !== undefined) return found;
  const text = bs58.encode(key);
  texts.set(bytes, text);
  return text;
};

/** Reads bytes from their beginning to their end. Each part throws where they are too short. */
const createReader = (bytes: Uint8Array) => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  const take = (length: number): Buffer => {
    if (at + length > buffer.length) throw new Error('The message is too short.');
    at += length;
    return buffer.subarray(at - length, at);
  };
  const byte = (): number => take(1)[0]!;
  return {
    byte,
    take,
    key: (): string => textOf(take(KEY_BYTES)),
    /** A compact length. Another encoding of the same number is refused. */
    length: (): number => {
      let [value, next, shift] = [0, CONTINUES, 0];
      while (next >= CONTINUES) {
        next = byte();
        value |= (next & 0x7f) << shift;
        shift += 7;
        if ((next === 0 && shift > 7) || shift > 14) throw new Error('The message bytes are not canonical.');
      }
      return value;
    },
    end: (): void => {
      if (at !== buffer.length) throw new Error('The message is too long.');
    },
  };
};

type Reader = ReturnType<typeof createReader>;
type Header = { signers: number; readonlySigners: number; readonlyOthers: number };

const listOf = <T>({ length }: Reader, read: () => T): T[] => Array.from({ length: length() }, read);

/** What the header says of an account by its place. */
const rightsIn = (keys: number, { signers, readonlySigners, readonlyOthers }: Header) => {
  const isSigner = (index: number): boolean => index < signers;
  const isWritable = (index: number): boolean =>
    isSigner(index) ? index < signers - readonlySigners : index < keys - readonlyOthers;
  return { isSigner, isWritable };
};

/** @throws Error when the bytes are not the canonical encoding of a message */
const read = (bytes: Uint8Array, isVersioned: boolean): PlainMessage => {
  const reader = createReader(bytes);
  if (isVersioned) reader.byte();
  const [signers, readonlySigners, readonlyOthers] = reader.take(3) as unknown as [number, number, number];
  const keys = listOf(reader, reader.key);
  if (new Set(keys).size !== keys.length) throw new Error('The message names an account twice.');
  const blockhash = reader.key();
  const { isSigner, isWritable } = rightsIn(keys.length, { signers, readonlySigners, readonlyOthers });
  const at = (index: number): string => {
    const key = keys[index];
    if (key === undefined) throw new Error('An account index is out of range.');
    return key;
  };
  const instructions = listOf(reader, () => {
    const program = at(reader.byte());
    const indexes = listOf(reader, reader.byte);
    const accounts = indexes.map((index) => ({
      address: at(index),
      signer: isSigner(index),
      writable: isWritable(index),
    }));
    return { program, accounts, data: reader.take(reader.length()) };
  });
  if (isVersioned && reader.length() > 0) throw new Error('The message uses lookup tables.');
  reader.end();
  return {
    signers: keys.slice(0, signers),
    writable: keys.filter((_, index) => isWritable(index)),
    accounts: keys,
    blockhash,
    instructions,
  };
};

/**
 * Decodes the bytes of a legacy message.
 * @throws Error for a versioned message, for bytes that do not decode, and for bytes that are not
 *   the canonical encoding of their message
 */
export const decodeMessage = (bytes: Uint8Array): PlainMessage => {
  if ((bytes[0] ?? 0) >= VERSIONED) throw new Error('The message is not a legacy message.');
  return read(bytes, false);
};

/**
 * Decodes a message that another client may have built: legacy, or version 0 without lookup tables.
 * A table would name accounts that the bytes do not show.
 * @throws Error as `decodeMessage`, and for a message with lookup tables
 */
export const decodeAnyMessage = (bytes: Uint8Array): PlainMessage => {
  const first = bytes[0] ?? 0;
  if (first < VERSIONED) return read(bytes, false);
  if (first > VERSIONED) throw new Error('The version of the message is not supported.');
  return read(bytes, true);
};

/**
 * The index of the instruction that creates a token account; null without one. Compute budget
 * instructions or a wallet's guards may come before it.
 */
export const findCreationIndex = (message: Uint8Array): number | null => {
  const index = decodeAnyMessage(message).instructions.findIndex(
    ({ program }) => program === PROGRAMS.tokenAccount,
  );
  return index < 0 ? null : index;
};
