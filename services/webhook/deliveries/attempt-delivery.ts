import type { Attempt } from '../../../shared/contract/webhook.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count, record } from '../../../shared/lib/telemetry/metrics.ts';
import type { Secrets } from '../endpoints/secrets.ts';
import { lockEndpoint, recordFailure, recordSuccess } from '../endpoints/store.ts';
import type { Outcome, Sender } from '../sender/sender.ts';
import { retryAfterSeconds } from './model/schedule.ts';
import { signedHeaders } from './signed-headers.ts';
import { type DueRow, recordAttempt } from './store.ts';
import { deliveryBody } from './view.ts';

/** What sends a delivery and records its outcome. */
export type DeliveryAttempter = {
  pool: Pool;
  logger: Logger;
  /** The database's clock, epoch milliseconds. */
  clock: Clock;
  relay: Outbox;
  secrets: Pick<Secrets, 'open'>;
  sender: Pick<Sender, 'post'>;
};

const send = async ({ secrets, sender, clock }: DeliveryAttempter, due: DueRow): Promise<Outcome> => {
  const sealed = [due.secret, ...(due.previous_secret === null ? [] : [due.previous_secret])];
  const opened = await Promise.all(sealed.map((secret) => secrets.open(due.endpoint_id, secret)));
  const body = deliveryBody(due);
  const headers = signedHeaders(opened, { id: due.event_id, body, now: clock() });
  return sender.post(due.url, { headers, body });
};

/** The transition of a delivery after an attempt. */
const transitionAfter = (due: DueRow, error: Outcome['error']) => {
  if (error === null) return { event: 'deliver' } as const;
  const afterSeconds = retryAfterSeconds(due.tries, Math.random());
  if (afterSeconds === null) return { event: 'exhaust' } as const;
  return { event: 'retry', afterSeconds } as const;
};

/**
 * Records an outcome in the log of the delivery and in the endpoint, in one transaction. It
 * publishes the event that the endpoint was disabled when this failure disabled it.
 */
const recordOutcome = async (
  { pool, relay }: DeliveryAttempter,
  due: DueRow,
  at: number,
  { statusCode, error, durationMs, response }: Outcome,
): Promise<void> => {
  const { endpoint_id } = due;
  const attempt: Attempt = {
    at: isoTime(at),
    status_code: statusCode,
    error,
    duration_ms: durationMs,
    response,
  };
  const transition = transitionAfter(due, error);
  const outbox = await pool.transaction(async (tx) => {
    await lockEndpoint(tx, endpoint_id);
    if (!(await recordAttempt(tx, due, attempt, transition))) return [];
    if (error === null) {
      await recordSuccess(tx, endpoint_id);
      return [];
    }
    const disabled = await recordFailure(tx, endpoint_id, { url: due.url, gone: statusCode === 410 });
    if (disabled === null) return [];
    const { account_id, disabled_reason: reason, now } = disabled;
    const payload = { account_id, endpoint_id, host: new URL(due.url).host, reason, at: isoTime(now) };
    return insertOutbox(tx, [event('webhook.endpointDisabled', payload)]);
  });
  relay.dispatch(outbox);
  count('quittance_webhook_attempts_total', 1, { outcome: error ?? 'delivered' });
  if (due.first_since !== null && statusCode !== null)
    record('quittance_webhook_first_answer_seconds', (at + durationMs - due.first_since) / 1000);
};

/** Makes one attempt of a claimed delivery. Never throws: after an error the lease runs out. */
export const attemptDelivery = async (deps: DeliveryAttempter, due: DueRow): Promise<void> => {
  const at = deps.clock();
  try {
    await recordOutcome(deps, due, at, await send(deps, due));
  } catch (error) {
    const { endpoint_id, event_id } = due;
    deps.logger.error(
      { err: error, endpoint_id, event_id },
      'did not complete a delivery because of an error; it is sent again when its lease expires',
    );
  }
};
