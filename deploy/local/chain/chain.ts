import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { createBank, type Outcome } from './bank.ts';
import { preflightFailure, signatureVerificationFailure, type TransactionError } from './errors.ts';
import { createFaucet } from './faucet.ts';
import { priceOf } from './fees.ts';
import { createHistory, type IncludedTransaction } from './history.ts';
import { openJournal, openTip, readWhole, writeWhole } from './journal.ts';
import { parseExact } from './json.ts';
import { type Key, keyNamed, TOKEN_PROGRAM } from './keys.ts';
import { type Commitment, createLedger, FINALIZED_AFTER_SLOTS } from './ledger.ts';
import { memoOf, metaOf } from './meta.ts';
import type { Staged } from './staged.ts';
import { type Entry, restoreChain, saveSnapshot, type TransactionEntry } from './storage.ts';
import { newMintData } from './token.ts';
import { decodeTransaction, messageHashOf, type Transaction } from './wire.ts';

export type ChainEvent =
  | { type: 'slot' }
  | { type: 'transaction'; included: IncludedTransaction }
  | { type: 'received'; signature: string }
  | { type: 'fork'; lost: IncludedTransaction[] };

type SendOptions = {
  skipPreflight: boolean;
  preflightCommitment: Commitment;
  /** How the transaction finds one account, in preflight and in its block. */
  staged?: Staged;
};
export type Chain = ReturnType<typeof openChain>;
/** Addresses of a mint and of the authority that issues its tokens. */
export type GenesisMint = { address: string; authority: string };
type Genesis = { seed: string; mint?: GenesisMint | undefined };

const SNAPSHOT_EVERY_SLOTS = 150;
/** As many slots as a real node answers about. */
const RECENT_FEES = 150;
const MINT_DECIMALS = 6;

const address = (name: string): Key => {
  const key = keyNamed(name);
  if (!key) throw new Error(`${name} is no address: correct CHAIN_GENESIS_MINT`);
  return key;
};

const loadGenesis = (dataDir: string, first: Partial<Genesis>): Genesis => {
  const path = join(dataDir, 'genesis.json');
  const stored = readWhole(path);
  // A new seed would invalidate every stored blockhash and transaction.
  if (stored === 'damaged') throw new Error(`${path} is damaged: start with an empty folder`);
  if (stored !== 'missing') return JSON.parse(stored.content) as Genesis;
  const genesis = { seed: first.seed ?? randomBytes(32).toString('hex'), mint: first.mint };
  writeWhole(path, JSON.stringify(genesis));
  return genesis;
};

/**
 * A chain with its state in `dataDir`, which is created if it is missing. A new chain uses `seed`
 * and `genesisMint` if they are given. An existing chain keeps its own. All calls are synchronous,
 * so no request sees the intermediate state of another. Time passes only when `tick` is called.
 *
 * @throws Error if the stored state is damaged, or an address of `genesisMint` is none.
 */
export const openChain = ({
  dataDir,
  seed: first,
  genesisMint,
  log,
}: {
  dataDir: string;
  seed?: string | undefined;
  genesisMint?: GenesisMint | undefined;
  log: Logger;
}) => {
  const journal = openJournal(join(dataDir, 'journal'));
  const { seed, mint } = loadGenesis(dataDir, { ...(first && { seed: first }), mint: genesisMint });
  const tip = openTip(join(dataDir, 'tip'));
  const snapshotPath = join(dataDir, 'snapshot');
  const ledger = createLedger(seed);
  const bank = createBank();
  const history = createHistory();
  const faucet = createFaucet(seed);
  const stats = { executed: 0, failed: 0, duplicate: 0 };
  const listeners = new Set<(event: ChainEvent) => void>();
  let unixSeconds = 0;
  /** The smallest price per compute unit that a block takes, micro-lamports. */
  let floor = 0n;
  const recentFees: { slot: number; prioritizationFee: number }[] = [];
  let snapshotSlot = 0;
  let snapshotCount = 0;

  const emit = (event: ChainEvent) => {
    for (const listener of listeners) listener(event);
  };
  const finalSlot = () => ledger.slot() - FINALIZED_AFTER_SLOTS;
  const append = (entry: Entry) => journal.append(JSON.stringify(entry));

  const setClock = () => {
    unixSeconds = Math.max(unixSeconds, Math.floor(Date.now() / 1000));
    bank.setClock(ledger.slot(), unixSeconds);
  };

  const snapshot = () => {
    saveSnapshot(snapshotPath, { finalSlot: finalSlot(), journalEnd: journal.end(), ledger, bank });
    snapshotSlot = ledger.slot();
    snapshotCount = journal.end();
  };

  bank.endow(faucet.key, faucet.lamports);
  // At an address without a secret key, as USDC of the public networks has in every client.
  if (mint) {
    const data = newMintData(address(mint.authority), MINT_DECIMALS);
    bank.endow(address(mint.address), bank.minimumBalance(data.length), data, TOKEN_PROGRAM);
  }
  restoreChain({ snapshotPath, journal, ledger, bank, history, tip: tip.read(), log });
  snapshotSlot = ledger.slot();
  snapshotCount = journal.end();
  setClock();

  const tick = () => {
    ledger.advance();
    setClock();
    bank.finalize(finalSlot());
    recentFees.push({ slot: ledger.slot(), prioritizationFee: Number(floor) });
    if (recentFees.length > RECENT_FEES) recentFees.shift();
    tip.write(ledger.slot());
    if (ledger.slot() - snapshotSlot >= SNAPSHOT_EVERY_SLOTS && journal.end() > snapshotCount) snapshot();
    emit({ type: 'slot' });
  };

  /**
   * The reasons against inclusion that the runtime does not check: the age of the blockhash, and an
   * earlier inclusion.
   */
  const refusalOf = (transaction: Transaction, commitment: Commitment): TransactionError | undefined => {
    if (!ledger.isBlockhashValid(transaction.message.blockhash, commitment)) return 'BlockhashNotFound';
    return history.ofMessage(messageHashOf(transaction)) ? 'AlreadyProcessed' : undefined;
  };

  const record = (transaction: Transaction, outcome: Outcome, staged?: Staged) => {
    const slot = ledger.slot();
    const { signature, bytes } = transaction;
    const memo = memoOf(transaction);
    const keys = outcome.keys.all.map((key) => key.name);
    const meta = metaOf(bank, outcome, slot);
    const wire = Buffer.from(bytes).toString('base64');
    const { err } = outcome;
    const entry: Entry = { t: 'tx', slot, time: unixSeconds, signature, err, memo, keys, wire, meta, staged };
    const at = append(entry);
    const messageHash = messageHashOf(transaction);
    const included = { signature, messageHash, slot, time: unixSeconds, err, memo, ...at, lost: false };
    history.add(included, keys);
    if (err === null) stats.executed += 1;
    else stats.failed += 1;
    return included;
  };

  /** Includes a transaction in the current slot if it is valid. Otherwise drops it silently. */
  const include = (transaction: Transaction, staged?: Staged): IncludedTransaction | undefined => {
    const refusal = refusalOf(transaction, 'processed');
    if (refusal === 'AlreadyProcessed') stats.duplicate += 1;
    if (refusal) return undefined;
    const outcome = bank.execute(transaction, ledger.slot(), { staged });
    if (!outcome) return undefined;
    const included = record(transaction, outcome, staged);
    emit({ type: 'transaction', included });
    return included;
  };

  const simulate = (
    transaction: Transaction,
    verify: boolean,
    at: Commitment | 'any-blockhash',
    staged?: Staged,
  ) => {
    const result = bank.simulate(transaction, verify, staged);
    if (result.err === 'SignatureFailure') throw signatureVerificationFailure();
    const refusal = at === 'any-blockhash' ? undefined : refusalOf(transaction, at);
    return { ...result, refusal };
  };

  return {
    ledger,
    bank,
    history,
    stats,
    tick,
    include,
    simulate,
    unixSeconds: () => unixSeconds,
    /** The smallest price that each of the last slots took, oldest first. */
    recentFees: () => [...recentFees],
    setFloor: (microLamports: bigint): void => {
      floor = microLamports;
    },

    /** Calls back after every slot, transaction and fork, until the returned function is called. */
    listen: (listener: (event: ChainEvent) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    /**
     * Accepts a transaction as the real sendTransaction does. With preflight, a transaction that
     * cannot succeed is an error. Without preflight, the answer is always the signature, and the
     * transaction is dropped or fails in its block.
     *
     * @throws RpcError -32002 refused by preflight, -32003 bad signature
     */
    send: (transaction: Transaction, { skipPreflight, preflightCommitment, staged }: SendOptions): string => {
      if (!skipPreflight) {
        const { err, meta, refusal } = simulate(transaction, true, preflightCommitment, staged);
        if (refusal === 'AlreadyProcessed') stats.duplicate += 1;
        if (refusal) throw preflightFailure(refusal, [], 0);
        if (err) throw preflightFailure(err, meta.logs(), Number(meta.computeUnitsConsumed()));
      }
      emit({ type: 'received', signature: transaction.signature });
      // A congested block leaves out what offers less, and its sender gets no error.
      if (priceOf(transaction.message) >= floor) include(transaction, staged);
      return transaction.signature;
    },

    /**
     * Sends lamports from the faucet. Returns the signature, or undefined if the transfer is
     * refused.
     */
    airdrop: (to: Key, lamports: bigint): string | undefined => {
      const transaction = decodeTransaction(faucet.transfer(to, lamports, ledger.blockAt('processed').hash));
      if (bank.simulate(transaction, false).err) return undefined;
      return include(transaction)?.signature;
    },

    /**
     * Everything stored about a transaction. Integers above 2^53 keep their digits for JSON only.
     */
    load: (included: IncludedTransaction): TransactionEntry =>
      parseExact(journal.read(included)) as TransactionEntry,

    /**
     * Undoes the newest `count` slots.
     *
     * @returns the signatures that are undone, newest first; undefined if a finalized slot would be
     *   undone.
     */
    fork: (count: number): string[] | undefined => {
      const firstLostSlot = ledger.firstLostSlot(count);
      if (firstLostSlot === undefined) return undefined;
      append({ t: 'fork', slot: ledger.slot(), count, firstLostSlot });
      ledger.fork(count);
      bank.fork(firstLostSlot);
      setClock();
      tip.write(ledger.slot());
      const lost = history.fork(firstLostSlot);
      emit({ type: 'fork', lost });
      return lost.map(({ signature }) => signature);
    },

    /** Writes a snapshot and closes the files. No method may be called afterwards. */
    close: (): void => {
      snapshot();
      tip.write(ledger.slot());
      tip.close();
      journal.close();
    },
  };
};
