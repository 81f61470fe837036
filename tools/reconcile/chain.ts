import { AccountLayout, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';

/** A transaction that succeeded: its signers, its accounts, and the amounts that it moved. */
export type Included = { signature: string; signers: string[]; keys: string[]; deltas: Map<string, bigint> };
/** An account with its balance and every transaction that changed it. */
export type History = { account: string; balance: bigint; included: Included[] };

const PAGE = 1000;
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
): Promise<Included> => {
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
  return { signature, signers: keys.slice(0, message.header.numRequiredSignatures), keys, deltas };
};

/** Reads the chain by plain RPC at confirmed commitment, independent of the services' code. */
export const chainAt = (rpcUrl: string, mintAddress: string) => {
  const connection = new Connection(rpcUrl, {
    commitment: 'confirmed',
    // By itself web3.js waits for minutes for a provider that does not answer.
    fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ANSWERED_MS) }),
  });
  const mint = new PublicKey(mintAddress);
  const transactions = new Map<string, Promise<Included>>();

  const signaturesOf = async (account: PublicKey): Promise<string[]> => {
    const all: string[] = [];
    for (let before: string | undefined; ; ) {
      const page = await connection.getSignaturesForAddress(account, {
        limit: PAGE,
        ...(before === undefined ? {} : { before }),
      });
      all.push(...page.filter(({ err }) => err === null).map(({ signature }) => signature));
      if (page.length < PAGE) return all;
      before = page.at(-1)!.signature;
    }
  };

  const included = (signature: string): Promise<Included> => {
    const transaction = transactions.get(signature) ?? readTransaction(connection, mintAddress, signature);
    transactions.set(signature, transaction);
    return transaction;
  };

  const balanceOf = async (account: PublicKey): Promise<bigint> => {
    const info = await connection.getAccountInfo(account);
    return info === null || info.data.length !== AccountLayout.span
      ? 0n
      : AccountLayout.decode(info.data).amount;
  };

  const walk = async (address: string): Promise<History> => {
    const account = new PublicKey(address);
    for (let attempt = 1; ; attempt++) {
      const all = await inParallel(await signaturesOf(account), included);
      const moving = all.filter(({ deltas }) => (deltas.get(address) ?? 0n) !== 0n);
      const balance = await balanceOf(account);
      const sum = moving.reduce((total, { deltas }) => total + deltas.get(address)!, 0n);
      // A remaining difference is reported: the node does not store the whole history.
      if (sum === balance || attempt === WALKS) return { account: address, balance, included: moving };
    }
  };

  return {
    tokenAccount: (owner: string): string =>
      getAssociatedTokenAddressSync(mint, new PublicKey(owner), true).toBase58(),
    /** The whole history of accounts, in their order. */
    histories: (accounts: readonly string[]): Promise<History[]> => inParallel(accounts, walk),
  };
};
