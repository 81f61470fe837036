import type { TransactionInstruction } from '@solana/web3.js';
import type { Network } from '../ledger/model/network.ts';
import type { TransferOrder } from '../ledger/model/order.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import { transferChecked } from './instructions/transfer-checked.ts';

/**
 * A withdrawal or refund: the payee's token account if it is missing, then the transfer by the
 * owner's authority.
 */
export const transfer = (
  order: TransferOrder,
  { mint, feePayer }: Network,
  { create }: { create: boolean },
): TransactionInstruction[] => {
  const { owner, source, payee, destination, amountMicro, reference } = order;
  return [
    ...(create && payee !== null
      ? [createTokenAccount({ payer: feePayer, tokenAccount: destination, owner: payee, mint })]
      : []),
    transferChecked({ source, mint, destination, authority: owner, amountMicro, reference }),
  ];
};
