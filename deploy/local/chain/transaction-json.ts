import bs58 from 'bs58';
import { unsupportedTransactionVersion } from './errors.ts';
import { parseInstruction } from './instructions.ts';
import type { InnerInstructions } from './meta.ts';
import type { TransactionEntry } from './storage.ts';
import { decodeTransaction, isWritable, type Transaction } from './wire.ts';

type TransactionEncoding = 'json' | 'jsonParsed' | 'base64' | 'base58';

const lookupsOf = ({ message }: Transaction) =>
  message.lookups.map(({ table, writable, readonly }) => ({
    accountKey: table.name,
    writableIndexes: [...writable],
    readonlyIndexes: [...readonly],
  }));

const compiledMessage = (transaction: Transaction) => {
  const { message } = transaction;
  return {
    header: {
      numRequiredSignatures: message.requiredSignatures,
      numReadonlySignedAccounts: message.readonlySigned,
      numReadonlyUnsignedAccounts: message.readonlyUnsigned,
    },
    accountKeys: message.staticKeys.map((key) => key.name),
    recentBlockhash: message.blockhash,
    instructions: message.instructions.map(({ programIdIndex, accounts, data }) => ({
      programIdIndex,
      accounts: [...accounts],
      data: bs58.encode(data),
      stackHeight: 1,
    })),
    ...(message.version === 0 && { addressTableLookups: lookupsOf(transaction) }),
  };
};

const parsedMessage = (transaction: Transaction, entry: TransactionEntry) => {
  const { message } = transaction;
  const { keys, meta } = entry;
  const loadedWritable = meta.loadedAddresses.writable.length;
  return {
    accountKeys: keys.map((pubkey, index) => ({
      pubkey,
      signer: index < message.requiredSignatures,
      source: index < message.staticKeys.length ? 'transaction' : 'lookupTable',
      writable: isWritable(message, index, loadedWritable),
    })),
    recentBlockhash: message.blockhash,
    instructions: message.instructions.map(({ programIdIndex, accounts, data }) =>
      parseInstruction(keys[programIdIndex]!, namesOf(keys, accounts), data, 1),
    ),
    ...(message.version === 0 && { addressTableLookups: lookupsOf(transaction) }),
  };
};

const namesOf = (keys: string[], indexes: Iterable<number>): string[] =>
  [...indexes].map((index) => keys[index]!);

/** Inner instructions as `jsonParsed` shows them. */
export const parsedInner = (keys: string[], list: InnerInstructions[]) =>
  list.map(({ index, instructions }) => ({
    index,
    instructions: instructions.map(({ programIdIndex, accounts, data, stackHeight }) =>
      parseInstruction(keys[programIdIndex]!, namesOf(keys, accounts), bs58.decode(data), stackHeight),
    ),
  }));

/**
 * The result of getTransaction.
 *
 * @param maxVersion The newest version that the caller can read; undefined means legacy only.
 * @throws RpcError -32015 if the transaction is newer
 */
export const encodeTransaction = (
  entry: TransactionEntry,
  encoding: TransactionEncoding,
  maxVersion: number | undefined,
) => {
  const transaction = decodeTransaction(Buffer.from(entry.wire, 'base64'));
  const { version } = transaction.message;
  if (version !== 'legacy' && (maxVersion === undefined || version > maxVersion)) {
    throw unsupportedTransactionVersion(version);
  }
  const { signatures } = transaction;
  const encoded = {
    json: () => ({ signatures, message: compiledMessage(transaction) }),
    jsonParsed: () => ({ signatures, message: parsedMessage(transaction, entry) }),
    base64: () => [entry.wire, 'base64'],
    base58: () => [bs58.encode(transaction.bytes), 'base58'],
  }[encoding]();
  const { meta } = entry;
  return {
    slot: entry.slot,
    blockTime: entry.time,
    transaction: encoded,
    meta:
      encoding === 'jsonParsed'
        ? { ...meta, innerInstructions: parsedInner(entry.keys, meta.innerInstructions) }
        : meta,
    ...(maxVersion !== undefined && { version }),
  };
};
