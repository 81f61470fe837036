import { hasErrorCode } from '../../shared/lib/error-causes.ts';
import { failpoint } from '../../shared/lib/failpoint.ts';
import { count } from '../../shared/lib/metrics.ts';
import type { Deps } from './deps.ts';
import type { Order } from './domain/order.ts';
import type { Flight } from './flights.ts';
import { BudgetUsedUp } from './limits/budgets.ts';
import type { OwnWork } from './limits/own-work.ts';
import { NotCreatable } from './limits/rent.ts';
import { signedEvent } from './progress.ts';
import {
  type ClaimedIntent,
  type CommitOutcome,
  commitSigned,
  type Generation,
  type SignedTransition,
} from './store/intents.ts';
import { isCommitted } from './store/transactions.ts';

/** Rule 10. */
export const RESEND_MS = 2000;
const UNIQUE_VIOLATION = /^23505$/;

type Bytes = Pick<Generation, 'signature' | 'wire' | 'lastValidBlockHeight'> & { generation: number };

/** A flight over committed bytes. */
export const flightOf = (
  { intent_id, kind, object_id, traceparent, ...intent }: ClaimedIntent,
  order: Order | null,
  bytes: Bytes,
): Flight => ({
  // Nothing more of it: thousands may wait for finality.
  intent: { intent_id, kind, object_id, traceparent },
  order,
  ...bytes,
  phase: intent.status === 'confirmed' ? 'confirmed' : 'sent',
  slot: intent.status === 'confirmed' && intent.slot !== null ? Number(intent.slot) : null,
  launchedAt: performance.now(),
  pollAt: 0,
  sendAt: performance.now() + RESEND_MS,
  told: kind !== 'settle',
  // What was found on the chain may be older than a node's short memory: it is looked for in the history at once.
  missed: bytes.wire.length === 0 ? 1 : 0,
  unanswered: 0,
  processed: false,
  doubtedAt: null,
  disputed: false,
});

/** Sends the bytes to every provider and has them watched. Nobody waits for the answers: only the chain's count. */
export const launch = ({ flights, rpc }: Pick<Deps, 'flights' | 'rpc'>, flight: Flight): void => {
  const sends = flight.wire.length > 0 && flight.phase === 'sent';
  if (sends) flight.pollAt = performance.now() + flights.pace.firstLookMs();
  flights.launch(flight);
  if (!sends) return;
  void rpc.broadcast(flight.wire).then(() => failpoint('submitter.afterSend'));
};

/** Whether a unique index has refused a statement. */
export const isUniqueViolation = (error: unknown): boolean => hasErrorCode(error, UNIQUE_VIOLATION);

type CommitDeps = Pick<Deps, 'flights' | 'rpc' | 'pool' | 'commits' | 'relay' | 'logger' | 'ownWork'>;

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
  { pool, ownWork }: CommitDeps,
  work: OwnWork,
  transition: SignedTransition,
): Promise<CommitOutcome> => {
  try {
    return await pool.transaction(async (tx) => {
      await ownWork.reserve(tx, work);
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
export const commitAndLaunch = async (
  deps: CommitDeps,
  intent: ClaimedIntent,
  order: Order,
  { signed, work }: { signed: Generation; work: OwnWork | null },
): Promise<'launched' | 'overtaken' | 'over_budget'> => {
  const generation = intent.generation + 1;
  const signedTransition: SignedTransition = {
    intentId: intent.intent_id,
    generation,
    traceparent: intent.traceparent,
    // Whoever waits for a settle waits for its end: that it was signed is told when that takes long (jobs/rebroadcast.ts).
    message:
      intent.kind === 'settle' ? null : signedEvent(intent, { generation, signature: signed.signature }),
    signed,
    claim: work === null ? null : deps.ownWork.claimOf(work),
  };
  try {
    const isAlone = work !== null && (work.creates !== null || work.order.kind !== 'settle');
    const outcome = await (isAlone
      ? commitAlone(deps, work, signedTransition)
      : deps.commits.signed(signedTransition));
    if (typeof outcome === 'string') {
      if (outcome === 'over_budget' && !isAlone)
        count('settle.chain.budget_refusals', 1, { budget: 'fees_settle', dimension: 'account' });
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
  const how = signed.wire.length === 0 ? 'found' : generation === 1 ? 'first' : 'again';
  count('settle.chain.generations', 1, { generation: how });
  await failpoint('submitter.afterCommit');
  launch(deps, flightOf({ ...intent, status: 'signed' }, order, { ...signed, generation }));
  return 'launched';
};
