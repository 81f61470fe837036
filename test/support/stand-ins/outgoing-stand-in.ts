import { createHash } from 'node:crypto';
import type { chainSubmitter, OutgoingReason, Progress } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handlers } from '../../../shared/contract/service.ts';
import { encodeBase58 } from '../../../shared/lib/chain/base58.ts';

/** `transaction` null: the payment was refused or closed before it was signed. */
type Outgoing = { transaction: string | null; reason: OutgoingReason; progress: Progress };
type Attempt = { account_id: string; payment_attempt_id: string; settlement_id: string };
type Operations = Pick<
  Handlers<typeof chainSubmitter>,
  'signOutgoing' | 'closeOutgoing' | 'observeOutgoing' | 'findLostOutgoing'
>;

const keyOf = ({ account_id, payment_attempt_id }: Attempt) => `${account_id}:${payment_attempt_id}`;

/**
 * The part of the chain's stand-in for payments to vendors that do not use Quittance.
 * @param onSigned is called with the settlement of a payment that was signed
 */
export const createOutgoingStandIn = (onSigned: (settlementId: string) => void) => {
  const byAttempt = new Map<string, Outgoing>();
  const refusal: { reason: OutgoingReason | null } = { reason: null };

  const insert = (attempt: Attempt, reason: OutgoingReason | null): Outgoing => {
    const nothing = { object_id: attempt.settlement_id, generation: 0, tx_hash: null, slot: null };
    const failure = { code: 'payment_failed', message: 'nothing was signed' } as const;
    const transaction = reason === null ? Buffer.from(`outgoing:${keyOf(attempt)}`).toString('base64') : null;
    const outgoing: Outgoing = {
      transaction,
      reason: reason ?? 'closed',
      progress:
        reason === null
          ? { ...nothing, status: 'signed', failure: null }
          : { ...nothing, status: 'failed', failure },
    };
    byAttempt.set(keyOf(attempt), outgoing);
    return outgoing;
  };

  const handlers: Operations = {
    findLostOutgoing: async () => ({ found: 'none', transactions: [] }),
    signOutgoing: async ({ owner, ...attempt }) => {
      const existing = byAttempt.get(keyOf(attempt));
      const { transaction, reason, progress } = existing ?? insert(attempt, refusal.reason);
      if (transaction === null) return { outcome: 'refused', reason, message: 'nothing was signed' };
      if (existing === undefined) onSigned(attempt.settlement_id);
      return {
        outcome: 'signed',
        transaction,
        message_hash: createHash('sha256').update(transaction).digest('hex'),
        source_account: encodeBase58(createHash('sha256').update(owner).digest()),
        tx_hash: progress.tx_hash,
      };
    },
    closeOutgoing: async (attempt) => (byAttempt.get(keyOf(attempt)) ?? insert(attempt, 'closed')).progress,
    observeOutgoing: async (attempt) => {
      const existing = byAttempt.get(keyOf(attempt));
      if (existing === undefined) throw new ServiceError('not_found', 'no outgoing payment of this attempt');
      return existing.progress;
    },
  };
  return {
    handlers,
    refusal,
    recordProgress: (progress: Progress): void => {
      for (const outgoing of byAttempt.values())
        if (outgoing.progress.object_id === progress.object_id) outgoing.progress = progress;
    },
  };
};
