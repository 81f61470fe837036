import { context, propagation } from '@opentelemetry/api';
import { insertOutbox } from '../../../shared/db/outbox.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Deps } from '../deps.ts';
import { isTerminal } from '../domain/intent.ts';
import { presentProgress } from '../progress.ts';
import { findIntent, type IntentRow, insertIntent } from '../store/intents.ts';

/** The job's trace, kept with the intent so that facts told minutes later belong to it. */
const traceparent = (): string | null => {
  const carrier: { traceparent?: string } = {};
  propagation.inject(context.active(), carrier);
  return carrier.traceparent ?? null;
};

/**
 * Takes a job: writes its intent and drives it in the background. The message is acknowledged when the intent is
 * committed, never after confirmation. A job that is known already (a re-drive, a redelivery) tells its present
 * state once more and is hurried on.
 */
export const takeJob = async (
  { pool, relay, flights, driver, workerId, logger }: Deps,
  job: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id'> & { request: object },
): Promise<void> => {
  await failpoint('submitter.beforeIntent');
  const inserted = await insertIntent(pool, { ...job, traceparent: traceparent() }, workerId);
  await failpoint('submitter.afterIntent');
  if (inserted !== null) return driver.drive(inserted);

  const known = await findIntent(pool, job.intent_id);
  if (known === null) throw new Error('an intent is neither new nor known');
  if (known.object_id !== job.object_id) {
    logger.error({ intent: job.intent_id }, 'the same work was asked for under another id, ignored');
    return;
  }
  const progress = presentProgress(known);
  if (progress !== null) relay.dispatch(await insertOutbox(pool, [progress]));
  if (isTerminal(known.status)) return;
  if (flights.has(job.intent_id)) flights.hurry(job.intent_id);
  else await driver.driveNow(job.intent_id);
};
