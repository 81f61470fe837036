import { AccountLayout, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Connection, PublicKey, SystemProgram } from '@solana/web3.js';

/** A transaction in the history of an account. `isFinal`: no fork can remove it. */
type Listed = { signature: string; slot: number; isFinal: boolean; hasFailed: boolean };
/** A transaction: its signers, its accounts, and the amounts that it moved. */
export type Included = Listed & {
  signers: string[];
  keys: string[];
  /** Of one mint, by token account. */
  deltas: Map<string, bigint>;
  fee: bigint;
  /** The change of an account's lamports. */
  lamportsOf: (account: string) => bigint;
  /** It calls no program but the one that moves SOL. */
  onlyMovesSol: boolean;
};
/**
 * Until where the history of an account agrees with the records. It is of a state that both sides
 * prove: the balance is the sum of the transactions until then, and the hash is that of the records
 * which they carry out. So a database or a chain that is another one since, or a record that was
 * changed, added or removed, is noticed, and the account is read from its beginning.
 */
export type Checkpoint = {
  account: string;
  /** The newest transaction that was compared. It is final. */
  signature: string;
  slot: number;
  balance: bigint;
  known: number;
  /** The sum of the hashes of the records, which does not depend on their order. */
  records: bigint;
  foreign: { transfers: number; amount: bigint };
  /** The hash of what decides which transactions are ours. */
  keys: string;
};

/**
 * An account with its balance, and every transaction that changed it since the checkpoint, newest
 * first.
 */
export type History = { account: string; balance: bigint; included: Included[]; from: Checkpoint };

/**
 * What changed a balance of an account since the checkpoint, newest first. `unexplained`: the
 * node lacks some of the history.
 */
type BalanceHistory = { balance: bigint; included: Included[]; unexplained: bigint };

const SYSTEM_PROGRAM = SystemProgram.programId.toBase58();
const PAGE = 1000;
/** Signatures of one getSignatureStatuses call. */
const STATUSES = 256;
const ANSWERED_MS = 30_000;
const CONCURRENCY = 8;
/** The history of a busy account changes while it is read, so it is read up to this many times. */
const WALKS = 5;

const inParallel = async <T, R>(list: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results = new Array<R>(list.length);
  const queue = list.entries();
  const worker = async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(CONCURRENCY, list.length) }, worker));
  return results;
};

/** A transaction with the amounts of one mint that it moved. */
const readTransaction = async (
  connection: Connection,
  mintAddress: string,
  signature: string,
): Promise<Omit<Included, keyof Listed>> => {
  const found = await connection.getTransaction(signature, {
    commitment: 'confirmed',
    maxSupportedTransactionVersion: 0,
  });
  if (found?.meta == null) throw new Error(`${signature} is in the history, but the node does not return it`);
  const { message } = found.transaction;
  const keys = message
    .getAccountKeys(found.meta.loadedAddresses ? { accountKeysFromLookups: found.meta.loadedAddresses } : {})
    .keySegments()
    .flat()
    .map((key) => key.toBase58());
  const deltas = new Map<string, bigint>();
  const add = (list: typeof found.meta.preTokenBalances, sign: bigint) => {
    for (const { accountIndex, uiTokenAmount, mint: of } of list ?? []) {
      if (of !== mintAddress) continue;
      const account = keys[accountIndex]!;
      deltas.set(account, (deltas.get(account) ?? 0n) + sign * BigInt(uiTokenAmount.amount));
    }
  };
  add(found.meta.preTokenBalances, -1n);
  add(found.meta.postTokenBalances, 1n);
  const { fee, preBalances, postBalances } = found.meta;
  return {
    signers: keys.slice(0, message.header.numRequiredSignatures),
    keys,
    deltas,
    fee: BigInt(fee),
    lamportsOf: (account) => {
      const at = keys.indexOf(account);
      return BigInt(postBalances[at] ?? 0) - BigInt(preBalances[at] ?? 0);
    },
    onlyMovesSol: message.compiledInstructions.every(
      ({ programIdIndex }) => keys[programIdIndex] === SYSTEM_PROGRAM,
    ),
  };
};

/**
 * The transactions after one, newest first.
 * @param until empty: all
 * @param failed also those that failed, which move no tokens
 */
const listAfter = async (
  connection: Connection,
  account: PublicKey,
  until: string,
  { failed = false } = {},
): Promise<Listed[]> => {
  const all: Listed[] = [];
  for (let before: string | undefined; ; ) {
    const page = await connection.getSignaturesForAddress(account, {
      limit: PAGE,
      ...(before === undefined ? {} : { before }),
      ...(until === '' ? {} : { until }),
    });
    all.push(
      ...page
        .filter(({ err }) => failed || err === null)
        .map(({ signature, slot, err, confirmationStatus }) => ({
          signature,
          slot,
          hasFailed: err !== null,
          isFinal: confirmationStatus === 'finalized',
        })),
    );
    if (page.length < PAGE) return all;
    before = page.at(-1)!.signature;
  }
};

/** The checkpoints whose transaction is final on this chain, in its slot. */
const listStillThere = async (
  connection: Connection,
  checkpoints: readonly Checkpoint[],
): Promise<Checkpoint[]> => {
  const pages = Array.from({ length: Math.ceil(checkpoints.length / STATUSES) }, (_, page) =>
    checkpoints.slice(page * STATUSES, (page + 1) * STATUSES),
  );
  const found = await inParallel(pages, async (page) => {
    const signatures = page.map(({ signature }) => signature);
    const { value } = await connection.getSignatureStatuses(signatures, { searchTransactionHistory: true });
    return page.filter(({ slot }, at) => {
      const status = value[at];
      return status?.err === null && status.slot === slot && status.confirmationStatus === 'finalized';
    });
  });
  return found.flat();
};

type Walk = {
  connection: Connection;
  included: (listed: Listed) => Promise<Included>;
  /** Also transactions that failed. */
  failed: boolean;
  read: (account: PublicKey) => Promise<bigint>;
  deltaOf: (one: Included) => bigint;
};

/** What changed an account since its checkpoint, until its balance is the sum of the changes. */
const walk = async (
  from: Checkpoint,
  { connection, included, failed, read, deltaOf }: Walk,
): Promise<BalanceHistory> => {
  const account = new PublicKey(from.account);
  for (let attempt = 1; ; attempt++) {
    const listed = await listAfter(connection, account, from.signature, { failed });
    const all = await inParallel(listed, included);
    const balance = await read(account);
    const unexplained = all.reduce((left, one) => left - deltaOf(one), balance - from.balance);
    // A remaining difference is reported: the node does not store the whole history.
    if (unexplained === 0n || attempt === WALKS) return { balance, included: all, unexplained };
  }
};

/** Reads the chain by plain RPC at confirmed commitment, independent of the services' code. */
export const chainAt = (rpcUrl: string, mintAddress: string) => {
  const connection = new Connection(rpcUrl, {
    commitment: 'confirmed',
    // By itself web3.js waits for minutes for a provider that does not answer.
    fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ANSWERED_MS) }),
  });
  const mint = new PublicKey(mintAddress);
  const transactions = new Map<string, ReturnType<typeof readTransaction>>();

  const included = async (listed: Listed): Promise<Included> => {
    const { signature } = listed;
    const transaction = transactions.get(signature) ?? readTransaction(connection, mintAddress, signature);
    transactions.set(signature, transaction);
    return { ...listed, ...(await transaction) };
  };

  const balanceOf = async (account: PublicKey): Promise<bigint> => {
    const info = await connection.getAccountInfo(account);
    return info === null || info.data.length !== AccountLayout.span
      ? 0n
      : AccountLayout.decode(info.data).amount;
  };

  const historyOf = async (from: Checkpoint): Promise<History> => {
    const deltaOf = ({ deltas }: Included) => deltas.get(from.account) ?? 0n;
    const { balance, included: all } = await walk(from, {
      connection,
      included,
      failed: false,
      read: balanceOf,
      deltaOf,
    });
    return { account: from.account, balance, included: all.filter((one) => deltaOf(one) !== 0n), from };
  };
  const lamportsHistory = (from: Checkpoint): Promise<BalanceHistory> =>
    walk(from, {
      connection,
      included,
      failed: true,
      read: async (account) => BigInt(await connection.getBalance(account)),
      deltaOf: ({ lamportsOf }) => lamportsOf(from.account),
    });

  return {
    lamportsHistory,
    tokenAccount: (owner: string): string =>
      getAssociatedTokenAddressSync(mint, new PublicKey(owner), true).toBase58(),
    /**
     * The checkpoints whose transaction is final on this chain, in its slot. Another chain, or one
     * that was reset, has none of them.
     */
    stillThere: (checkpoints: readonly Checkpoint[]) => listStillThere(connection, checkpoints),
    /** The histories of accounts since their checkpoints, in their order. */
    histories: (from: readonly Checkpoint[]): Promise<History[]> => inParallel(from, historyOf),
    /** How many transactions were read. */
    transactionsRead: (): number => transactions.size,
  };
};
