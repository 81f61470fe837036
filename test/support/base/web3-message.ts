import {
  Message,
  MessageV0,
  PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js';
import type { PlainMessage } from '../../../services/chain-submitter/transactions/message.ts';

/** Messages as web3.js writes and reads them, to compare our own code with. */

export const compileByWeb3 = (
  instructions: readonly TransactionInstruction[],
  { feePayer, blockhash }: { feePayer: string; blockhash: string },
  version: 'legacy' | 0,
): Uint8Array => {
  const message = new TransactionMessage({
    payerKey: new PublicKey(feePayer),
    recentBlockhash: blockhash,
    instructions: [...instructions],
  });
  return (version === 0 ? message.compileToV0Message() : message.compileToLegacyMessage()).serialize();
};

const parse = (bytes: Uint8Array): Message | MessageV0 => {
  if (VersionedMessage.deserializeMessageVersion(bytes) === 'legacy') return Message.from(bytes);
  const message = MessageV0.deserialize(bytes);
  if (message.addressTableLookups.length > 0) throw new Error('lookup tables');
  return message;
};

/** @throws Error when the bytes are not the canonical encoding of a message without tables */
export const decodeByWeb3 = (bytes: Uint8Array): PlainMessage => {
  const message = parse(bytes);
  if (!Buffer.from(message.serialize()).equals(bytes)) throw new Error('not canonical');
  const keys = message.staticAccountKeys.map((key) => key.toBase58());
  if (new Set(keys).size !== keys.length) throw new Error('an account twice');
  const at = (index: number): string => {
    if (keys[index] === undefined) throw new Error('an index out of range');
    return keys[index];
  };
  return {
    signers: keys.slice(0, message.header.numRequiredSignatures),
    writable: keys.filter((_, index) => message.isAccountWritable(index)),
    accounts: keys,
    blockhash: message.recentBlockhash,
    instructions: message.compiledInstructions.map(({ programIdIndex, accountKeyIndexes, data }) => ({
      program: at(programIdIndex),
      accounts: accountKeyIndexes.map((index) => ({
        address: at(index),
        signer: message.isAccountSigner(index),
        writable: message.isAccountWritable(index),
      })),
      data: Buffer.from(data),
    })),
  };
};
