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
import type { Fault, Fixture } from '../fault.ts';

const PAYMENTS = 4;
const PRICE = 1_000_000n;
const ALLOWANCE = 10_000_000_000n;
const DECIMALS = 6;
const SIGNED_MS = 5000;

const INCLUDED_MS = 10_000;
/**
 * How long an owner tries: meanwhile payments that were under way are included or removed by a
 * fork.
 */
const DONE_MS = 40_000;
const SEND = { encoding: 'base64', skipPreflight: true };

type Undo = () => Promise<void>;

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
const deeds = ({ harness, actors }: Fixture) => {
  const { chain } = harness;
  const { fickle } = actors;
  const { wallet } = fickle;
  const { mint } = chain;
  const account = chain.tokenAccount(wallet.publicKey);

  const send = async (instruction: TransactionInstruction, ...others: Keypair[]): Promise<void> => {
    const { connection } = chain;
    if ((await connection.getBalance(wallet.publicKey)) < LAMPORTS_PER_SOL)
      await connection.requestAirdrop(wallet.publicKey, 10 * LAMPORTS_PER_SOL);
    const { value } = await harness.rpc<{ value: { blockhash: string } }>('getLatestBlockhash');
    const transaction = new Transaction({ feePayer: wallet.publicKey, recentBlockhash: value.blockhash });
    transaction.add(instruction).sign(wallet, ...others);
    const wire = transaction.serialize().toString('base64');
    const signature = await harness.rpc<string>('sendTransaction', wire, SEND);
    for (let waited = 0; waited < INCLUDED_MS; waited += 50) {
      const { value: statuses } = await harness.rpc<Statuses>('getSignatureStatuses', [signature]);
      if (statuses[0]?.err === null) return;
      if (statuses[0]) throw new Error(`the owner’s transaction failed: ${JSON.stringify(statuses[0].err)}`);
      await sleep(50);
    }
    throw new Error('the owner’s transaction was not included');
  };

  const approve = (delegate: string, amount: bigint) =>
    send(
      createApproveCheckedInstruction(
        account,
        mint,
        new PublicKey(delegate),
        wallet.publicKey,
        amount,
        DECIMALS,
      ),
    );
  const balanceOf = async (holder: PublicKey): Promise<bigint> =>
    BigInt((await chain.connection.getTokenAccountBalance(holder, 'processed')).value.amount);

  return {
    /**
     * The approval goes to another delegate: error 0x4. Resolves to the function that restores it.
     */
    overwritten: async (): Promise<Undo> => {
      await untilDone(() => approve(Keypair.generate().publicKey.toBase58(), 5n));
      return () => untilDone(() => approve(fickle.view.delegation.delegate!, ALLOWANCE));
    },
    /**
     * The full balance goes to another wallet of the owner: error 0x1. Resolves to the function
     * that restores it.
     */
    emptied: async (): Promise<Undo> => {
      const safe = Keypair.generate();
      const owner = wallet.publicKey;
      const there = chain.tokenAccount(safe.publicKey);
      await untilDone(() =>
        send(createAssociatedTokenAccountIdempotentInstruction(owner, there, safe.publicKey, mint)),
      );
      // Another payment may be included, or removed by a fork, between the read and the transfer.
      // Then the balance is read again.
      await untilDone(async () => {
        const all = await balanceOf(account);
        if (all > 0n)
          await send(createTransferCheckedInstruction(account, mint, there, owner, all, DECIMALS));
      });
      return () =>
        untilDone(async () => {
          const all = await balanceOf(there);
          const back = createTransferCheckedInstruction(there, mint, account, safe.publicKey, all, DECIMALS);
          if (all > 0n) await send(back, safe);
        });
    },
  };
};

/**
 * The money or the permission is removed between acceptance and inclusion: the signed bytes are
 * included and fail on chain. Payer and vendor must learn that nothing moved, with that reason.
 */
const failing = (fixture: Fixture, name: string, deed: 'overwritten' | 'emptied'): Fault => ({
  name,
  holdMs: [200, 800],
  isAlone: true,
  inject: async (rng) => {
    const { harness, client, clientLog, actors } = fixture;
    const { fickle } = actors;
    const vendor = rng.pick(actors.vendors);
    const submitters = harness.names.filter((each) => each.startsWith('chain-submitter'));
    const deadline = Date.now() + SIGNED_MS;
    const quotes = await Promise.all(
      Array.from({ length: PAYMENTS }, () =>
        client.quote(vendor, { quote_amount: PRICE.toString() }, () => Date.now() < deadline),
      ),
    );
    const attempts = quotes.flatMap((quote) =>
      quote === null ? [] : [clientLog.begin(fickle, vendor, quote)],
    );
    await harness.rpc('chain_fault', { method: 'sendTransaction', kind: 'drop' });
    const calls = Promise.all(attempts.map(client.settle));
    const signed = async () => {
      const [row] = await harness.query<{ n: number }>(
        `select count(*)::int as n from chain_submitter.intents join settlement.settlements on object_id = settlement_id
         where payment_attempt_id = any($1) and intents.status = 'signed'`,
        [attempts.map(({ id }) => id)],
      );
      return row!.n === attempts.length;
    };
    while (!(await signed().catch(() => false)) && Date.now() < deadline + SIGNED_MS) await sleep(50);
    // No other client uses the wallet during the owner's action.
    for (const each of submitters) harness.send(each, 'SIGSTOP');
    await harness.rpc('chain_fault');
    const undo = await deeds(fixture)
      [deed]()
      // An owner who cannot: the fault did not come about.
      .catch(() => null)
      .finally(() => {
        for (const each of submitters) harness.send(each, 'SIGCONT');
      });
    if (undo === null) {
      await calls;
      return null;
    }
    return async () => {
      await calls;
      // All of it is final before the wallet is restored. Otherwise a later generation would be
      // paid.
      await sleep(40 * harness.slotMs);
      await undo();
      // If the owner took long, clients gave up before. Those attempts are queried at the end.
      if (attempts.every(({ outcome }) => outcome === 'paid'))
        fixture.breaks.push({
          invariant: 'the-owner-was-in-time',
          what: `${name}: all of ${attempts.length} were paid`,
        });
    };
  },
});

export const ownerFaults = (fixture: Fixture): Fault[] => [
  failing(fixture, 'approval-overwritten-before-inclusion', 'overwritten'),
  failing(fixture, 'wallet-emptied-before-inclusion', 'emptied'),
];
