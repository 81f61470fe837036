import { Message, type TransactionInstruction, TransactionMessage, VersionedMessage } from '@solana/web3.js';
import bs58 from 'bs58';
import { publicKeyFromRaw, verifyBytes } from '../../../shared/lib/ed25519.ts';
import { keyOf, PROGRAMS } from '../chain/addresses.ts';

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

/**
 * Where a message creates a token account, null when it does not: compute-budget instructions or a wallet's guards may
 * come before it.
 */
export const findCreationIndex = (message: Uint8Array): number | null => {
  const index = decodeMessage(message).instructions.findIndex(
    ({ program }) => program === PROGRAMS.tokenAccount,
  );
  return index < 0 ? null : index;
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

/** A transaction of anybody's, as a provider shows it. */
export type IncludedTransaction = {
  /** The first signature, which names the transaction. */
  signature: string;
  /** An account that the message itself names; undefined for those of a look-up table. */
  accountAt: (index: number) => string | undefined;
  /**
   * The account whose key made that signature over these bytes, null when it did not. It is a proof: nobody can show
   * other bytes or another key for a given signature, so a transaction that is not ours is known as such from one provider.
   */
  feePayer: () => string | null;
};

const KEY_BYTES = 32;

/**
 * Reads a transaction of any version.
 * @throws Error when it is none
 */
export const readIncluded = (wire: Uint8Array): IncludedTransaction => {
  const signatures = wire[0] ?? 0;
  const signature = wire.subarray(1, 1 + SIGNATURE_BYTES);
  const message = wire.subarray(1 + signatures * SIGNATURE_BYTES);
  // The first byte of a versioned message has its highest bit set; three bytes of header follow.
  const header = (message[0] ?? 0) >= 0x80 ? 1 : 0;
  const [low = 0, high = 0] = message.subarray(header + 3);
  const [keys, start] = low < 0x80 ? [low, header + 4] : [(low & 0x7f) | (high << 7), header + 5];
  if (signatures === 0 || signatures > 19 || message.length < start + keys * KEY_BYTES || keys === 0)
    throw new Error('not a wire transaction');
  // Balances are looked up account by account, and text of a key is dear.
  const addresses: string[] = [];
  const keyAt = (index: number) =>
    message.subarray(start + index * KEY_BYTES, start + (index + 1) * KEY_BYTES);
  return {
    signature: bs58.encode(signature),
    accountAt: (index) => {
      if (index >= keys) return undefined;
      addresses[index] ??= bs58.encode(keyAt(index));
      return addresses[index];
    },
    feePayer: () =>
      verifyBytes(message, signature, publicKeyFromRaw(keyAt(0))) ? bs58.encode(keyAt(0)) : null,
  };
};
