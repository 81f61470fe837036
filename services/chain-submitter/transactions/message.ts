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
/** The accounts that a message takes from a lookup table, by their places in it. */
type Lookup = { table: string; writable: number[]; readonly: number[] };
/** A message as its bytes have it: instructions name accounts by their number. */
type Compiled = {
  header: Header;
  /** The accounts that the bytes show. Those of lookup tables follow them. */
  keys: string[];
  blockhash: string;
  instructions: { program: number; accounts: number[]; data: Uint8Array }[];
  lookups: Lookup[];
};
/** The addresses of lookup tables, by the table. */
export type LookupTables = ReadonlyMap<string, readonly string[]>;
/** For messages that may name none. */
export const NO_TABLES: LookupTables = new Map();

const listOf = <T>({ length }: Reader, read: () => T): T[] => Array.from({ length: length() }, read);

/** @throws Error when the bytes are not the canonical encoding of a message */
const readCompiled = (bytes: Uint8Array): Compiled => {
  const first = bytes[0] ?? 0;
  if (first > VERSIONED) throw new Error('The version of the message is not supported.');
  const reader = createReader(bytes);
  if (first === VERSIONED) reader.byte();
  const [signers, readonlySigners, readonlyOthers] = reader.take(3) as unknown as [number, number, number];
  const keys = listOf(reader, reader.key);
  const blockhash = reader.key();
  const instructions = listOf(reader, () => ({
    program: reader.byte(),
    accounts: listOf(reader, reader.byte),
    data: reader.take(reader.length()),
  }));
  const readLookup = () => {
    const table = reader.key();
    const [writable, readonly] = [listOf(reader, reader.byte), listOf(reader, reader.byte)];
    if (writable.length + readonly.length === 0) throw new Error('A lookup table is not used.');
    return { table, writable, readonly };
  };
  const lookups = first === VERSIONED ? listOf(reader, readLookup) : [];
  reader.end();
  return { header: { signers, readonlySigners, readonlyOthers }, keys, blockhash, instructions, lookups };
};

/** The accounts of the tables, as the chain numbers them: all writable ones first. */
const loadedBy = (lookups: readonly Lookup[], tables: LookupTables) => {
  const pick = (which: 'writable' | 'readonly') =>
    lookups.flatMap((lookup) =>
      lookup[which].map((index) => {
        const address = tables.get(lookup.table)?.[index];
        if (address === undefined) throw new Error('The message uses lookup tables that are not known.');
        return address;
      }),
    );
  return { writable: pick('writable'), readonly: pick('readonly') };
};

/** What the header says of an account by its place. */
const rightsIn = (
  keys: number,
  { signers, readonlySigners, readonlyOthers }: Header,
  loadedWritable: number,
) => {
  const isSigner = (index: number): boolean => index < signers;
  const isWritable = (index: number): boolean => {
    if (index >= keys) return index - keys < loadedWritable;
    return isSigner(index) ? index < signers - readonlySigners : index < keys - readonlyOthers;
  };
  return { isSigner, isWritable };
};

/** @throws Error when an account is missing or named twice, or a table is not in `tables` */
const resolve = (compiled: Compiled, tables: LookupTables): PlainMessage => {
  const { header, keys, blockhash, lookups } = compiled;
  const loaded = loadedBy(lookups, tables);
  const accounts = [...keys, ...loaded.writable, ...loaded.readonly];
  if (new Set(accounts).size !== accounts.length) throw new Error('The message names an account twice.');
  const { isSigner, isWritable } = rightsIn(keys.length, header, loaded.writable.length);
  const at = (from: readonly string[], index: number): string => {
    const key = from[index];
    if (key === undefined) throw new Error('An account index is out of range.');
    return key;
  };
  return {
    signers: keys.slice(0, header.signers),
    writable: accounts.filter((_, index) => isWritable(index)),
    accounts,
    blockhash,
    instructions: compiled.instructions.map(({ program, accounts: indexes, data }) => ({
      // The chain takes no program from a table.
      program: at(keys, program),
      accounts: indexes.map((index) => ({
        address: at(accounts, index),
        signer: isSigner(index),
        writable: isWritable(index),
      })),
      data,
    })),
  };
};

/**
 * Decodes the bytes of a legacy message.
 * @throws Error for a versioned message, for bytes that do not decode, and for bytes that are not
 *   the canonical encoding of their message
 */
export const decodeMessage = (bytes: Uint8Array): PlainMessage => {
  if ((bytes[0] ?? 0) >= VERSIONED) throw new Error('The message is not a legacy message.');
  return resolve(readCompiled(bytes), NO_TABLES);
};

/**
 * Decodes a message that another client may have built: legacy, or version 0.
 * @param tables the lookup tables that the message may name. A table has accounts that the bytes do
 *   not show
 * @throws Error as `decodeMessage`, and for a message with another lookup table
 */
export const decodeAnyMessage = (bytes: Uint8Array, tables: LookupTables = NO_TABLES): PlainMessage =>
  resolve(readCompiled(bytes), tables);

/**
 * What the bytes of any message say without its lookup tables.
 * @returns `tables`: the highest place that the message names in each
 * @throws Error as `decodeMessage`
 */
export const readEnvelope = (
  bytes: Uint8Array,
): { signers: string[]; blockhash: string; tables: Map<string, number> } => {
  const { header, keys, blockhash, lookups } = readCompiled(bytes);
  const tables = new Map<string, number>();
  for (const { table, writable, readonly } of lookups)
    tables.set(table, Math.max(tables.get(table) ?? 0, ...writable, ...readonly));
  return { signers: keys.slice(0, header.signers), blockhash, tables };
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
