import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import { type Key, keyOf } from '../keys.ts';

/**
 * Maximum size of a serialized transaction in bytes: `PACKET_DATA_SIZE`, the IPv6 MTU less headers.
 */
export const MAX_TRANSACTION_BYTES = 1232;

type Instruction = { programIdIndex: number; accounts: Uint8Array; data: Uint8Array };
type TableLookup = { table: Key; writable: Uint8Array; readonly: Uint8Array };
export type Message = {
  version: 'legacy' | 0;
  requiredSignatures: number;
  readonlySigned: number;
  readonlyUnsigned: number;
  staticKeys: Key[];
  blockhash: string;
  instructions: Instruction[];
  lookups: TableLookup[];
};
export type Transaction = {
  bytes: Uint8Array;
  signatures: string[];
  /** The first signature, which identifies the transaction. */
  signature: string;
  message: Message;
};

/** Bytes that are not a transaction. */
export class WireError extends Error {}

class Reader {
  readonly bytes: Uint8Array;
  offset = 0;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  take(length: number): Uint8Array {
    const end = this.offset + length;
    if (end > this.bytes.length) throw new WireError('unexpected end of data');
    const part = this.bytes.subarray(this.offset, end);
    this.offset = end;
    return part;
  }
  byte(): number {
    return this.take(1)[0]!;
  }
  /** Compact-u16, refusing non-canonical forms as Solana's short_vec does. */
  length(): number {
    let value = 0;
    for (let index = 0; index < 3; index += 1) {
      const byte = this.byte();
      if (byte === 0 && index > 0) throw new WireError('alias in a compact length');
      value |= (byte & 0x7f) << (7 * index);
      if (byte < 0x80) {
        if (value > 0xffff) throw new WireError('compact length out of range');
        return value;
      }
    }
    throw new WireError('compact length too long');
  }
  end(): void {
    if (this.offset !== this.bytes.length) throw new WireError('trailing bytes');
  }
}

const check = (holds: boolean): void => {
  if (!holds) throw new WireError('Transaction failed to sanitize accounts offsets correctly');
};

// The rules of `sanitize` of solana-message. A message that passes can be indexed by the runtime
// without a panic.
const sanitize = (message: Message): void => {
  const { requiredSignatures, readonlySigned, readonlyUnsigned, staticKeys, lookups } = message;
  check(requiredSignatures > 0 && readonlySigned < requiredSignatures);
  check(requiredSignatures + readonlyUnsigned <= staticKeys.length);
  const loaded = lookups.reduce((sum, one) => sum + one.writable.length + one.readonly.length, 0);
  check(lookups.every((one) => one.writable.length + one.readonly.length > 0));
  check(staticKeys.length + loaded <= 256);
  for (const { programIdIndex, accounts } of message.instructions) {
    check(programIdIndex > 0 && programIdIndex < staticKeys.length);
    check(accounts.every((index) => index < staticKeys.length + loaded));
  }
};

const readMessage = (reader: Reader): Message => {
  const first = reader.byte();
  const version = first & 0x80 ? first & 0x7f : 'legacy';
  if (version !== 'legacy' && version !== 0) throw new WireError('unsupported transaction version');
  const requiredSignatures = version === 'legacy' ? first : reader.byte();
  const readonlySigned = reader.byte();
  const readonlyUnsigned = reader.byte();
  const staticKeys = Array.from({ length: reader.length() }, () => keyOf(reader.take(32)));
  const blockhash = keyOf(reader.take(32)).name;
  const instructions = Array.from({ length: reader.length() }, () => ({
    programIdIndex: reader.byte(),
    accounts: reader.take(reader.length()),
    data: reader.take(reader.length()),
  }));
  const lookups =
    version === 'legacy'
      ? []
      : Array.from({ length: reader.length() }, () => ({
          table: keyOf(reader.take(32)),
          writable: reader.take(reader.length()),
          readonly: reader.take(reader.length()),
        }));
  reader.end();
  const message: Message = {
    version,
    requiredSignatures,
    readonlySigned,
    readonlyUnsigned,
    staticKeys,
    blockhash,
    instructions,
    lookups,
  };
  sanitize(message);
  return message;
};

/**
 * Decodes a transaction strictly: every byte is accounted for and every index is in range. LiteSVM
 * aborts the process on bytes that it cannot decode, so only decoded transactions reach it.
 *
 * @throws WireError
 */
export const decodeTransaction = (bytes: Uint8Array): Transaction => {
  if (bytes.length > MAX_TRANSACTION_BYTES) throw new WireError('transaction too large');
  const reader = new Reader(bytes);
  const signatures = Array.from({ length: reader.length() }, () => bs58.encode(reader.take(64)));
  const message = readMessage(reader);
  check(signatures.length === message.requiredSignatures);
  return { bytes, signatures, signature: signatures[0]!, message };
};

/**
 * SHA-256 of the message, base64. Solana recognizes a transaction by it: other bytes in place of a
 * signature do not make another transaction.
 */
export const messageHashOf = ({ bytes, signatures }: Pick<Transaction, 'bytes' | 'signatures'>): string =>
  // The number of signatures is one byte, because more than 127 do not fit into a transaction.
  createHash('sha256')
    .update(bytes.subarray(1 + 64 * signatures.length))
    .digest('base64');

/**
 * Decodes a message without signatures, as getFeeForMessage receives it.
 *
 * @throws WireError
 */
export const decodeMessage = (bytes: Uint8Array): Message => readMessage(new Reader(bytes));

/**
 * Whether the header makes the account at `index` writable. `loadedWritable` is the number of
 * writable accounts from lookup tables. They follow the static accounts, writable ones before
 * read-only ones.
 */
export const isWritable = (message: Message, index: number, loadedWritable: number): boolean => {
  const { requiredSignatures, readonlySigned, readonlyUnsigned, staticKeys } = message;
  if (index >= staticKeys.length) return index - staticKeys.length < loadedWritable;
  if (index < requiredSignatures) return index < requiredSignatures - readonlySigned;
  return index < staticKeys.length - readonlyUnsigned;
};
