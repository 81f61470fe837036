import type { TransactionInstruction } from '@solana/web3.js';
import type { Network } from '../ledger/model/network.ts';
import type { CreateTokenAccountOrder } from '../ledger/model/order.ts';
import { createTokenAccount as create } from './instructions/create-token-account.ts';

/** The token account of a provisioned wallet. */
export const createTokenAccount = (
  { owner, tokenAccount }: CreateTokenAccountOrder,
  { mint, feePayer }: Network,
): TransactionInstruction[] => [create({ payer: feePayer, tokenAccount, owner, mint })];
