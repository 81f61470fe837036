import type { TransactionInstruction } from '@solana/web3.js';
import { keyOf } from '../chain/addresses.ts';

/**
 * Writes messages. web3.js needs 70 µs for one, because it encodes each key in base58 again and
 * copies the message several times. The policy reads what is written here by other code
 * (message.ts), and a test compares both with web3.js.
 */

/** Marks a message of version 0. */
const VERSION_0 = 0x80;
/** A compact length below this takes one byte. A message of 1,232 bytes has no longer list. */
const ONE_BYTE = 0x80;

type Account = { key: Uint8Array; signer: boolean; writable: boolean };

/** The accounts by their address, the payer first, then in the order in which they are named. */
const collectAccounts = (
  instructions: readonly TransactionInstruction[],
  feePayer: string,
): Map<string, Account> => {
  const accounts = new Map<string, Account>();
  const add = (address: string, key: () => Uint8Array, { signer, writable }: Omit<Account, 'key'>): void => {
    const known = accounts.get(address);
    if (known === undefined) accounts.set(address, { key: key(), signer, writable });
    else {
      known.signer ||= signer;
      known.writable ||= writable;
    }
  };
  add(feePayer, () => keyOf(feePayer).toBytes(), { signer: true, writable: true });
  for (const { programId, keys } of instructions) {
    add(programId.toBase58(), () => programId.toBytes(), { signer: false, writable: false });
    for (const { pubkey, isSigner, isWritable } of keys)
      add(pubkey.toBase58(), () => pubkey.toBytes(), { signer: isSigner, writable: isWritable });
  }
  return accounts;
};

/** A list is written with its length before it. */
const lengthOf = (count: number): number => {
  if (count >= ONE_BYTE) throw new RangeError('The list is too long for a message.');
  return count;
};

const compile = (
  instructions: readonly TransactionInstruction[],
  { feePayer, blockhash }: { feePayer: string; blockhash: string },
  prefix: readonly number[],
): Uint8Array[] => {
  const accounts = [...collectAccounts(instructions, feePayer)];
  const of = (signer: boolean, writable: boolean) =>
    accounts.filter(([, account]) => account.signer === signer && account.writable === writable);
  const readonlySigners = of(true, false);
  const readonlyOthers = of(false, false);
  const ordered = [...of(true, true), ...readonlySigners, ...of(false, true), ...readonlyOthers];
  const signers = ordered.filter(([, { signer }]) => signer).length;
  const indexes = new Map(ordered.map(([address], index) => [address, index]));
  const indexOf = (address: string): number => indexes.get(address)!;
  const header = [signers, readonlySigners.length, readonlyOthers.length].map(lengthOf);
  const bytes = [
    Uint8Array.of(...prefix, ...header, lengthOf(ordered.length)),
    ...ordered.map(([, { key }]) => key),
    keyOf(blockhash).toBytes(),
    Uint8Array.of(lengthOf(instructions.length)),
  ];
  for (const { programId, keys, data } of instructions)
    bytes.push(
      Uint8Array.of(
        indexOf(programId.toBase58()),
        lengthOf(keys.length),
        ...keys.map(({ pubkey }) => indexOf(pubkey.toBase58())),
        lengthOf(data.length),
      ),
      data,
    );
  return bytes;
};

/** Compiles instructions to the bytes of a legacy message. */
export const compileMessage = (
  instructions: readonly TransactionInstruction[],
  from: { feePayer: string; blockhash: string },
): Uint8Array => Buffer.concat(compile(instructions, from, []));

/**
 * Compiles instructions to the bytes of a message of version 0 without lookup tables, as x402
 * requires.
 */
export const compileMessageV0 = (
  instructions: readonly TransactionInstruction[],
  from: { feePayer: string; blockhash: string },
): Uint8Array => Buffer.concat([...compile(instructions, from, [VERSION_0]), Uint8Array.of(0)]);
