import { Message, type TransactionInstruction, TransactionMessage, VersionedMessage } from '@solana/web3.js';
import { keyOf } from './addresses.ts';

/**
 * Solana's wire form: a count of signatures, the signatures, the message. Messages are bytes everywhere in this
 * service, so that what is checked, signed, stored and sent is one and the same thing.
 */
export const SIGNATURE_BYTES = 64;
export const MAX_WIRE_BYTES = 1232;

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

/** One instruction with its accounts spelled out and the rights the message gives them. */
export type PlainInstruction = {
  program: string;
  accounts: { address: string; signer: boolean; writable: boolean }[];
  data: Uint8Array;
};
export type PlainMessage = {
  /** In the order of their signatures; the first pays the fee. */
  signers: string[];
  writable: string[];
  blockhash: string;
  instructions: PlainInstruction[];
};

/**
 * Reads message bytes.
 * @throws Error for a versioned message, for bytes that do not decode, and for bytes that are not the one
 * canonical form of what they decode to.
 */
export const decodeMessage = (bytes: Uint8Array): PlainMessage => {
  if (VersionedMessage.deserializeMessageVersion(bytes) !== 'legacy') throw new Error('not a legacy message');
  const message = Message.from(bytes);
  if (!Buffer.from(message.serialize()).equals(bytes)) throw new Error('not canonical message bytes');
  const keys = message.accountKeys.map((key) => key.toBase58());
  if (new Set(keys).size !== keys.length) throw new Error('an account is named twice');
  const { numRequiredSignatures } = message.header;
  const at = (index: number): string => {
    const key = keys[index];
    if (key === undefined) throw new Error('an account index is out of range');
    return key;
  };
  return {
    signers: keys.slice(0, numRequiredSignatures),
    writable: keys.filter((_, index) => message.isAccountWritable(index)),
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

/** Puts signatures before the message; null leaves a slot empty (64 zero bytes). */
export const assemble = (message: Uint8Array, signatures: readonly (Uint8Array | null)[]): Buffer =>
  Buffer.concat([
    Uint8Array.of(signatures.length),
    ...signatures.map((signature) => signature ?? new Uint8Array(SIGNATURE_BYTES)),
    message,
  ]);

/**
 * Takes wire bytes apart.
 * @throws Error when they are too long, too short, or the count of signatures is not that of the message.
 */
export const disassemble = (wire: Uint8Array): { signatures: Uint8Array[]; message: Uint8Array } => {
  const count = wire[0] ?? 0;
  const start = 1 + count * SIGNATURE_BYTES;
  // Below 128 the compact length is one byte; no transaction of 1232 bytes holds more than 19 signatures.
  if (wire.length > MAX_WIRE_BYTES || count === 0 || count > 19 || wire.length <= start) {
    throw new Error('not a wire transaction');
  }
  const message = wire.subarray(start);
  if (message[0] !== count) throw new Error('the count of signatures is not that of the message');
  return {
    signatures: Array.from({ length: count }, (_, index) =>
      wire.subarray(1 + index * SIGNATURE_BYTES, 1 + (index + 1) * SIGNATURE_BYTES),
    ),
    message,
  };
};
