import type { TransactionInstruction } from '@solana/web3.js';
import type { Network } from '../ledger/model/network.ts';
import type { FundOrder } from '../ledger/model/order.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import { mintTo } from './instructions/mint-to.ts';

/** Test USDC for a wallet, and its token account if it is missing. */
export const fund = (
  order: FundOrder,
  { mint, feePayer, fundingAuthority }: Network,
  { create }: { create: boolean },
): TransactionInstruction[] => {
  if (fundingAuthority === null) throw new Error('No funding authority is configured.');
  const { owner, destination, amountMicro, reference } = order;
  return [
    ...(create ? [createTokenAccount({ payer: feePayer, tokenAccount: destination, owner, mint })] : []),
    mintTo({ mint, destination, authority: fundingAuthority, amountMicro, reference }),
  ];
};
