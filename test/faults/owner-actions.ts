import { setTimeout as sleep } from 'node:timers/promises';
import {
  createApproveCheckedInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
} from '@solana/spl-token';
import {
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  Transaction,
  type TransactionInstruction,
} from '@solana/web3.js';
import type { Access } from './access.ts';

const DECIMALS = 6;
const INCLUDED_MS = 10_000;
/**
 * How long an owner tries: meanwhile payments that were under way are included or removed by a
 * fork.
 */
const DONE_MS = 40_000;
const SEND = { encoding: 'base64', skipPreflight: true };

export type Undo = () => Promise<void>;

/** Repeats an owner's action until it succeeds. Each try reads the chain again. */
const untilDone = async (act: () => Promise<void>): Promise<void> => {
  const deadline = Date.now() + DONE_MS;
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(200);
    }
  }
};

type Statuses = { value: ({ err: unknown } | null)[] };

/** What a wallet's owner does outside of the platform, by a transaction that the owner sends. */
export const actionsOf = ({ chain, rpc }: Pick<Access, 'chain' | 'rpc'>, wallet: Keypair) => {
  const { mint, connection } = chain;
  const owner = wallet.publicKey;
  const account = chain.tokenAccount(owner);

  const sign = async (instruction: TransactionInstruction, ...others: Keypair[]): Promise<string> => {
    if ((await connection.getBalance(owner)) < LAMPORTS_PER_SOL)
      await connection.requestAirdrop(owner, 10 * LAMPORTS_PER_SOL);
    const { value } = await rpc<{ value: { blockhash: string } }>('getLatestBlockhash');
    const transaction = new Transaction({ feePayer: owner, recentBlockhash: value.blockhash });
    transaction.add(instruction).sign(wallet, ...others);
    return transaction.serialize().toString('base64');
  };
  const send = async (instruction: TransactionInstruction, ...others: Keypair[]): Promise<void> => {
    const signature = await rpc<string>('sendTransaction', await sign(instruction, ...others), SEND);
    for (let waited = 0; waited < INCLUDED_MS; waited += 50) {
      const { value: statuses } = await rpc<Statuses>('getSignatureStatuses', [signature]);
      if (statuses[0]?.err === null) return;
      if (statuses[0]) throw new Error(`the owner’s transaction failed: ${JSON.stringify(statuses[0].err)}`);
      await sleep(50);
    }
    throw new Error('the owner’s transaction was not included');
  };

  const approve = (delegate: string, amount: bigint) =>
    send(createApproveCheckedInstruction(account, mint, new PublicKey(delegate), owner, amount, DECIMALS));
  /** Opens the token account of another wallet of the owner. */
  const openSafe = async () => {
    const safe = Keypair.generate();
    const there = chain.tokenAccount(safe.publicKey);
    await untilDone(() =>
      send(createAssociatedTokenAccountIdempotentInstruction(owner, there, safe.publicKey, mint)),
    );
    return { safe, there };
  };
  const moving = (there: PublicKey, amount: bigint) =>
    createTransferCheckedInstruction(account, mint, there, owner, amount, DECIMALS);
  const balanceOf = async (holder: PublicKey): Promise<bigint> =>
    BigInt((await connection.getTokenAccountBalance(holder, 'processed')).value.amount);

  return {
    /**
     * The approval goes to another delegate: error 0x4. Resolves to the function that restores it.
     */
    overwritten: async (delegate: string, allowance: bigint): Promise<Undo> => {
      await untilDone(() => approve(Keypair.generate().publicKey.toBase58(), 5n));
      return () => untilDone(() => approve(delegate, allowance));
    },
    /**
     * The full balance goes to another wallet of the owner: error 0x1. Resolves to the function
     * that restores it.
     */
    emptied: async (): Promise<Undo> => {
      const { safe, there } = await openSafe();
      // Another payment may be included, or removed by a fork, between the read and the transfer.
      // Then the balance is read again.
      await untilDone(async () => {
        const all = await balanceOf(account);
        if (all > 0n) await send(moving(there, all));
      });
      return () =>
        untilDone(async () => {
          const all = await balanceOf(there);
          const back = createTransferCheckedInstruction(there, mint, account, safe.publicKey, all, DECIMALS);
          if (all > 0n) await send(back, safe);
        });
    },
    /**
     * Prepares that the full balance goes to another wallet. What it returns ends the faults of the
     * chain and sends the transfer in one request, so that no send of a service comes between.
     */
    readyToEmpty: async (): Promise<() => Promise<void>> => {
      const { there } = await openSafe();
      const { rpcEndpoint } = connection;
      return () =>
        untilDone(async () => {
          const all = await balanceOf(account);
          if (all === 0n) return;
          const wire = await sign(moving(there, all));
          const calls = [
            { jsonrpc: '2.0', id: 1, method: 'chain_fault', params: [] },
            { jsonrpc: '2.0', id: 2, method: 'sendTransaction', params: [wire, SEND] },
          ];
          const headers = { 'content-type': 'application/json' };
          await fetch(rpcEndpoint, { method: 'POST', headers, body: JSON.stringify(calls) });
          for (let waited = 0; waited < INCLUDED_MS; waited += 50) {
            if ((await balanceOf(account)) === 0n) return;
            await sleep(50);
          }
          throw new Error('the owner’s transaction was not included');
        });
    },
  };
};

/** Acts while no submitter sends anything, so that what it has signed is included afterwards. */
export const whileSubmittersStand = async <T>(
  { names, send }: { names: readonly string[]; send: (name: string, what: NodeJS.Signals) => boolean },
  act: () => Promise<T>,
): Promise<T> => {
  const submitters = names.filter((each) => each.startsWith('chain-submitter'));
  for (const each of submitters) send(each, 'SIGSTOP');
  return act().finally(() => {
    for (const each of submitters) send(each, 'SIGCONT');
  });
};
