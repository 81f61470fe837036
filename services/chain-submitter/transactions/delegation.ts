import type { TransactionInstruction } from '@solana/web3.js';
import type { Network } from '../ledger/model/network.ts';
import type { DelegationOrder } from '../ledger/model/order.ts';
import { approveChecked } from './instructions/approve-checked.ts';
import { createTokenAccount } from './instructions/create-token-account.ts';
import { revoke } from './instructions/revoke.ts';

/**
 * Approves a delegate authority, after the token account if it is missing, or revokes the
 * delegation.
 */
export const delegation = (
  order: DelegationOrder,
  { mint, feePayer }: Network,
  { create }: { create: boolean },
): TransactionInstruction[] => {
  const { owner, tokenAccount, authority: delegate, allowanceMicro } = order;
  if (allowanceMicro === null) return [revoke({ tokenAccount, owner })];
  return [
    ...(create ? [createTokenAccount({ payer: feePayer, tokenAccount, owner, mint })] : []),
    approveChecked({ tokenAccount, mint, delegate, owner, allowanceMicro }),
  ];
};
