import { createHash } from 'node:crypto';
import type { Checkpoint, Included } from './chain.ts';
import type { Transfer } from './records.ts';

const BITS = 256;

const sha256 = (...parts: readonly string[]) => createHash('sha256').update(JSON.stringify(parts)).digest();

/** What an account holds before its first transaction. */
export const beginning = (account: string, keys: string): Checkpoint => ({
  account,
  signature: '',
  slot: 0,
  balance: 0n,
  known: 0,
  records: 0n,
  foreign: { transfers: 0, amount: 0n },
  keys,
});

/** The hash of what makes a transaction ours, and of what is counted. */
export const hashOfKeys = (mint: string, ours: ReadonlySet<string>): string =>
  sha256(mint, ...[...ours].sort()).toString('hex');

/** A record as the sum has it: which transfer, by which transaction, with which amount. */
const hashOfRecord = ({ source, id, signature }: Transfer, amount: bigint): bigint =>
  BigInt(`0x${sha256(source, id, signature ?? '', String(amount)).toString('hex')}`);

/** The sum of the hashes of records, as one number of 256 bits. */
export const sumOfRecords = (records: readonly { transfer: Transfer; amount: bigint }[]): bigint =>
  BigInt.asUintN(
    BITS,
    records.reduce((sum, { transfer, amount }) => sum + hashOfRecord(transfer, amount), 0n),
  );

const addSums = (a: bigint, b: bigint): bigint => BigInt.asUintN(BITS, a + b);

/** What a transaction is for the next checkpoint: a known record, foreign, or neither yet. */
export type Compared = { included: Included; amount: bigint } & (
  | { as: 'known'; transfer: Transfer }
  | { as: 'foreign' }
  | { as: 'other' }
);

/**
 * The checkpoint after the longest part of the history, oldest first, that is final and agrees with
 * the records.
 */
export const advance = (from: Checkpoint, history: readonly Compared[]): Checkpoint => {
  const end = history.findIndex(({ as, included }) => as === 'other' || !included.isFinal);
  const agreed = end === -1 ? history : history.slice(0, end);
  const last = agreed.at(-1);
  if (last === undefined) return from;
  const known = agreed.filter((each) => each.as === 'known');
  const foreign = agreed.filter(({ as }) => as === 'foreign');
  const total = (list: readonly Compared[]) => list.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    account: from.account,
    signature: last.included.signature,
    slot: last.included.slot,
    balance: from.balance + total(agreed),
    known: from.known + known.length,
    records: addSums(from.records, sumOfRecords(known)),
    foreign: {
      transfers: from.foreign.transfers + foreign.length,
      amount: from.foreign.amount + total(foreign),
    },
    keys: from.keys,
  };
};
