import { createRequire } from 'node:module';
import type {
  Account as NativeAccount,
  Clock as NativeClock,
  SimulatedTransactionInfo,
  TransactionMetadata,
} from 'litesvm/dist/internal.js';
import { type TransactionError, toTransactionError } from './errors.ts';
import { isWritable, type Transaction } from './formats/wire.ts';
import { type Key, keyNamed, keyOf, LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from './keys.ts';
import { type Staged, stagedData } from './staged.ts';
import { createUndoLog } from './undo-log.ts';

// The raw class, not the wrapper for kit, because it accepts bytes and is twice as fast.
const { LiteSvm, Account, Clock } = createRequire(import.meta.url)(
  'litesvm/dist/internal.js',
) as typeof import('litesvm/dist/internal.js');

export type Account = NativeAccount;
type Runtime = InstanceType<typeof LiteSvm>;
type Keys = { all: Key[]; staticCount: number; loadedWritable: number };

/** The result of a transaction. `before` and `after` are in the order of `keys.all`. */
export type Outcome = {
  err: TransactionError | null;
  meta: TransactionMetadata;
  keys: Keys;
  before: (Account | null)[];
  after: (Account | null)[];
};

/** One account for storage: key, lamports, data (base64), owner, executable. */
export type StoredAccount = [key: string, lamports: string, data: string, owner: string, executable: boolean];

export type Bank = ReturnType<typeof createBank>;

const LOOKUP_TABLE_HEADER_BYTES = 56;
/** As many recent slots as a real node has for programs. */
const SLOT_HASHES = 512;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;

const bytesOf = (name: string): Uint8Array => keyNamed(name)!.bytes;

const put = (svm: Runtime, name: string, account: Account | null): void => {
  // LiteSVM removes an account that is set to nothing.
  const gone = () => new Account(0n, new Uint8Array(), new Uint8Array(32), false, 0n);
  svm.setAccount(bytesOf(name), account ?? gone());
};

const storedOf = (name: string, account: Account): StoredAccount => [
  name,
  account.lamports().toString(),
  Buffer.from(account.data()).toString('base64'),
  keyOf(account.owner()).name,
  account.executable(),
];

/** Puts an account into the staged state. Returns the function that puts it back. */
const stage = (svm: Runtime, staged: Staged | undefined): (() => void) => {
  const real = staged && svm.getAccount(bytesOf(staged.account));
  if (!real) return () => {};
  const data = stagedData(real.data(), staged);
  put(svm, staged.account, new Account(real.lamports(), data, real.owner(), false, RENT_EXEMPT_EPOCH));
  return () => put(svm, staged.account, real);
};

const sendTo = (svm: Runtime, { message: { version }, bytes }: Transaction) =>
  version === 'legacy' ? svm.sendLegacyTransaction(bytes) : svm.sendVersionedTransaction(bytes);

const simulateIn = (svm: Runtime, { message: { version }, bytes }: Transaction) =>
  version === 'legacy' ? svm.simulateLegacyTransaction(bytes) : svm.simulateVersionedTransaction(bytes);

/** The keys of a transaction, those of its lookup tables included. */
const resolveKeys = (svm: Runtime, { message }: Transaction): Keys => {
  const writable: Key[] = [];
  const readonly: Key[] = [];
  for (const lookup of message.lookups) {
    const table = svm.getAccount(lookup.table.bytes);
    if (!table || keyOf(table.owner()) !== LOOKUP_TABLE_PROGRAM) continue;
    const data = table.data();
    const pick = (indexes: Uint8Array, into: Key[]) => {
      for (const index of indexes) {
        const start = LOOKUP_TABLE_HEADER_BYTES + 32 * index;
        if (start + 32 <= data.length) into.push(keyOf(data.subarray(start, start + 32)));
      }
    };
    pick(lookup.writable, writable);
    pick(lookup.readonly, readonly);
  }
  return {
    all: [...message.staticKeys, ...writable, ...readonly],
    staticCount: message.staticKeys.length,
    loadedWritable: writable.length,
  };
};

/**
 * Sets the slots that the program of lookup tables regards as recent. Only transactions with tables
 * need it.
 */
const applySlotHashes = (
  svm: Runtime,
  { message: { lookups, staticKeys } }: Transaction,
  slot: number,
): void => {
  if (lookups.length === 0 && !staticKeys.includes(LOOKUP_TABLE_PROGRAM)) return;
  const hash = SYSTEM_PROGRAM.name;
  svm.setSlotHashes(
    Array.from({ length: SLOT_HASHES }, (_, age) => ({ slot: BigInt(slot - 1 - age), hash })),
  );
};

/** What a simulated transaction would change. */
const simulatedOutcome = (
  svm: Runtime,
  transaction: Transaction,
  result: SimulatedTransactionInfo,
): Outcome => {
  const keys = resolveKeys(svm, transaction);
  const before = keys.all.map((key) => svm.getAccount(key.bytes));
  const changed = new Map(result.postAccounts().map((one) => [keyOf(one.address).name, one.account()]));
  const after = keys.all.map((key, index) => changed.get(key.name) ?? before[index]!);
  return { err: null, meta: result.meta(), keys, before, after };
};

const putAll = (svm: Runtime, stored: readonly StoredAccount[]): void => {
  // The data account of a program must exist before the program.
  const dataFirst = stored.toSorted((a, b) => Number(a[4]) - Number(b[4]));
  for (const [name, lamports, data, owner, executable] of dataFirst) {
    const bytes = Buffer.from(data, 'base64');
    put(svm, name, new Account(BigInt(lamports), bytes, bytesOf(owner), executable, RENT_EXEMPT_EPOCH));
  }
};

/**
 * The accounts, and the runtime that changes them: LiteSVM with the real SPL programs.
 */
export const createBank = () => {
  const svm = new LiteSvm();
  // LiteSVM has one blockhash and a short history. The ledger implements both as Solana does.
  svm.setBlockhashCheck(false);
  svm.setTransactionHistory(0n);

  const undo = createUndoLog();
  const touched = new Set<string>();

  let clock = { slot: 0, unixSeconds: 0 };
  let isClockSet = true;

  /** Called before the runtime is used, because nothing happens in most slots of an idle chain. */
  const applyClock = (): void => {
    if (isClockSet) return;
    const old: NativeClock = svm.getClock();
    const [slot, time] = [BigInt(clock.slot), BigInt(clock.unixSeconds)];
    svm.setClock(new Clock(slot, old.epochStartTimestamp, old.epoch, old.leaderScheduleEpoch, time));
    isClockSet = true;
  };

  const accountAt = (key: Key, slot: number): Account | null => {
    const before = undo.contentAt(key.name, slot);
    if (before !== undefined) return before;
    // The clock is an account, too.
    applyClock();
    return svm.getAccount(key.bytes);
  };

  return {
    /** Sets what programs see as the current slot and time (Unix seconds). */
    setClock: (slot: number, unixSeconds: number): void => {
      clock = { slot, unixSeconds };
      isClockSet = false;
    },

    /** The account at the end of `slot`, exact for every slot from the finalized one on. */
    accountAt,

    minimumBalance: (bytes: number): bigint => svm.minimumBalanceForRentExemption(BigInt(bytes)),

    /**
     * Runs a transaction and keeps its effects. Returns undefined if the transaction may not be in
     * a block, because an error without an instruction costs no fee and leaves no trace. Otherwise
     * it returns the outcome. A transaction that failed in an instruction has paid its fee.
     */
    execute: (
      transaction: Transaction,
      slot: number,
      { verify = true, staged }: { verify?: boolean; staged?: Staged | undefined } = {},
    ): Outcome | undefined => {
      applyClock();
      applySlotHashes(svm, transaction, clock.slot);
      const keys = resolveKeys(svm, transaction);
      const read = (key: Key) => svm.getAccount(key.bytes);
      const before = keys.all.map(read);
      svm.setSigverify(verify);
      const unstage = stage(svm, staged);
      const result = sendTo(svm, transaction);
      unstage();
      const err = 'err' in result ? toTransactionError(result) : null;
      if (typeof err === 'string') return undefined;
      const after = keys.all.map((key, index) => {
        if (!isWritable(transaction.message, index, keys.loadedWritable)) return before[index]!;
        touched.add(key.name);
        undo.remember(key.name, slot, before[index]!);
        return read(key);
      });
      return { err, meta: 'err' in result ? result.meta() : result, keys, before, after };
    },

    /** Runs a transaction without effects. */
    simulate: (transaction: Transaction, verify: boolean, staged?: Staged) => {
      applyClock();
      applySlotHashes(svm, transaction, clock.slot);
      svm.setSigverify(verify);
      const unstage = stage(svm, staged);
      const result = simulateIn(svm, transaction);
      unstage();
      if ('err' in result) {
        return { err: toTransactionError(result), meta: result.meta(), outcome: undefined };
      }
      return { err: null, meta: result.meta(), outcome: () => simulatedOutcome(svm, transaction, result) };
    },

    /**
     * Puts lamports, and the data of a program, into an account outside of any transaction. Only
     * for accounts that exist from genesis on.
     */
    endow: (key: Key, lamports: bigint, data = new Uint8Array(), owner = SYSTEM_PROGRAM): void => {
      put(svm, key.name, new Account(lamports, data, owner.bytes, false, RENT_EXEMPT_EPOCH));
    },

    /** Puts a program beside those of LiteSVM. */
    deploy: (id: Key, elf: Uint8Array): void => svm.addProgram(id.bytes, new Uint8Array(elf)),

    /** The names of the accounts that changed in slots that are not final yet. */
    recentlyChanged: undo.names,

    /** Every account owned by that program, now. */
    ownedBy: (program: Key): Key[] => svm.getProgramAccounts(program.bytes).map((one) => keyOf(one.address)),

    /** Removes the undo records of slots up to this one, because they are final. */
    finalize: undo.finalize,

    /** Undoes everything from `firstLostSlot` on. */
    fork: (firstLostSlot: number): void => undo.fork(firstLostSlot, (name, before) => put(svm, name, before)),

    /** Every account that a transaction ever changed, as it was at the end of `slot`. */
    dump: (slot: number): StoredAccount[] => {
      const stored: StoredAccount[] = [];
      for (const name of touched) {
        const account = accountAt(keyNamed(name)!, slot);
        if (!account) continue;
        stored.push(storedOf(name, account));
      }
      return stored;
    },

    load: (stored: StoredAccount[]): void => {
      for (const [name] of stored) touched.add(name);
      putAll(svm, stored);
    },
  };
};
