import {
  type Keypair,
  Message,
  PublicKey,
  TransactionInstruction,
  TransactionMessage,
} from '@solana/web3.js';
import { PROGRAMS } from '../../services/chain-submitter/chain/addresses.ts';
import { privateKeyFromSeed, signBytes } from '../../shared/lib/ed25519.ts';

/** How a client changes a prepared transaction before it is signed. */
export type Change = {
  instructions?: (list: TransactionInstruction[]) => TransactionInstruction[];
  feePayer?: PublicKey;
  blockhash?: string;
  /** Signs too, in addition to the owner. */
  also?: Keypair;
};

/** The instructions of a prepared transaction. */
export const instructionsOf = (transaction: string): TransactionInstruction[] => {
  const wire = Buffer.from(transaction, 'base64');
  return TransactionMessage.decompile(Message.from(wire.subarray(1 + 64 * wire[0]!))).instructions;
};

/**
 * Decodes a prepared transaction, changes it, encodes it and signs it as the owner's wallet does.
 */
export const signChanged = (transaction: string, owner: Keypair, change: Change = {}): string => {
  const wire = Buffer.from(transaction, 'base64');
  const prepared = Message.from(wire.subarray(1 + 64 * wire[0]!));
  const message = new TransactionMessage({
    payerKey: change.feePayer ?? prepared.accountKeys[0]!,
    recentBlockhash: change.blockhash ?? prepared.recentBlockhash,
    instructions: change.instructions?.(instructionsOf(transaction)) ?? instructionsOf(transaction),
  }).compileToLegacyMessage();
  const bytes = message.serialize();
  const keys = [owner, ...(change.also === undefined ? [] : [change.also])];
  const slots = message.accountKeys.slice(0, message.header.numRequiredSignatures).map((key) => {
    const signer = keys.find(({ publicKey }) => publicKey.equals(key));
    return signer === undefined
      ? new Uint8Array(64)
      : signBytes(bytes, privateKeyFromSeed(signer.secretKey.subarray(0, 32)));
  });
  return Buffer.concat([Uint8Array.of(slots.length), ...slots, bytes]).toString('base64');
};

const LIGHTHOUSE = new PublicKey(PROGRAMS.lighthouse);

/** A guard assertion as wallets add it, over accounts that it only reads by default. */
export const guard = (
  ...accounts: { key: PublicKey; writable?: boolean; signer?: boolean }[]
): TransactionInstruction =>
  new TransactionInstruction({
    programId: LIGHTHOUSE,
    keys: accounts.map(({ key, writable = false, signer = false }) => ({
      pubkey: key,
      isWritable: writable,
      isSigner: signer,
    })),
    data: Buffer.of(6, 1, 2),
  });

/** An instruction with other data. */
export const withData = (
  instruction: TransactionInstruction,
  change: (data: Buffer) => void,
): TransactionInstruction => {
  const data = Buffer.from(instruction.data);
  change(data);
  return new TransactionInstruction({ ...instruction, data });
};

/** An instruction with another account at an index. */
export const withAccount = (
  instruction: TransactionInstruction,
  at: number,
  pubkey: PublicKey,
): TransactionInstruction =>
  new TransactionInstruction({
    ...instruction,
    keys: instruction.keys.map((key, index) => (index === at ? { ...key, pubkey } : key)),
  });
