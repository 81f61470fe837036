import { createAssociatedTokenAccountIdempotentInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';

/**
 * Creates an owner's token account unless it exists, so that two concurrent first payments both
 * succeed (rule 13).
 */
export const createTokenAccount = (of: {
  payer: string;
  tokenAccount: string;
  owner: string;
  mint: string;
}): TransactionInstruction =>
  createAssociatedTokenAccountIdempotentInstruction(
    new PublicKey(of.payer),
    new PublicKey(of.tokenAccount),
    new PublicKey(of.owner),
    new PublicKey(of.mint),
  );
