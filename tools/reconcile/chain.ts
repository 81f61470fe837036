import { AccountLayout, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';

/** A transaction that succeeded: who signed it, which accounts it names, what it moved. */
export type Landed = { signature: string; signers: string[]; keys: string[]; deltas: Map<string, bigint> };
/** An account as it stands, and everything that ever moved its balance. */
export type History = { account: string; balance: bigint; landed: Landed[] };

const PAGE = 1000;
const HANDS = 8;
/** A busy account moves while it is walked; then it is walked again. */
const WALKS = 5;

const inParallel = async <T, R>(list: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> => {
  const results = new Array<R>(list.length);
  const queue = list.entries();
  const hand = async () => {
    for (const [at, item] of queue) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(HANDS, list.length) }, hand));
  return results;
};

/**
 * The chain by plain RPC at confirmed commitment, independent of the services' own reading of it.
 */
export const chainAt = (rpcUrl: string, mintAddress: string) => {
  const connection = new Connection(rpcUrl, 'confirmed');
  const mint = new PublicKey(mintAddress);
  const known = new Map<string, Promise<Landed>>();

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

  const read = async (signature: string): Promise<Landed> => {
    const found = await connection.getTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    if (found?.meta == null) throw new Error(`${signature} is in the history and cannot be read`);
    const { message } = found.transaction;
    const keys = message
      .getAccountKeys(
        found.meta.loadedAddresses ? { accountKeysFromLookups: found.meta.loadedAddresses } : {},
      )
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

  const landed = (signature: string): Promise<Landed> => {
    const reading = known.get(signature) ?? read(signature);
    known.set(signature, reading);
    return reading;
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
      const all = await inParallel(await signaturesOf(account), landed);
      const moving = all.filter(({ deltas }) => (deltas.get(address) ?? 0n) !== 0n);
      const balance = await balanceOf(account);
      const sum = moving.reduce((total, { deltas }) => total + deltas.get(address)!, 0n);
      // A sum that stays another is reported: then the node does not keep the whole history.
      if (sum === balance || attempt === WALKS) return { account: address, balance, landed: moving };
    }
  };

  return {
    tokenAccount: (owner: string): string =>
      getAssociatedTokenAddressSync(mint, new PublicKey(owner), true).toBase58(),
    /** The whole history of accounts, in their order. */
    histories: (accounts: readonly string[]): Promise<History[]> => inParallel(accounts, walk),
  };
};
