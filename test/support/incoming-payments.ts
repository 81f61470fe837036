import { createTransferCheckedInstruction } from '@solana/spl-token';
import {
  type AddressLookupTableAccount,
  ComputeBudgetProgram,
  type Keypair,
  PublicKey,
  Transaction,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import type { z } from 'zod';
import { PROGRAMS } from '../../services/chain-submitter/chain/addresses.ts';
import { call } from '../../shared/bus/call.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { newId } from '../../shared/lib/id.ts';
import { keypairOf, type Payer, type SubmitterFixture, until } from './submitter.ts';

type Internal = typeof chainSubmitter.internal;
type Operation =
  | 'getFeePayers'
  | 'buildIncoming'
  | 'createPayoutAccount'
  | 'checkIncoming'
  | 'submitIncoming'
  | 'closeIncoming'
  | 'findLostIncoming';
type Draft = {
  /** By default one to the vendor. */
  legs?: { owner: PublicKey; amount: bigint }[];
  feePayer?: string;
  blockhash?: string;
  /** Signs for the buyer's token account instead of the buyer. */
  delegate?: Keypair;
  /** Price of a compute unit. Default 1. */
  microLamports?: number;
  /** A fifth account of each transfer, which is only read. */
  reference?: PublicKey;
  /** Instructions after the memos, as wallets add guards. */
  added?: TransactionInstruction[];
  /** Instead of the transfers: what a smart wallet does. */
  instead?: TransactionInstruction[];
  tables?: AddressLookupTableAccount[];
};

/** The price of the payments, in micro-units. */
export const PRICE = 50_000n;

const memo = (text: string) =>
  new TransactionInstruction({ programId: new PublicKey(PROGRAMS.memo), keys: [], data: Buffer.from(text) });

/** Payments as the stock clients of x402 and MPP sign them, over a running fixture. */
export const incomingPaymentsOver = (fixture: () => SubmitterFixture, vendor: () => Payer) => {
  const ask = <N extends Operation>(
    name: N,
    input: z.infer<Internal[N]['input']>,
  ): Promise<z.infer<Internal[N]['output']>> =>
    call(fixture().settlementBus, chainSubmitter, name, input, { timeoutMs: 20_000 }) as never;

  const latestBlockhash = async (): Promise<string> => {
    const options = { commitment: 'confirmed' };
    type Answer = { value: { blockhash: string } };
    return (await fixture().chain.call<Answer>('getLatestBlockhash', options)).value.blockhash;
  };

  /**
   * The bytes that the stock client signs: version 0, compute budget, and a transfer and a memo for
   * each leg.
   */
  const signed = async (buyer: Payer, draft: Draft = {}) => {
    const { outside, keys: platform } = fixture();
    const { legs = [{ owner: vendor().owner.publicKey, amount: PRICE }] } = draft;
    const memos = legs.map(() => newId('evt'));
    const signer = draft.delegate ?? buyer.owner;
    const source = outside.tokenAccount(buyer.owner.publicKey);
    const transfers = legs.map(({ owner, amount }) =>
      createTransferCheckedInstruction(
        source,
        outside.mint,
        outside.tokenAccount(owner),
        signer.publicKey,
        amount,
        6,
      ),
    );
    const { reference } = draft;
    if (reference !== undefined)
      for (const { keys } of transfers) keys.push({ pubkey: reference, isSigner: false, isWritable: false });
    const transaction = new VersionedTransaction(
      new TransactionMessage({
        payerKey: new PublicKey(draft.feePayer ?? platform.feePayer.address),
        recentBlockhash: draft.blockhash ?? (await latestBlockhash()),
        instructions: [
          ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
          ComputeBudgetProgram.setComputeUnitPrice({ microLamports: draft.microLamports ?? 1 }),
          ...(draft.instead ?? transfers),
          ...memos.map(memo),
          ...(draft.added ?? []),
        ],
      }).compileToV0Message(draft.tables),
    );
    transaction.sign([signer]);
    return {
      transaction: Buffer.from(transaction.serialize()).toString('base64'),
      legs: legs.map(({ owner, amount }) => ({ owner: owner.toBase58(), amount: `${amount}` })),
      memos,
    };
  };
  /** What a buyer that signs last asks for: the transaction that chain-submitter builds for it. */
  const asked = async ({ owner }: Payer, amount = PRICE) => {
    const payee = vendor().owner.publicKey.toBase58();
    const memo = newId('evt');
    const payer = owner.publicKey.toBase58();
    const { transaction } = await ask('buildIncoming', { payer, payee, amount: `${amount}`, memo });
    const legs = [{ owner: payee, amount: `${amount}` }];
    return { transaction, legs, memos: [memo], signs_last: true as const };
  };
  type Payment = Awaited<ReturnType<typeof signed>> & { signs_last?: true };

  const submitAs = (payment: Payment, settlement_id: string) =>
    ask('submitIncoming', { ...payment, settlement_id, account_id: vendor().account_id });
  /**
   * Ends the fault of sends and moves the owner's whole balance in one request, so that no send of
   * the service comes between the two.
   */
  const moveAllAtOnce = async ({ owner }: Payer, to: PublicKey): Promise<void> => {
    const { chain, outside, keys } = fixture();
    const { mint, tokenAccount } = outside;
    const left = await outside.balance(owner.publicKey);
    const [from, there] = [tokenAccount(owner.publicKey), tokenAccount(to)];
    const minter = keypairOf(keys.mintAuthority.secretKey);
    const moving = new Transaction({ feePayer: minter.publicKey, recentBlockhash: await latestBlockhash() });
    moving.add(createTransferCheckedInstruction(from, mint, there, owner.publicKey, left, 6));
    moving.sign(minter, owner);
    const send = [moving.serialize().toString('base64'), { encoding: 'base64', skipPreflight: true }];
    const calls = [
      { jsonrpc: '2.0', id: 1, method: 'chain_fault', params: [] },
      { jsonrpc: '2.0', id: 2, method: 'sendTransaction', params: send },
    ];
    const headers = { 'content-type': 'application/json' };
    await fetch(chain.url, { method: 'POST', headers, body: JSON.stringify(calls) });
    await until(
      () => outside.balance(owner.publicKey),
      (balance) => balance === 0n,
    );
  };

  const check = (payment: Payment, simulate = true) => ask('checkIncoming', { ...payment, simulate });
  return {
    ask,
    signed,
    asked,
    check,
    submit: (payment: Payment, settlement_id: string = newId('stl')) => submitAs(payment, settlement_id),
    /** The hash of the message, as the check reports it. */
    hashOf: async (payment: Payment): Promise<string> => {
      const checked = await check(payment, false);
      if (checked.outcome !== 'accepted') throw new Error(checked.message);
      return checked.message_hash;
    },
    /** Records payments that the buyer has made before, so that it may have more under way. */
    addPaid: async (buyer: Payer, count: number): Promise<void> => {
      const { outside, admin } = fixture();
      const source_account = outside.tokenAccount(buyer.owner.publicKey).toBase58();
      await admin.query(
        `insert into intents (intent_id, kind, object_id, request, status, generation, signature, slot, next_at)
         select id, 'incoming', id, $2, 'finalized', 1, id, 1, app_now()
         from (select 'paid-' || $1 || n as id from generate_series(1, $3::int) as n) as paid`,
        [source_account, { source_account }, count],
      );
    },
    /** The number of transactions that were signed for a settlement. */
    countSigned: async (settlementId: string): Promise<number> => {
      const { rows } = await fixture().admin.query(
        'select count(*)::int as signed from transactions join intents using (intent_id) where object_id = $1',
        [settlementId],
      );
      return rows[0].signed;
    },
    /**
     * Submits payments of one source, and empties the source before they reach the chain, where
     * they then fail.
     * @returns the answers, in their order
     */
    submitAndEmpty: async (buyer: Payer, payments: readonly Payment[], to: PublicKey) => {
      const { chain, admin, events } = fixture();
      const ids = payments.map(() => newId('stl'));
      await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
      const submitting = payments.map((payment, index) => submitAs(payment, ids[index]!));
      const answers = await Promise.all(submitting);
      await moveAllAtOnce(buyer, to);
      const { rows } = await admin.query<{ wire: Buffer; object_id: string }>(
        'select wire, object_id from transactions join intents using (intent_id) where object_id = any($1)',
        [ids],
      );
      const options = { encoding: 'base64', skipPreflight: true };
      for (const { wire } of rows.filter(({ wire: { length } }) => length > 0))
        await chain.call('sendTransaction', wire.toString('base64'), options);
      for (const { object_id } of rows) await events.wait(object_id, 'failed');
      return answers;
    },
    /** Runs work while bytes that are sent do not reach the chain. */
    withDroppedSends: async (work: () => Promise<void>): Promise<void> => {
      const { chain } = fixture();
      await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
      try {
        await work();
      } finally {
        await chain.call('chain_fault');
      }
    },
  };
};
export type IncomingPayment = Awaited<ReturnType<ReturnType<typeof incomingPaymentsOver>['signed']>>;

type Answer =
  | { outcome: 'accepted' | 'submitted'; tx_hash?: string }
  | { outcome: 'refused'; reason: string; message: string };

/** The reason of a refusal, or else the outcome. */
export const reasonOf = (answer: Answer): string =>
  answer.outcome === 'refused' ? answer.reason : answer.outcome;

/** The transaction of a submitted payment. @throws for a refusal */
export const txHashOf = (answer: Answer): string => {
  if (answer.outcome === 'refused') throw new Error(`${answer.reason}: ${answer.message}`);
  return answer.tx_hash!;
};
