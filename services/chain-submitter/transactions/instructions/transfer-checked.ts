import { createTransferCheckedInstruction } from '@solana/spl-token';
import type { TransactionInstruction } from '@solana/web3.js';
import { keyOf, PROGRAMS } from '../../chain/addresses.ts';
import { USDC_DECIMALS, withReference } from './shared.ts';

/**
 * Moves tokens under the authority of the source's owner or delegate; mint and decimals are checked
 * on chain.
 */
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
      keyOf(transfer.source),
      keyOf(transfer.mint),
      keyOf(transfer.destination),
      keyOf(transfer.authority),
      transfer.amountMicro,
      USDC_DECIMALS,
      [],
      keyOf(PROGRAMS.token),
    ),
    transfer.reference,
  );
