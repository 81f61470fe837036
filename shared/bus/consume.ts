import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import type { ConsumerMessages, JsMsg } from 'nats';
import type { z } from 'zod';
import { ServiceError } from '../contract/errors.ts';
import {
  type EventName,
  type JobName,
  type ServiceContract,
  type ServiceName,
  subjects,
} from '../contract/service.ts';
import { type Bus, track } from './connect.ts';
import { decode } from './envelope.ts';
import { type Durable, eventDurable, jobDurable } from './topology.ts';
import { inBusSpan } from './trace.ts';

/**
 * Takes messages of one durable consumer. A message is acknowledged after its handler resolved, which is after
 * its effect was committed; a handler that throws gets it again, later. What cannot be parsed is handed to
 * `quarantine` and then acknowledged: it would fail for ever.
 */
export type Quarantine = (entry: { subject: string; body: Uint8Array; reason: string }) => Promise<void>;
export type Consuming = {
  stop: () => Promise<void>;
  /**
   * Handles the bytes of a quarantined message as if they came now.
   * @returns false when this consumer has no handler for the subject
   * @throws ServiceError conflict when they still cannot be parsed; whatever the handler throws
   */
  again: (subject: string, body: Uint8Array) => Promise<boolean>;
};

/** How one subject's messages are parsed and handled. */
type Reader = { schema: z.ZodType; handler: (value: unknown) => Promise<void> };

const again =
  (readers: ReadonlyMap<string, Reader>): Consuming['again'] =>
  async (subject, body) => {
    const reader = readers.get(subject);
    if (reader === undefined) return false;
    const message = parsed(reader.schema, body);
    if (!message.ok)
      throw new ServiceError('conflict', `it still cannot be read here: ${message.reason.slice(0, 500)}`);
    await reader.handler(message.value);
    return true;
  };

const BATCH = 128;
const MAX_REDELIVERY_DELAY_MS = 15_000;

const consumeDurable = (
  bus: Bus,
  { stream, durable }: Durable,
  readers: ReadonlyMap<string, Reader>,
  quarantine: Quarantine,
): Consuming => {
  let stopping = false;
  let current: ConsumerMessages | undefined;

  const one = async (msg: JsMsg) => {
    try {
      const { subject: destination, headers } = msg;
      await inBusSpan({ operation: 'process', destination, kind: SpanKind.CONSUMER, headers }, (span) => {
        span.setAttribute('messaging.nats.delivery_count', msg.info.redeliveryCount);
        return handle(msg, readers.get(msg.subject), quarantine);
      });
      msg.ack();
    } catch (error) {
      bus.logger.error(
        { err: error, subject: msg.subject, deliveries: msg.info.redeliveryCount },
        'message failed',
      );
      msg.nak(Math.min(MAX_REDELIVERY_DELAY_MS, 250 * 2 ** Math.min(msg.info.redeliveryCount, 6)));
    }
  };

  const loop = async () => {
    while (!stopping) {
      try {
        const consumer = await bus.js.consumers.get(stream, durable);
        // abort_on_missing_resource: a wiped server has no such consumer until the set-up job made it again.
        current = await consumer.consume({ max_messages: BATCH, abort_on_missing_resource: true });
        for await (const msg of current) track(bus, one(msg));
      } catch (error) {
        if (!stopping) bus.logger.warn({ err: error, stream, durable }, 'consumer lost, trying again');
      }
      if (!stopping) await sleep(500);
    }
  };
  const running = loop();
  return {
    again: again(readers),
    stop: async () => {
      stopping = true;
      await current?.close();
      await running;
      await Promise.allSettled(bus.inFlight);
    },
  };
};

const parsed = <T>(
  schema: z.ZodType<T>,
  data: Uint8Array,
): { ok: true; value: T } | { ok: false; reason: string } => {
  try {
    const result = schema.safeParse(decode(data));
    return result.success ? { ok: true, value: result.data } : { ok: false, reason: result.error.message };
  } catch (error) {
    return { ok: false, reason: String(error) };
  }
};

/** Messages without a reader are acknowledged unread. */
const handle = async (msg: JsMsg, reader: Reader | undefined, quarantine: Quarantine): Promise<void> => {
  if (reader === undefined) return;
  const message = parsed(reader.schema, msg.data);
  if (message.ok) return reader.handler(message.value);
  await quarantine({ subject: msg.subject, body: msg.data, reason: message.reason.slice(0, 1000) });
};

/** Takes the jobs of a service, each by its handler. Leaving one out does not compile. */
export const work = <S extends ServiceContract>(
  bus: Bus,
  contract: S,
  handlers: { [J in JobName<S>]: (job: z.infer<S['jobs'][J]['payload']>) => Promise<void> },
  quarantine: Quarantine,
): Consuming[] =>
  Object.entries(contract.jobs).map(([name, { payload: schema }]) => {
    const handler = (handlers as Record<string, (job: unknown) => Promise<void>>)[name]!;
    const readers = new Map([[subjects.job(contract.name, name), { schema, handler }]]);
    return consumeDurable(bus, jobDurable(contract.name, name), readers, quarantine);
  });

/**
 * Hears the facts of another service through this service's durable consumer, in the order of the stream. Facts
 * without a handler are acknowledged unread. Facts repeat and may overtake one another across replicas, so a
 * handler's effect is guarded by state.
 */
export const hear = <S extends ServiceContract>(
  bus: Bus,
  source: S,
  handlers: { [E in EventName<S>]?: (fact: z.infer<S['events'][E]>) => Promise<void> },
  quarantine: Quarantine,
): Consuming => {
  const readers = new Map(
    Object.entries(handlers).map(([name, handler]) => [
      subjects.event(source.name, name),
      { schema: source.events[name]!, handler: handler as Reader['handler'] },
    ]),
  );
  return consumeDurable(bus, eventDurable(bus.user, source.name as ServiceName), readers, quarantine);
};
