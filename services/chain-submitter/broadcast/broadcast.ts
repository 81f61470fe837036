import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { hasErrorCode } from '../../../shared/lib/error-causes.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { signedEvent } from '../intents/events.ts';
import type { GroupCommit } from '../intents/group-commit.ts';
import type { Order } from '../intents/model/order.ts';
import {
  type ClaimedIntent,
  type CommitOutcome,
  commitSigned,
  type Generation,
  type SignedTransition,
} from '../intents/store/intents.ts';
import { BudgetUsedUp } from '../limits/fee-budgets.ts';
import type { OwnTransaction, OwnBudgets } from '../limits/own-transactions.ts';
import { NotCreatable } from '../limits/token-account-rent.ts';
import { isCommitted } from '../transactions/store/transactions.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';

/** Rule 10. */
export const REBROADCAST_MS = 2000;
const UNIQUE_VIOLATION = /^23505$/;

type Bytes = Pick<Generation, 'signature' | 'wire' | 'lastValidBlockHeight'> & { generation: number };

/** A flight over committed bytes. */
export const toInFlight = (
  { intent_id, kind, object_id, traceparent, ...intent }: ClaimedIntent,
  order: Order | null,
  bytes: Bytes,
): InFlightTransaction => ({
  // Nothing more of it: thousands may wait for finality.
  intent: { intent_id, kind, object_id, traceparent },
  order,
  ...bytes,
  phase: intent.status === 'confirmed' ? 'confirmed' : 'sent',
  slot: intent.status === 'confirmed' && intent.slot !== null ? Number(intent.slot) : null,
  broadcastAt: performance.now(),
  pollAt: 0,
  sendAt: performance.now() + REBROADCAST_MS,
  isSignedPublished: kind !== 'settle',
  // What was found on the chain may be older than a node's short memory: it is looked for in the history at once.
  missedPolls: bytes.wire.length === 0 ? 1 : 0,
  unansweredReads: 0,
  processed: false,
  doubtedAt: null,
  disputed: false,
});

/** Sends the bytes to every provider and has them watched. Nobody waits for the answers: only the chain's count. */
export const broadcast = ({ inFlight, rpc }: { inFlight: InFlightTransactions; rpc: Rpc }, transaction: InFlightTransaction): void => {
  const sends = transaction.wire.length > 0 && transaction.phase === 'sent';
  if (sends) transaction.pollAt = performance.now() + inFlight.pollInterval.firstPollMs();
  inFlight.add(transaction);
  if (!sends) return;
  void rpc.broadcast(transaction.wire).then(() => failpoint('submitter.afterSend'));
};

/** Whether a unique index has refused a statement. */
export const isUniqueViolation = (error: unknown): boolean => hasErrorCode(error, UNIQUE_VIOLATION);

type CommitDeps = {
  inFlight: InFlightTransactions;
  rpc: Rpc;
  pool: Pool;
  groupCommit: GroupCommit;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  ownBudgets: OwnBudgets;
};

/** Rolls back whatever was reserved for bytes that are not committed. */
class NotCommitted extends Error {
  readonly why: Extract<CommitOutcome, string>;
  constructor(why: Extract<CommitOutcome, string>) {
    super(why);
    this.why = why;
  }
}

/** Bytes and reservations as one transaction. Settles that create nothing do without: they share a statement. */
const commitAlone = async (
  { pool, ownBudgets }: CommitDeps,
  work: OwnTransaction,
  transition: SignedTransition,
): Promise<CommitOutcome> => {
  try {
    return await pool.transaction(async (tx) => {
      await ownBudgets.reserve(tx, work);
      const outcome = (await commitSigned(tx, [transition]))[0]!;
      if (typeof outcome === 'string') throw new NotCommitted(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof NotCommitted) return error.why;
    if (error instanceof BudgetUsedUp) return 'over_budget';
    if (error instanceof NotCreatable) return 'overtaken';
    throw error;
  }
};

/**
 * Commits signed bytes as the intent's next generation, then sends them (rule 8).
 * @param work what the bytes are, for its budgets; null for a transaction that was found on the chain
 * @returns `overtaken` when they were not committed: another worker has changed the intent, or has
 * live bytes of it, or it is too late to sign; `over_budget` when the platform pays no more of this
 * kind today. The bytes are forgotten, and what was never sent cannot land
 */
export const commitAndBroadcast = async (
  deps: CommitDeps,
  intent: ClaimedIntent,
  order: Order,
  { signed, work }: { signed: Generation; work: OwnTransaction | null },
): Promise<'launched' | 'overtaken' | 'over_budget'> => {
  const generation = intent.generation + 1;
  const signedTransition: SignedTransition = {
    intentId: intent.intent_id,
    generation,
    traceparent: intent.traceparent,
    // Whoever waits for a settle waits for its end: that it was signed is told when that takes long (rebroadcast.ts).
    message:
      intent.kind === 'settle' ? null : signedEvent(intent, { generation, signature: signed.signature }),
    signed,
    claim: work === null ? null : deps.ownBudgets.claimOf(work),
  };
  try {
    const isAlone = work !== null && (work.creates !== null || work.order.kind !== 'settle');
    const outcome = await (isAlone
      ? commitAlone(deps, work, signedTransition)
      : deps.groupCommit.signed(signedTransition));
    if (typeof outcome === 'string') {
      if (outcome === 'over_budget' && !isAlone)
        count('quittance_budget_refusals_total', 1, { budget: 'fees_settle', dimension: 'account' });
      return outcome;
    }
    deps.relay.dispatch(outcome);
  } catch (error) {
    if (isUniqueViolation(error)) return 'overtaken';
    // The answer to the commit was lost: there → those bytes are the generation; absent → they never leave.
    deps.logger.warn(
      { err: error, intent: intent.intent_id },
      'commit of signed bytes unclear, reading again',
    );
    if (!(await isCommitted(deps.pool, signed.signature))) return 'overtaken';
  }
  const how = signed.wire.length === 0 ? 'adopted' : generation === 1 ? 'first' : 'again';
  count('quittance_chain_generations_total', 1, { generation: how });
  await failpoint('submitter.afterCommit');
  broadcast(deps, toInFlight({ ...intent, status: 'signed' }, order, { ...signed, generation }));
  return 'launched';
};
