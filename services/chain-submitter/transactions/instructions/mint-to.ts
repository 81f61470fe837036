import { createMintToInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { withReference } from './shared.ts';

/**
 * Mints test USDC. Without the reference, two equal funds with one blockhash would share a
 * signature.
 */
export const mintTo = (minting: {
  mint: string;
  destination: string;
  authority: string;
  amountMicro: bigint;
  reference: string;
}): TransactionInstruction =>
  withReference(
    createMintToInstruction(
      new PublicKey(minting.mint),
      new PublicKey(minting.destination),
      new PublicKey(minting.authority),
      minting.amountMicro,
    ),
    minting.reference,
  );
