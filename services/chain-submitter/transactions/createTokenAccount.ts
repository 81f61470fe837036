import type { TransactionInstruction } from '@solana/web3.js';
import type { CreateTokenAccountOrder, Network } from '../domain/order.ts';
import { createTokenAccount as create } from '../instructions/createTokenAccount.ts';

/** The token account of a provisioned wallet. */
export const createTokenAccount = (
  { owner, tokenAccount }: CreateTokenAccountOrder,
  { mint, feePayer }: Network,
): TransactionInstruction[] => [create({ payer: feePayer, tokenAccount, owner, mint })];
