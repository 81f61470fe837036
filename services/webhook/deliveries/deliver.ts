import type { Attempt } from '../../../shared/contract/webhook.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { everyMs, type Periodic } from '../../../shared/lib/periodic.ts';
import type { Deps } from '../deps.ts';
import { signedHeaders } from '../endpoints/secrets.ts';
import { lockEndpoint, noteFailure, noteSuccess } from '../endpoints/store.ts';
import { retryAfterSeconds } from './model/schedule.ts';
import type { Outcome } from './sender.ts';
import { claimDue, type DueRow, finishTry } from './store.ts';
import { payloadOf } from './view.ts';

const SWEEP_EVERY_MS = 1000;
/** Of one replica at once: sockets that wait for strangers, little memory each. */
const MAX_IN_FLIGHT = 256;

export type Deliveries = Periodic & {
  /** Sends what is due now instead of at the next sweep. Never throws. */
  poke: () => void;
};

/**
 * Delivers what is due. A delivery is claimed in one short statement and sent outside of any transaction; each goes on by
 * itself, so one that hangs keeps only its own place.
 */
export const startDeliver = (deps: Omit<Deps, 'pokeDeliveries'>): Deliveries => {
  const { pool, logger, clock, relay, secrets, sender } = deps;
  const inFlight = new Set<Promise<void>>();
  const used: Record<string, number> = {};
  let stopping = false;

  const send = async (due: DueRow): Promise<Outcome> => {
    const sealed = [due.secret, ...(due.previous_secret === null ? [] : [due.previous_secret])];
    const keys = await Promise.all(sealed.map((secret) => secrets.open(due.endpoint_id, secret)));
    const body = payloadOf(due);
    const headers = signedHeaders(keys, { id: due.event_id, body, now: clock() });
    return sender.post(due.url, { headers, body });
  };

  /** What came of it goes into the log and the endpoint's past together, and turns it off where that was the last. */
  const note = async (due: DueRow, at: number, outcome: Outcome): Promise<void> => {
    const { statusCode, error, durationMs, response } = outcome;
    const attempt: Attempt = {
      at: isoTime(at),
      status_code: statusCode,
      error,
      duration_ms: durationMs,
      response,
    };
    const afterSeconds = retryAfterSeconds(due.tries, Math.random());
    const result =
      error === null
        ? ({ event: 'deliver' } as const)
        : afterSeconds === null
          ? ({ event: 'exhaust' } as const)
          : ({ event: 'retry', afterSeconds } as const);
    const outbox = await pool.transaction(async (tx) => {
      await lockEndpoint(tx, due.endpoint_id);
      if (!(await finishTry(tx, due, attempt, result))) return [];
      if (error === null) {
        await noteSuccess(tx, due.endpoint_id);
        return [];
      }
      const disabled = await noteFailure(tx, due.endpoint_id, { url: due.url, gone: statusCode === 410 });
      if (disabled === null) return [];
      const { account_id, disabled_reason: reason, now } = disabled;
      const { endpoint_id } = due;
      const payload = { account_id, endpoint_id, host: new URL(due.url).host, reason, at: isoTime(now) };
      return insertOutbox(tx, [event('webhook.endpointDisabled', payload)]);
    });
    relay.dispatch(outbox);
    count('settle.webhook.attempts', 1, { outcome: error ?? 'delivered' });
  };

  const deliver = async (due: DueRow): Promise<void> => {
    const at = clock();
    try {
      await note(due, at, await send(due));
    } catch (error) {
      // The lease ends, and it is tried again.
      const { endpoint_id, event_id } = due;
      logger.error({ err: error, endpoint_id, event_id }, 'a delivery was not carried through');
    }
  };

  const begin = (due: DueRow): void => {
    const { endpoint_id } = due;
    used[endpoint_id] = (used[endpoint_id] ?? 0) + 1;
    const work = deliver(due).finally(() => {
      inFlight.delete(work);
      used[endpoint_id]! -= 1;
      if (used[endpoint_id] === 0) delete used[endpoint_id];
      // What was waiting for this place.
      poke();
    });
    inFlight.add(work);
  };

  /** One claim at a time, or two would give the same places away; who comes meanwhile has another follow. */
  let claiming: Promise<void> | undefined;
  let again = false;
  const sweep = (): Promise<void> => {
    if (claiming !== undefined) {
      again = true;
      return claiming;
    }
    const run = async () => {
      do {
        again = false;
        const room = MAX_IN_FLIGHT - inFlight.size;
        if (stopping || room <= 0) return;
        for (const due of await claimDue(pool, used, room)) begin(due);
      } while (again);
    };
    claiming = run().finally(() => {
      claiming = undefined;
    });
    return claiming;
  };
  const poke = (): void => {
    if (stopping) return;
    void sweep().catch((error: unknown) => logger.warn({ err: error }, 'deliveries left to the sweep'));
  };

  const periodic = everyMs(SWEEP_EVERY_MS, 'deliver', sweep, logger);
  return {
    poke,
    stop: async () => {
      stopping = true;
      await periodic.stop();
      await claiming?.catch(() => {});
      await Promise.all(inFlight);
    },
  };
};
