import type { Part } from '../../shared/events/event-list.ts';
import type { OutboxRow } from '../../shared/events/outbox.ts';
import type { Relay } from '../../shared/events/relay.ts';
import { type Outbox, Unavailable } from './database.ts';
import { type Harness, isMistake, type Process } from './harness.ts';

const DUPLICATE_WINDOW_MS = 120_000;
const ACK_WAIT_MS = 10_000;
const LATENCY_MS = 10;
const DELETE_AFTER_MS = 25;
const SWEEP_AGE_MS = 2000;
const SWEEP_EVERY_MS = 1000;

/** Events for services that are not part of the simulation are dropped. */
const HEARD = [
  'job.chain-submitter.settle',
  'evt.chain-submitter.settleProgressed',
  'evt.chain-submitter.refundProgressed',
];

/** @param from the replica that handed the payload over */
type Handle = (payload: never, from?: string) => Promise<void>;
type Message = { subject: string; payload: unknown; deliveries: number };
export type Bus = ReturnType<typeof createBus>;

/**
 * The streams: they drop a repeated id inside their window, deliver until acknowledged, and lose,
 * repeat, delay and reorder messages with the run's probabilities. A killed server restarts with
 * what it stored, or with nothing.
 */
export const createBus = (harness: Harness) => {
  const { random } = harness;
  const publishedAt = new Map<string, number>();
  const consumers = new Map<Process, Map<string, Handle>>();
  const stored = new Set<Message>();
  let unavailableUntil = 0;
  const isUnavailable = () => harness.now() < unavailableUntil;

  const deliver = (message: Message): void => {
    if (!stored.has(message)) return;
    if (isUnavailable()) {
      harness.schedule(unavailableUntil - harness.now(), () => deliver(message));
      return;
    }
    const able = [...consumers].filter(
      ([process, handlers]) =>
        process.alive && process.pausedUntil <= harness.now() && handlers.has(message.subject),
    );
    if (able.length === 0) {
      harness.schedule(500, () => deliver(message));
      return;
    }
    const [process, handlers] = random.pick(able);
    message.deliveries += 1;
    const { deliveries } = message;
    // A negative acknowledgement replaces the wait for an acknowledgement: there is one next
    // delivery, not two.
    const again = (delay: number) =>
      harness.schedule(delay, () => {
        if (message.deliveries === deliveries) deliver(message);
      });
    again(ACK_WAIT_MS);
    handlers.get(message.subject)!(message.payload as never).then(
      () => {
        // An acknowledgement may be lost as well.
        if (process.alive && !isUnavailable() && !random.chance(harness.faults.repeat / 4))
          stored.delete(message);
      },
      (error: unknown) => {
        if (isMistake(error)) harness.fault(error);
        harness.trace(process.name, `message failed: ${(error as Error).message}`);
        again(250 * 2 ** Math.min(message.deliveries, 5));
      },
    );
  };

  const store = (row: OutboxRow, onStored: () => void) => {
    if (!HEARD.includes(row.subject)) return;
    const last = publishedAt.get(row.msg_id);
    if (last !== undefined && harness.now() - last < DUPLICATE_WINDOW_MS) return;
    publishedAt.set(row.msg_id, harness.now());
    onStored();
    const { loss, repeat, slow } = harness.faults;
    const what = `${row.subject} ${JSON.stringify(row.payload).replace(/"quote_token.*/, '')}`;
    if (random.chance(loss)) return harness.trace('bus', `loses ${what}`);
    const copies = random.chance(repeat) ? 2 : 1;
    for (let copy = 0; copy < copies; copy++) {
      const payload: unknown = JSON.parse(JSON.stringify(row.payload));
      const message: Message = { subject: row.subject, payload, deliveries: 0 };
      stored.add(message);
      const delay = random.chance(slow) ? random.between(0, 8000) : random.between(1, 20);
      harness.schedule(delay, () => deliver(message));
    }
  };

  return {
    publish: (process: Process, row: OutboxRow, onStored = () => {}): Promise<void> =>
      harness.io(process, LATENCY_MS, () => {
        if (isUnavailable()) throw new Unavailable('no subscriber');
        const away = random.chance(harness.faults.lostAnswer);
        if (!away || random.chance(0.5)) store(row, onStored);
        if (away) throw new Unavailable('the server did not answer');
      }),
    /**
     * Hands a row over. An owner of a lane is any process that can handle it, because several may
     * believe that they own it. One that is paused goes on with it later.
     * @returns whether all of it was accepted, as far as the sender learns
     */
    handOver: async (process: Process, { subject, parts = [] }: OutboxRow): Promise<boolean> => {
      const handOne = ({ receiver: { receiver }, entries }: Part): Promise<boolean> => {
        const able = [...consumers].filter(
          ([one, handlers]) =>
            one.alive && handlers.has(subject) && (typeof receiver === 'number' || one.name === receiver),
        );
        if (isUnavailable() || able.length === 0) return Promise.resolve(false);
        const [receiving, handlers] = random.pick(able);
        const accepting = new Promise<boolean>((resolve) => {
          const handle = async () => {
            const payloads = JSON.parse(JSON.stringify(entries)) as typeof entries;
            const done = payloads.map((entry) =>
              handlers.get(subject)!(entry.payload as never, process.name).catch((error: unknown) => {
                if (isMistake(error)) harness.fault(error);
                throw error;
              }),
            );
            const outcomes = await Promise.allSettled(done);
            // The answer may be lost.
            if (isUnavailable() || random.chance(harness.faults.lostAnswer)) return;
            resolve(outcomes.every(({ status }) => status === 'fulfilled'));
          };
          harness.inside(receiving, random.between(1, 20), () => void handle());
        });
        const gaveUp = harness.sleep(process, ACK_WAIT_MS).then(() => false);
        return Promise.race([accepting, gaveUp]);
      };
      return (await Promise.all(parts.map(handOne))).every((isAccepted) => isAccepted);
    },
    consume: (process: Process, handlers: Record<string, Handle>) =>
      consumers.set(process, new Map(Object.entries(handlers))),
    /** Publishes as a service that was taken over: at once, and without an outbox. */
    inject: (row: OutboxRow): void => store(row, () => {}),
    isEmpty: () => stored.size === 0,
    /**
     * The server is killed. `wiped`: it loses everything that it stored, the message ids for
     * deduplication included.
     */
    kill: (unavailableMs: number, wiped: boolean) => {
      const lost = wiped ? `, ${stored.size} messages lost` : '';
      harness.trace('bus', `is unavailable for ${unavailableMs.toFixed(0)} ms${lost}`);
      unavailableUntil = harness.now() + unavailableMs;
      if (!wiped) return;
      stored.clear();
      publishedAt.clear();
    },
  };
};

/**
 * The effect of shared/events/relay.ts on committed rows: hand over or publish immediately, delete,
 * and sweep what is left. The sweep publishes also what waits for an answer.
 */
export const createRelay = (
  harness: Harness,
  { bus, outbox, process }: { bus: Bus; outbox: Outbox; process: Process },
): Pick<Relay, 'dispatch'> => {
  const remove = (id: bigint) =>
    harness
      .io(process, LATENCY_MS, () => {
        outbox.rows.delete(id);
      })
      .catch(() => {});
  const send = async (row: OutboxRow, batchWindowMs: number) => {
    if (batchWindowMs > 0) await harness.sleep(process, batchWindowMs);
    const isAccepted = row.parts !== undefined && (await bus.handOver(process, row));
    if (!isAccepted) await bus.publish(process, row);
    await harness.sleep(process, DELETE_AFTER_MS);
    await remove(row.outbox_id);
  };
  const sweep = async () => {
    const old = [...outbox.rows.values()].filter(
      ({ created_at }) => created_at < harness.now() - SWEEP_AGE_MS,
    );
    for (const row of old) {
      await bus.publish(process, row);
      await remove(row.outbox_id);
    }
  };
  const loop = (): void =>
    harness.inside(process, SWEEP_EVERY_MS, () => {
      if (outbox.rows.size === 0) return loop();
      void sweep()
        .catch(() => {})
        .then(loop);
    });
  loop();
  return {
    dispatch: (rows, { batchWindowMs } = { batchWindowMs: 0 }) => {
      for (const row of rows) void send(row, batchWindowMs).catch(() => {});
    },
  };
};
