import type { Logger } from 'pino';
import type { Bank, StoredAccount } from './bank.ts';
import type { TransactionError } from './errors.ts';
import { decodeTransaction, messageHashOf, type Transaction } from './formats/wire.ts';
import type { History } from './history.ts';
import { type Journal, readWhole, writeWhole } from './journal.ts';
import { FINALIZED_AFTER_SLOTS, type Ledger, type LedgerState } from './ledger.ts';
import type { Meta } from './meta.ts';
import type { Staged } from './staged.ts';

export type TransactionEntry = {
  t: 'tx';
  slot: number;
  /** Unix seconds. */
  time: number;
  signature: string;
  err: TransactionError | null;
  memo: string | null;
  keys: string[];
  /** The transaction, base64. */
  wire: string;
  meta: Meta;
  staged?: Staged | undefined;
};
type ForkEntry = { t: 'fork'; slot: number; count: number; firstLostSlot: number };
/** One line of the journal. */
export type Entry = TransactionEntry | ForkEntry;

type Snapshot = {
  /** The accounts are those at the end of this slot. */
  finalSlot: number;
  /** The ledger is that of a journal of this many bytes. */
  journalEnd: number;
  ledger: LedgerState;
  accounts: StoredAccount[];
};

/**
 * Stores the accounts at the finalized slot, not at the newest. The next start executes everything
 * after it again from the journal, which restores what forks and reads at older commitments need.
 */
export const saveSnapshot = (
  path: string,
  {
    finalSlot,
    journalEnd,
    ledger,
    bank,
  }: { finalSlot: number; journalEnd: number; ledger: Ledger; bank: Bank },
): void => {
  const content: Snapshot = {
    finalSlot,
    journalEnd,
    ledger: ledger.state(),
    accounts: bank.dump(finalSlot),
  };
  writeWhole(path, JSON.stringify(content));
};

const readSnapshot = (path: string, log: Logger): Snapshot | undefined => {
  const stored = readWhole(path);
  if (stored === 'missing') return undefined;
  if (stored !== 'damaged') return JSON.parse(stored.content) as Snapshot;
  log.warn({ path }, 'the snapshot is damaged; executing the whole journal again');
  return undefined;
};

/**
 * Restores ledger, bank and history from the snapshot and the journal's lines after it.
 *
 * @param tip The newest slot, if it is known.
 */
export const restoreChain = (parts: {
  snapshotPath: string;
  journal: Journal;
  ledger: Ledger;
  bank: Bank;
  history: History;
  tip: number | undefined;
  log: Logger;
}): void => {
  const { journal, ledger, bank, history, tip, log } = parts;
  const snapshot = readSnapshot(parts.snapshotPath, log);
  const finalSlot = snapshot?.finalSlot ?? 0;
  if (snapshot) {
    ledger.restore(snapshot.ledger);
    bank.load(snapshot.accounts);
  }

  let reRun = 0;
  const applyTransaction = (entry: TransactionEntry, transaction: Transaction): void => {
    bank.setClock(entry.slot, entry.time);
    // Its signatures were verified when it was included.
    const outcome = bank.execute(transaction, entry.slot, { verify: false, staged: entry.staged });
    reRun += 1;
    if (JSON.stringify(outcome?.err) !== JSON.stringify(entry.err)) {
      log.warn(
        { signature: entry.signature, before: entry.err, now: outcome?.err },
        'differs when run again',
      );
    }
  };

  for (const { text, offset, length } of journal.lines()) {
    const entry = JSON.parse(text) as Entry;
    const { slot } = entry;
    // The ledger of the snapshot includes everything up to `journalEnd`, but the accounts only up
    // to `finalSlot`.
    const newToLedger = offset >= (snapshot?.journalEnd ?? 0);
    if (newToLedger) ledger.advanceTo(slot);
    if (slot > finalSlot) bank.finalize(slot - FINALIZED_AFTER_SLOTS);
    if (entry.t === 'fork') {
      if (newToLedger) ledger.fork(entry.count);
      if (slot > finalSlot) bank.fork(entry.firstLostSlot);
      history.fork(entry.firstLostSlot);
      continue;
    }
    const transaction = decodeTransaction(Buffer.from(entry.wire, 'base64'));
    if (slot > finalSlot) applyTransaction(entry, transaction);
    const { signature, time, err, memo } = entry;
    const messageHash = messageHashOf(transaction);
    const included = { signature, messageHash, slot, time, err, memo, offset, length, lost: false };
    history.add(included, entry.keys);
  }
  ledger.advanceTo(tip ?? 0);
  bank.finalize(ledger.slot() - FINALIZED_AFTER_SLOTS);
  if (history.count() > 0) {
    log.info({ transactions: history.count(), reRun, slot: ledger.slot() }, 'state restored');
  }
};
