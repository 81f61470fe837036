import { createApproveCheckedInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { USDC_DECIMALS } from './shared.ts';

/**
 * Lets a delegate spend up to an allowance. A token account has one delegate, which this one
 * replaces.
 */
export const approveChecked = (approval: {
  tokenAccount: string;
  mint: string;
  delegate: string;
  owner: string;
  allowanceMicro: bigint;
}): TransactionInstruction =>
  createApproveCheckedInstruction(
    new PublicKey(approval.tokenAccount),
    new PublicKey(approval.mint),
    new PublicKey(approval.delegate),
    new PublicKey(approval.owner),
    approval.allowanceMicro,
    USDC_DECIMALS,
  );
