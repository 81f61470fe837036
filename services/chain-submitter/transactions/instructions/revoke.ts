import { createRevokeInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';

/** Revokes the delegation of a token account. */
export const revoke = ({
  tokenAccount,
  owner,
}: {
  tokenAccount: string;
  owner: string;
}): TransactionInstruction => createRevokeInstruction(new PublicKey(tokenAccount), new PublicKey(owner));
