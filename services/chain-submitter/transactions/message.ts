import {
  Message,
  MessageV0,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
import { keyOf, PROGRAMS } from '../chain/addresses.ts';

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
