import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import { currentEvent, progressEvent } from '../ledger/events.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { intents } from '../ledger/model/state.ts';
import { captureAmountOf, quoteHashOf } from '../ledger/store/final-request.ts';
import {
  type ClaimedIntent,
  findIntent,
  type IntentRow,
  type NewIntent,
  newIntent,
} from '../ledger/store/intents.ts';
import { mayHaveLostRecord } from './adoption.ts';
import type { Executor } from './executor.ts';

export type AcceptDeps = {
  pool: Pool;
  relay: Outbox;
  logger: Logger;
  blockhashes: Blockhashes;
  groupCommit: GroupCommit;
  inFlight: InFlightTransactions;
  clock: Clock;
  executor: Pick<Executor, 'execute' | 'executeNow' | 'signAtOnce'>;
};

const REUSED_ATTEMPT = {
  code: 'payment_failed',
  message: 'this payment_attempt_id paid another quote before; no money moved',
} as const;

/**
 * Answers a job whose payment_attempt_id belongs to another settlement: settlement's database was
 * restored from a backup, and the attempt was created again. The job must not wait for ever, and
 * nothing is paid for it. For the same quote, the known payment is published under the new id. For
 * another quote, it is certain that nothing was or will be signed.
 */
const answerConflictingJob = async (
  { pool, relay, logger }: AcceptDeps,
  existing: IntentRow,
  { object_id, request }: NewIntent,
): Promise<void> => {
  count('quittance_anomalies_total', 1, { kind: 'work_under_another_id' });
  logger.error({ intent: existing.intent_id, object_id }, 'job names another object than its intent');
  const renamed = { ...existing, object_id };
  const failure = REUSED_ATTEMPT;
  const refused = { status: 'failed', generation: 0, tx_hash: null, slot: null, failure } as const;
  const message =
    quoteHashOf(existing.request) === quoteHashOf(request)
      ? currentEvent(renamed)
      : progressEvent(renamed, refused);
  if (message !== null) relay.dispatch(await insertOutbox(pool, [message]));
};

/**
 * Whether a job captures another amount than the intent of its attempt: settlement's database was
 * restored from a backup, and it decided the capture again. Nothing is paid for it, and no progress
 * is published, which would be about the other amount. An operator has to decide.
 */
const isOfAnotherAmount = (
  { logger }: AcceptDeps,
  existing: IntentRow,
  { object_id, request }: NewIntent,
): boolean => {
  const [recorded, ordered] = [captureAmountOf(existing.request), captureAmountOf(request)];
  if (recorded === ordered) return false;
  count('quittance_anomalies_total', 1, { kind: 'work_of_another_amount' });
  logger.error(
    { intent: existing.intent_id, object_id, recorded, ordered },
    'job captures another amount than its intent',
  );
  return true;
};

/**
 * Whether a job is most likely new, so that its payment can be recorded with its bytes. The
 * statement that commits them decides by the clock of the database.
 */
const isNew = (intent: ClaimedIntent): boolean =>
  intent.kind === 'settle' && intent.generation === 0 && !mayHaveLostRecord(intent);

/**
 * Accepts a job. A new payment is signed at once, and recorded with its bytes. Any other intent is
 * recorded and executed in the background. The message is acknowledged when the intent is
 * committed, never after confirmation. A job whose intent exists (dispatched again or redelivered)
 * publishes the current state once more and is polled at once.
 */
export const acceptJob = async (deps: AcceptDeps, job: NewIntent): Promise<void> => {
  const { pool, relay, inFlight, executor, groupCommit, blockhashes } = deps;
  await failpoint('submitter.beforeIntent');
  // The job's trace is stored, so that events published minutes later belong to it.
  const intent = newIntent(job, { traceparent: activeTraceparent(), now: deps.clock() });
  if (isNew(intent) && (await executor.signAtOnce(intent))) return;
  // The blockhash is read while the intent is committed, which saves the executor the wait. It
  // handles a failure.
  void blockhashes.get().catch(() => {});
  const inserted = await groupCommit.intent(intent);
  await failpoint('submitter.afterIntent');
  if (inserted !== null) return executor.execute(inserted);

  const existing = await findIntent(pool, job.intent_id);
  if (existing === null) throw new Error('The intent was not inserted and does not exist.');
  if (existing.object_id !== job.object_id) return answerConflictingJob(deps, existing, job);
  if (isOfAnotherAmount(deps, existing, job)) return;
  // The requesting service records no event of an older generation than it knows, which may come
  // from a lost record.
  const generation = Math.max(existing.generation, intent.generation);
  const message = currentEvent({ ...existing, generation });
  if (message !== null) relay.dispatch(await insertOutbox(pool, [message]));
  if (intents.isTerminal(existing.status)) return;
  if (inFlight.has(job.intent_id)) inFlight.pollNow(job.intent_id);
  else await executor.executeNow(job.intent_id);
};
