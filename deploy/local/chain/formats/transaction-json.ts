import bs58 from 'bs58';
import { unsupportedTransactionVersion } from '../errors.ts';
import { parseInstruction } from '../instructions.ts';
import type { InnerInstructions } from '../meta.ts';
import type { TransactionEntry } from '../storage.ts';
import { decodeTransaction, isWritable, type Transaction } from './wire.ts';

export const TRANSACTION_ENCODINGS = ['json', 'jsonParsed', 'base64', 'base58'] as const;
/** `accounts` is the form of a block that was asked for with these details only. */
type TransactionEncoding = (typeof TRANSACTION_ENCODINGS)[number] | 'accounts';

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

const parsedKeys = ({ message }: Transaction, { keys, meta }: TransactionEntry) => {
  const loadedWritable = meta.loadedAddresses.writable.length;
  return keys.map((pubkey, index) => ({
    pubkey,
    signer: index < message.requiredSignatures,
    source: index < message.staticKeys.length ? 'transaction' : 'lookupTable',
    writable: isWritable(message, index, loadedWritable),
  }));
};

const parsedMessage = (transaction: Transaction, entry: TransactionEntry) => {
  const { message } = transaction;
  const { keys } = entry;
  return {
    accountKeys: parsedKeys(transaction, entry),
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

/** The fields that a node leaves out of a block's transactions whose details are `accounts`. */
const simpleMeta = ({ err, status, fee, preBalances, postBalances, ...meta }: TransactionEntry['meta']) => ({
  err,
  status,
  fee,
  preBalances,
  postBalances,
  preTokenBalances: meta.preTokenBalances,
  postTokenBalances: meta.postTokenBalances,
});

/**
 * A transaction of a block.
 *
 * @param maxVersion The newest version that the caller can read; undefined means legacy only.
 * @throws RpcError -32015 if the transaction is newer
 */
export const encodeInBlock = (
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
    accounts: () => ({ signatures, accountKeys: parsedKeys(transaction, entry) }),
  }[encoding]();
  const { meta } = entry;
  const shown = {
    json: () => meta,
    jsonParsed: () => ({ ...meta, innerInstructions: parsedInner(entry.keys, meta.innerInstructions) }),
    base64: () => meta,
    base58: () => meta,
    accounts: () => simpleMeta(meta),
  }[encoding]();
  return { transaction: encoded, meta: shown, ...(maxVersion !== undefined && { version }) };
};

/** The result of getTransaction. @throws RpcError -32015 if the transaction is newer */
export const encodeTransaction = (
  entry: TransactionEntry,
  encoding: TransactionEncoding,
  maxVersion: number | undefined,
) => ({ slot: entry.slot, blockTime: entry.time, ...encodeInBlock(entry, encoding, maxVersion) });
