import type { TransactionInstruction } from '@solana/web3.js';
import { newKey } from '../../chain/addresses.ts';

/** Decimals of the mint. They are compared with the chain at start. */
export const USDC_DECIMALS = 6;

/**
 * Appends the reference as an account that neither signs nor is written. The token program reads
 * further accounts only as signers of a multisig authority, so it ignores this one. Solana Pay does
 * the same.
 */
export const withReference = (
  instruction: TransactionInstruction,
  reference: string | undefined,
): TransactionInstruction => {
  if (reference !== undefined) {
    instruction.keys.push({ pubkey: newKey(reference), isSigner: false, isWritable: false });
  }
  return instruction;
};
