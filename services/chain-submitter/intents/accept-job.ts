import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import type { ChainView } from '../chain/token-accounts.ts';
import { currentEvent, progressEvent } from './events.ts';
import type { Executor } from './executor.ts';
import type { GroupCommit } from './group-commit.ts';
import { intents } from './model/state.ts';
import { findIntent, type IntentRow } from './store/intents.ts';

/** What accepting a job depends on. */
export type AcceptDeps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  chain: ChainView;
  groupCommit: GroupCommit;
  inFlight: InFlightTransactions;
  executor: Executor;
  logger: Logger;
};

/**
 * The same payment_attempt_id under another settlement: settlement's database was set back and the attempt was made
 * anew. It must not wait for ever, and nothing is paid for it: for the same quote the payment that is known is told
 * under the new id; for another quote, it is proven that nothing was signed or will be.
 */
const answerConflictingJob = async (
  { pool, relay, logger }: AcceptDeps,
  known: IntentRow,
  job: Pick<IntentRow, 'object_id'> & { request: object },
): Promise<void> => {
  count('quittance_anomalies_total', 1, { kind: 'work_under_another_id' });
  logger.error({ intent: known.intent_id, object_id: job.object_id }, 'the same work under another id');
  const quoteOf = (request: unknown) => (request as { quote_token?: string }).quote_token;
  const progress =
    quoteOf(known.request) === quoteOf(job.request)
      ? currentEvent({ ...known, object_id: job.object_id })
      : progressEvent(
          { ...known, object_id: job.object_id },
          {
            status: 'failed',
            generation: 0,
            tx_hash: null,
            slot: null,
            failure: {
              code: 'payment_failed',
              message: 'this payment_attempt_id paid another quote before; no money moved',
            },
          },
        );
  if (progress !== null) relay.dispatch(await insertOutbox(pool, [progress]));
};

/**
 * Takes a job: writes its intent and drives it in the background. The message is acknowledged when the intent is
 * committed, never after confirmation. A job that is known already (a re-drive, a redelivery) tells its present
 * state once more and is hurried on.
 */
export const acceptJob = async (
  deps: AcceptDeps,
  job: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id'> & { request: object; generation?: number },
): Promise<void> => {
  const { pool, relay, inFlight, executor, groupCommit, chain } = deps;
  await failpoint('submitter.beforeIntent');
  // Asked for while the intent is committed: whoever pays alone would wait for it after. A failure is met there.
  void chain.blockhash().catch(() => {});
  // The job's trace is kept, so that events published minutes later belong to it.
  const inserted = await groupCommit.intent({ ...job, traceparent: activeTraceparent() });
  await failpoint('submitter.afterIntent');
  if (inserted !== null) return executor.drive(inserted);

  const known = await findIntent(pool, job.intent_id);
  if (known === null) throw new Error('an intent is neither new nor known');
  if (known.object_id !== job.object_id) return answerConflictingJob(deps, known, job);
  // Whoever asks records no event of an older generation than it knows, perhaps from a record that
  // was lost.
  const generation = Math.max(known.generation, job.generation ?? 0);
  const progress = currentEvent({ ...known, generation });
  if (progress !== null) relay.dispatch(await insertOutbox(pool, [progress]));
  if (intents.isTerminal(known.status)) return;
  if (inFlight.has(job.intent_id)) inFlight.pollNow(job.intent_id);
  else await executor.executeNow(job.intent_id);
};
