import { createTransferCheckedInstruction } from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { USDC_DECIMALS, withReference } from './shared.ts';

/** Moves tokens under the authority of the source's owner or delegate; mint and decimals are checked on chain. */
export const transferChecked = (transfer: {
  source: string;
  mint: string;
  destination: string;
  authority: string;
  amountMicro: bigint;
  reference?: string;
}): TransactionInstruction =>
  withReference(
    createTransferCheckedInstruction(
      new PublicKey(transfer.source),
      new PublicKey(transfer.mint),
      new PublicKey(transfer.destination),
      new PublicKey(transfer.authority),
      transfer.amountMicro,
      USDC_DECIMALS,
    ),
    transfer.reference,
  );
