import { ComputeBudgetProgram, PublicKey, TransactionInstruction } from '@solana/web3.js';
import bs58 from 'bs58';
import { tokenAccountOf } from '../../services/chain-submitter/chain/addresses.ts';
import { PROGRAMS } from '../../services/chain-submitter/ledger/model/programs.ts';
import { compileMessageV0 } from '../../services/chain-submitter/transactions/compile-message.ts';
import { transferChecked } from '../../services/chain-submitter/transactions/instructions/transfer-checked.ts';
import { privateKeyFromSeed, rawPublicKey, signBytes } from '../../shared/lib/chain/ed25519.ts';
import { assemble, hashMessage } from '../../shared/lib/chain/wire-transaction.ts';
import { type FeeRule, feeMicro } from '../../shared/lib/money/fee.ts';
import { actors } from './actors.ts';

/** Buyers of other protocols. All runs share their keys, as those of the payers. */
export const buyers = [0, 1].map((number) => {
  const key = privateKeyFromSeed(Buffer.from(`buyer ${number}`.padEnd(32, '.')));
  const owner = bs58.encode(rawPublicKey(key));
  return { number, key, owner, source: tokenAccountOf(owner, actors.mint) };
});
export type Buyer = (typeof buyers)[number];

export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
export const FEE: FeeRule = { bps: 100n, minMicro: 1000n };
export type Rail = 'x402' | 'mpp';

/** A transaction that a buyer has signed. */
export type Signed = { hash: string; transaction: string };

const budget = [
  ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
];

/** Signs a payment as a client of x402 (one transfer) or MPP (one to the fee wallet too) does. */
export const signPayment = (
  { key, owner, source }: Buyer,
  {
    rail,
    amountMicro,
    memo,
    blockhash,
  }: { rail: Rail; amountMicro: bigint; memo: string; blockhash: string },
): Signed => {
  const fee = rail === 'mpp' ? feeMicro(amountMicro, FEE) : 0n;
  const pay = (destination: string, micro: bigint) =>
    transferChecked({ source, mint: actors.mint, destination, authority: owner, amountMicro: micro });
  const message = compileMessageV0(
    [
      ...budget,
      pay(actors.vendor.tokenAccount, amountMicro - fee),
      ...(fee > 0n ? [pay(actors.network.feeAccount, fee)] : []),
      new TransactionInstruction({
        programId: new PublicKey(PROGRAMS.memo),
        keys: [],
        data: Buffer.from(memo),
      }),
    ],
    { feePayer: actors.network.feePayer, blockhash },
  );
  const wire = assemble(message, [null, signBytes(message, key)]);
  return { hash: hashMessage(message), transaction: wire.toString('base64') };
};
