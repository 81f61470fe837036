import type { TransactionInstruction } from '@solana/web3.js';
import type { Network } from '../ledger/model/network.ts';
import type { SettleOrder } from '../ledger/model/order.ts';
import { computeBudget } from './instructions/compute-budget.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import { transferChecked } from './instructions/transfer-checked.ts';

/**
 * The instructions of docs/spec/interface.md, "On-chain transaction of a settle", in its order: the
 * vendor's token account if it is missing, the net to the vendor with the reference, and the fee to
 * the fee wallet unless it is zero.
 * @param price micro-lamports per compute unit; null without compute budget instructions
 */
export const settle = (
  order: SettleOrder,
  network: Network,
  { create, price }: { create: boolean; price: bigint | null },
): TransactionInstruction[] => {
  const { mint, feePayer, feeAccount } = network;
  const { source, authority, payoutAccount, reference, grossMicro, feeMicro } = order;
  const from = { source, mint, authority };
  return [
    ...(network.computeBudget === null || price === null
      ? []
      : computeBudget({ units: network.computeBudget.units, microLamports: price })),
    ...(create
      ? [createTokenAccount({ payer: feePayer, tokenAccount: payoutAccount, owner: order.payout, mint })]
      : []),
    transferChecked({
      ...from,
      destination: payoutAccount,
      amountMicro: grossMicro - feeMicro,
      reference,
    }),
    ...(feeMicro === 0n
      ? []
      : [transferChecked({ ...from, destination: feeAccount, amountMicro: feeMicro })]),
  ];
};
