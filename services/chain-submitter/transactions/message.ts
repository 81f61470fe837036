import { createHash } from 'node:crypto';
import {
  Message,
  MessageV0,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
import { keyOf, PROGRAMS } from '../chain/addresses.ts';

/**
 * Solana's wire format: the number of signatures, the signatures, the message. Messages are bytes
 * everywhere in this service, so that the checked, signed, stored and sent message is the same.
 */
const SIGNATURE_BYTES = 64;
const MAX_WIRE_BYTES = 1232;
const MAX_SIGNATURES = 19;
const VERSIONED = 0x80;

/** Compiles instructions to the bytes of a legacy message. */
export const compileMessage = (
  instructions: readonly TransactionInstruction[],
  { feePayer, blockhash }: { feePayer: string; blockhash: string },
): Uint8Array =>
  new TransactionMessage({
    payerKey: keyOf(feePayer),
    recentBlockhash: blockhash,
    instructions: [...instructions],
  })
    .compileToLegacyMessage()
    .serialize();

/**
 * Compiles instructions to the bytes of a message of version 0 without lookup tables, as x402
 * requires.
 */
export const compileMessageV0 = (
  instructions: readonly TransactionInstruction[],
  { feePayer, blockhash }: { feePayer: string; blockhash: string },
): Uint8Array =>
  new TransactionMessage({
    payerKey: keyOf(feePayer),
    recentBlockhash: blockhash,
    instructions: [...instructions],
  })
    .compileToV0Message()
    .serialize();

/** SHA-256 of message bytes, in hexadecimal. It does not depend on the signatures. */
export const hashMessage = (message: Uint8Array): string =>
  createHash('sha256').update(message).digest('hex');

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

/** @throws Error when the bytes are not the canonical encoding of the message */
const toPlain = (message: VersionedMessage, bytes: Uint8Array): PlainMessage => {
  if (!Buffer.from(message.serialize()).equals(bytes))
    throw new Error('The message bytes are not canonical.');
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  if (new Set(keys).size !== keys.length) throw new Error('The message names an account twice.');
  const { numRequiredSignatures } = message.header;
  const at = (index: number): string => {
    const key = keys[index];
    if (key === undefined) throw new Error('An account index is out of range.');
    return key;
  };
  return {
    signers: keys.slice(0, numRequiredSignatures),
    writable: keys.filter((_, index) => message.isAccountWritable(index)),
    accounts: keys,
    blockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map((instruction) => ({
      program: at(instruction.programIdIndex),
      accounts: instruction.accountKeyIndexes.map((index) => ({
        address: at(index),
        signer: message.isAccountSigner(index),
        writable: message.isAccountWritable(index),
      })),
      data: instruction.data,
    })),
  };
};

/**
 * Decodes the bytes of a legacy message.
 * @throws Error for a versioned message, for bytes that do not decode, and for bytes that are not
 *   the canonical encoding of their message
 */
export const decodeMessage = (bytes: Uint8Array): PlainMessage => {
  if (VersionedMessage.deserializeMessageVersion(bytes) !== 'legacy')
    throw new Error('The message is not a legacy message.');
  return toPlain(Message.from(bytes), bytes);
};

/**
 * Decodes a message that another client may have built: legacy, or version 0 without lookup tables.
 * A table would name accounts that the bytes do not show.
 * @throws Error as `decodeMessage`, and for a message with lookup tables
 */
export const decodeAnyMessage = (bytes: Uint8Array): PlainMessage => {
  const version = VersionedMessage.deserializeMessageVersion(bytes);
  if (version === 'legacy') return decodeMessage(bytes);
  if (version !== 0) throw new Error('The version of the message is not supported.');
  const message = MessageV0.deserialize(bytes);
  if (message.addressTableLookups.length > 0) throw new Error('The message uses lookup tables.');
  return toPlain(message, bytes);
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

/** The wire bytes of a message and its signatures. Null leaves a slot empty (64 zero bytes). */
export const assemble = (message: Uint8Array, signatures: readonly (Uint8Array | null)[]): Buffer =>
  Buffer.concat([
    Uint8Array.of(signatures.length),
    ...signatures.map((signature) => signature ?? new Uint8Array(SIGNATURE_BYTES)),
    message,
  ]);

/**
 * Splits wire bytes into signatures and message.
 * @throws Error when they are too long, too short, or the number of signatures differs from the
 *   message's
 */
export const disassemble = (wire: Uint8Array): { signatures: Uint8Array[]; message: Uint8Array } => {
  const count = wire[0] ?? 0;
  const start = 1 + count * SIGNATURE_BYTES;
  // Below 128 the compact length is one byte; a transaction of 1232 bytes holds at most 19
  // signatures.
  if (wire.length > MAX_WIRE_BYTES || count === 0 || count > MAX_SIGNATURES || wire.length <= start) {
    throw new Error('The bytes are not a wire transaction.');
  }
  const message = wire.subarray(start);
  // The highest bit of the first byte marks a versioned message, whose header follows it.
  const signers = message[0]! < VERSIONED ? message[0] : message[1];
  if (signers !== count) throw new Error('The number of signatures differs from the number of signers.');
  return {
    signatures: Array.from({ length: count }, (_, index) =>
      wire.subarray(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES),
    ),
    message,
  };
};
