import type { Records } from '../../../shared/boot.ts';
import { acceptHolding, type HoldingDeps, recordAccepted } from '../core/accept.ts';
import type { Payer } from '../payers/store.ts';
import {
  acceptOutgoing,
  type OutgoingAttempt,
  type OutgoingEvaluation,
} from '../record/store/outgoing/accept-outgoing.ts';
import { OUTGOING } from './rail.ts';

export type AcceptDeps = HoldingDeps & Pick<Records, 'pool'>;
/** An evaluation, and the attempt of it: with the wallet and the hour in which it was accepted. */
export type Evaluated = OutgoingEvaluation & { attempt: OutgoingAttempt; payer: Payer };

/**
 * Accepts an outgoing payment within the hourly caps.
 * @returns null after too many conflicts, or when the call is too old
 */
export const accept = async (
  deps: AcceptDeps,
  call: Omit<OutgoingAttempt, 'walletId' | 'authority' | 'cappedAt'>,
  options: { payer: Payer; abandonedAt: number },
): Promise<Evaluated | null> => {
  const { amountMicro } = call;
  const evaluated = await acceptHolding(
    deps,
    { ...options, amountMicro },
    async ({ payer, isOverCap, at }) => {
      const attempt = { ...call, walletId: payer.wallet_id, authority: payer.authority, cappedAt: at };
      return { ...(await acceptOutgoing(deps.pool, attempt, { isOverCap })), attempt, payer };
    },
  );
  if (evaluated?.decision === 'accepted') await recordAccepted(deps, OUTGOING, evaluated.attempt);
  return evaluated;
};
