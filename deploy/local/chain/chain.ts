import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { type Bank, createBank, type Outcome } from './bank.ts';
import { preflightFailure, signatureVerificationFailure, type TransactionError } from './errors.ts';
import { createFaucet } from './faucet.ts';
import { priceOf } from './fees.ts';
import { parseExact } from './formats/json.ts';
import { decodeTransaction, messageHashOf, type Transaction } from './formats/wire.ts';
import { createHistory, type IncludedTransaction } from './history.ts';
import { openJournal, openTip, readWhole, writeWhole } from './journal.ts';
import { type Key, keyNamed, TOKEN_PROGRAM } from './keys.ts';
import { type Commitment, createLedger, FINALIZED_AFTER_SLOTS, type Ledger } from './ledger.ts';
import { memoOf, metaOf } from './meta.ts';
import type { Staged } from './staged.ts';
import { type Entry, restoreChain, saveSnapshot, type TransactionEntry } from './storage.ts';
import { newMintData } from './token.ts';

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
/** The id of a program, and the file of its ELF. It is no part of the stored state. */
type ProgramFile = { id: string; file: string };
type Genesis = { seed: string; mint?: GenesisMint | undefined };

const SNAPSHOT_EVERY_SLOTS = 150;
/** As many slots as a real node answers about. */
const RECENT_FEES = 150;
const MINT_DECIMALS = 6;

const address = (name: string, setting = 'CHAIN_GENESIS_MINT'): Key => {
  const key = keyNamed(name);
  if (!key) throw new Error(`${name} is no address: correct ${setting}`);
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

type State = { bank: Bank; ledger: Ledger; history: ReturnType<typeof createHistory> };

const createEvents = () => {
  const listeners = new Set<(event: ChainEvent) => void>();
  return {
    emit: (event: ChainEvent): void => {
      for (const listener of listeners) listener(event);
    },
    /** Calls back after every slot, transaction and fork, until the returned function is called. */
    listen: (listener: (event: ChainEvent) => void): (() => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
};

/** The smallest price per compute unit that a block takes, micro-lamports. */
const createFloor = () => {
  let floor = 0n;
  const recent: { slot: number; prioritizationFee: number }[] = [];
  return {
    get: (): bigint => floor,
    set: (microLamports: bigint): void => {
      floor = microLamports;
    },
    record: (slot: number): void => {
      recent.push({ slot, prioritizationFee: Number(floor) });
      if (recent.length > RECENT_FEES) recent.shift();
    },
    /** The smallest price that each of the last slots took, oldest first. */
    recent: () => [...recent],
  };
};

const finalSlotOf = (ledger: Ledger): number => ledger.slot() - FINALIZED_AFTER_SLOTS;

/** Saves the state now and then, so that a start does not execute the whole journal again. */
const createSnapshots = (
  snapshotPath: string,
  { ledger, bank, journal }: { ledger: Ledger; bank: Bank; journal: ReturnType<typeof openJournal> },
) => {
  let slot = ledger.slot();
  let end = journal.end();
  const save = (): void => {
    saveSnapshot(snapshotPath, { finalSlot: finalSlotOf(ledger), journalEnd: journal.end(), ledger, bank });
    slot = ledger.slot();
    end = journal.end();
  };
  return {
    save,
    saveIfDue: (): void => {
      if (ledger.slot() - slot >= SNAPSHOT_EVERY_SLOTS && journal.end() > end) save();
    },
  };
};

type TransactionRecord = Extract<Entry, { t: 'tx' }>;

/** What the journal has of an included transaction, and the accounts that it names. */
const entryOf = (
  transaction: Transaction,
  { err, keys: { all } }: Outcome,
  { slot, time, meta, staged }: Pick<TransactionRecord, 'slot' | 'time' | 'meta' | 'staged'>,
): { entry: TransactionRecord; keys: string[] } => {
  const { signature, bytes } = transaction;
  const memo = memoOf(transaction);
  const keys = all.map((key) => key.name);
  const wire = Buffer.from(bytes).toString('base64');
  return { entry: { t: 'tx', slot, time, signature, err, memo, keys, wire, meta, staged }, keys };
};

/** What a new chain has: the lamports of the faucet, and a mint. */
const endowGenesis = (
  bank: Bank,
  faucet: ReturnType<typeof createFaucet>,
  mint: GenesisMint | undefined,
): void => {
  bank.endow(faucet.key, faucet.lamports);
  // At an address without a secret key, as USDC of the public networks has in every client.
  if (mint) {
    const data = newMintData(address(mint.authority), MINT_DECIMALS);
    bank.endow(address(mint.address), bank.minimumBalance(data.length), data, TOKEN_PROGRAM);
  }
};

const deployAll = (bank: Bank, programs: readonly ProgramFile[]): void => {
  for (const { id, file } of programs) bank.deploy(address(id, 'CHAIN_PROGRAMS'), readFileSync(file));
};

type Opening = {
  dataDir: string;
  seed?: string | undefined;
  genesisMint?: GenesisMint | undefined;
  programs?: readonly ProgramFile[];
  log: Logger;
};

/**
 * The reasons against inclusion that the runtime does not check: the age of the blockhash, and an
 * earlier inclusion.
 */
const refusalOf = (
  { ledger, history }: Pick<State, 'ledger' | 'history'>,
  transaction: Transaction,
  commitment: Commitment,
): TransactionError | undefined => {
  if (!ledger.isBlockhashValid(transaction.message.blockhash, commitment)) return 'BlockhashNotFound';
  return history.ofMessage(messageHashOf(transaction)) ? 'AlreadyProcessed' : undefined;
};

const simulateAt = (
  state: State,
  transaction: Transaction,
  verify: boolean,
  at: Commitment | 'any-blockhash',
  staged?: Staged,
) => {
  const result = state.bank.simulate(transaction, verify, staged);
  if (result.err === 'SignatureFailure') throw signatureVerificationFailure();
  const refusal = at === 'any-blockhash' ? undefined : refusalOf(state, transaction, at);
  return { ...result, refusal };
};

type Simulate = (
  transaction: Transaction,
  verify: boolean,
  at: Commitment | 'any-blockhash',
  staged?: Staged,
) => ReturnType<typeof simulateAt>;

/**
 * A chain with its state in `dataDir`, which is created if it is missing. A new chain uses `seed`
 * and `genesisMint` if they are given. An existing chain keeps its own. All calls are synchronous,
 * so no request sees the intermediate state of another. Time passes only when `tick` is called.
 *
 * @throws Error if the stored state is damaged, or an address of `genesisMint` or `programs` is
 *   none.
 */
export const openChain = ({ dataDir, seed: first, genesisMint, programs = [], log }: Opening) => {
  const journal = openJournal(join(dataDir, 'journal'));
  const { seed, mint } = loadGenesis(dataDir, { ...(first && { seed: first }), mint: genesisMint });
  const tip = openTip(join(dataDir, 'tip'));
  const snapshotPath = join(dataDir, 'snapshot');
  const ledger = createLedger(seed);
  const bank = createBank();
  const history = createHistory();
  const faucet = createFaucet(seed);
  const stats = { executed: 0, failed: 0, duplicate: 0 };
  const { listen, emit } = createEvents();
  const floor = createFloor();
  let unixSeconds = 0;

  const append = (entry: Entry) => journal.append(JSON.stringify(entry));

  const setClock = () => {
    unixSeconds = Math.max(unixSeconds, Math.floor(Date.now() / 1000));
    bank.setClock(ledger.slot(), unixSeconds);
  };

  endowGenesis(bank, faucet, mint);
  deployAll(bank, programs);
  restoreChain({ snapshotPath, journal, ledger, bank, history, tip: tip.read(), log });
  const snapshots = createSnapshots(snapshotPath, { ledger, bank, journal });
  setClock();

  const tick = () => {
    ledger.advance();
    setClock();
    bank.finalize(finalSlotOf(ledger));
    floor.record(ledger.slot());
    tip.write(ledger.slot());
    snapshots.saveIfDue();
    emit({ type: 'slot' });
  };

  const record = (transaction: Transaction, outcome: Outcome, staged?: Staged) => {
    const { entry, keys } = entryOf(transaction, outcome, {
      slot: ledger.slot(),
      time: unixSeconds,
      meta: metaOf(bank, outcome, ledger.slot()),
      staged,
    });
    const { signature, slot, time, err, memo } = entry;
    const at = append(entry);
    const included = {
      signature,
      messageHash: messageHashOf(transaction),
      slot,
      time,
      err,
      memo,
      ...at,
      lost: false,
    };
    history.add(included, keys);
    if (err === null) stats.executed += 1;
    else stats.failed += 1;
    return included;
  };

  /** Includes a transaction in the current slot if it is valid. Otherwise drops it silently. */
  const include = (transaction: Transaction, staged?: Staged): IncludedTransaction | undefined => {
    const refusal = refusalOf({ ledger, history }, transaction, 'processed');
    if (refusal === 'AlreadyProcessed') stats.duplicate += 1;
    if (refusal) return undefined;
    const outcome = bank.execute(transaction, ledger.slot(), { staged });
    if (!outcome) return undefined;
    const included = record(transaction, outcome, staged);
    emit({ type: 'transaction', included });
    return included;
  };

  const simulate: Simulate = (transaction, verify, at, staged) =>
    simulateAt({ bank, ledger, history }, transaction, verify, at, staged);

  return {
    ledger,
    bank,
    history,
    stats,
    tick,
    include,
    simulate,
    unixSeconds: () => unixSeconds,
    recentFees: floor.recent,
    setFloor: floor.set,
    listen,

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
      if (priceOf(transaction.message) >= floor.get()) include(transaction, staged);
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
      snapshots.save();
      tip.write(ledger.slot());
      tip.close();
      journal.close();
    },
  };
};
