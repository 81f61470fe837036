import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import type { ConsumerMessages, JsMsg } from 'nats';
import type { z } from 'zod';
import { conflict } from '../contract/errors.ts';
import {
  type EventName,
  type JobName,
  type ServiceContract,
  type ServiceName,
  subjects,
} from '../contract/service.ts';
import { type Bus, track } from './connect.ts';
import { decode } from './envelope.ts';
import { takeTogether } from './together.ts';
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
type Readers = ReadonlyMap<string, Reader>;

const again =
  (readers: Readers): Consuming['again'] =>
  async (subject, body) => {
    const reader = readers.get(subject);
    if (reader === undefined) return false;
    const message = parsed(reader.schema, body);
    if (!message.ok) throw conflict(`it still cannot be read here: ${message.reason.slice(0, 500)}`);
    await reader.handler(message.value);
    return true;
  };

const BATCH = 128;
const MAX_REDELIVERY_DELAY_MS = 15_000;

/** Says that a message failed, and has it come again later. */
const fail =
  ({ logger }: Bus) =>
  (msg: JsMsg, error: unknown): void => {
    const { subject, info } = msg;
    logger.error({ err: error, subject, deliveries: info.redeliveryCount }, 'message failed');
    msg.nak(Math.min(MAX_REDELIVERY_DELAY_MS, 250 * 2 ** Math.min(info.redeliveryCount, 6)));
  };

/** Hands over each message of a durable consumer as it comes. */
const takeFrom = (
  bus: Bus,
  { stream, durable }: Durable,
  take: (msg: JsMsg) => void,
): Pick<Consuming, 'stop'> => {
  let stopping = false;
  let current: ConsumerMessages | undefined;
  const loop = async () => {
    while (!stopping) {
      try {
        const consumer = await bus.js.consumers.get(stream, durable);
        // abort_on_missing_resource: a wiped server has no such consumer until the set-up job made it again.
        current = await consumer.consume({ max_messages: BATCH, abort_on_missing_resource: true });
        for await (const msg of current) take(msg);
      } catch (error) {
        if (!stopping) bus.logger.warn({ err: error, stream, durable }, 'consumer lost, trying again');
      }
      if (!stopping) await sleep(500);
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      await current?.close();
      await running;
      await Promise.allSettled(bus.inFlight);
    },
  };
};

const takeEach = (
  bus: Bus,
  durables: readonly Durable[],
  readers: Readers,
  take: (msg: JsMsg) => void,
): Consuming => {
  const taking = durables.map((durable) => takeFrom(bus, durable, take));
  return {
    again: again(readers),
    stop: async () => void (await Promise.all(taking.map(({ stop }) => stop()))),
  };
};

/** Takes messages one by one, many at a time. */
const oneByOne =
  (bus: Bus, readers: Readers, quarantine: Quarantine) =>
  (msg: JsMsg): void => {
    const one = async () => {
      try {
        const { subject: destination, headers, info } = msg;
        await inBusSpan({ operation: 'process', destination, kind: SpanKind.CONSUMER, headers }, (span) => {
          span.setAttribute('messaging.nats.delivery_count', info.redeliveryCount);
          return handle(msg, readers.get(msg.subject), quarantine);
        });
        msg.ack();
      } catch (error) {
        fail(bus)(msg, error);
      }
    };
    track(bus, one());
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

const putAside = (msg: JsMsg, reason: string, quarantine: Quarantine): Promise<void> =>
  quarantine({ subject: msg.subject, body: msg.data, reason: reason.slice(0, 1000) });

/** Messages without a reader are acknowledged unread. */
const handle = async (msg: JsMsg, reader: Reader | undefined, quarantine: Quarantine): Promise<void> => {
  if (reader === undefined) return;
  const message = parsed(reader.schema, msg.data);
  return message.ok ? reader.handler(message.value) : putAside(msg, message.reason, quarantine);
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
    return takeEach(bus, [jobDurable(contract.name, name)], readers, oneByOne(bus, readers, quarantine));
  });

const heard = (bus: Bus, source: ServiceContract, facts: readonly string[]): Durable[] =>
  facts.map((fact) => eventDurable(bus.user, source.name as ServiceName, fact));

/**
 * Hears facts of another service through this service's durable consumers, one for each fact. Facts repeat and overtake one
 * another, so a handler's effect is guarded by state.
 */
export const hear = <S extends ServiceContract>(
  bus: Bus,
  source: S,
  handlers: { [E in EventName<S>]?: (fact: z.infer<S['events'][E]>) => Promise<void> },
  quarantine: Quarantine,
): Consuming => {
  const readers: Readers = new Map(
    Object.entries(handlers).map(([name, handler]) => [
      subjects.event(source.name, name),
      { schema: source.events[name]!, handler: handler as Reader['handler'] },
    ]),
  );
  const durables = heard(bus, source, Object.keys(handlers));
  return takeEach(bus, durables, readers, oneByOne(bus, readers, quarantine));
};

/**
 * Hears facts as `hear` does, and writes what those say that come within a moment in one go.
 * @param say what a fact asks to be written, of which there may be nothing
 * @param write writes it in its order. When it throws, all of it is written again, what each fact said alone
 */
export const hearTogether = <S extends ServiceContract, Item>(
  bus: Bus,
  source: S,
  say: { [E in EventName<S>]?: (fact: z.infer<S['events'][E]>) => readonly Item[] },
  write: (items: readonly Item[]) => Promise<unknown>,
  { quarantine, lingerMs }: { quarantine: Quarantine; lingerMs: number },
): Consuming => {
  const saying = new Map(
    (Object.entries(say) as [string, (fact: unknown) => readonly Item[]][]).map(([name, says]) => [
      subjects.event(source.name, name),
      { schema: source.events[name]!, says },
    ]),
  );
  const readers: Readers = new Map(
    [...saying].map(([subject, { schema, says }]) => {
      const handler = async (fact: unknown) => {
        const said = says(fact);
        if (said.length > 0) await write(said);
      };
      return [subject, { schema, handler }];
    }),
  );
  const read = async (msg: JsMsg): Promise<readonly Item[] | null> => {
    const { schema, says } = saying.get(msg.subject)!;
    const message = parsed(schema, msg.data);
    if (message.ok) return says(message.value);
    await putAside(msg, message.reason, quarantine);
    return null;
  };
  const take = takeTogether(bus, { read, write, lingerMs, fail: fail(bus) });
  return takeEach(bus, heard(bus, source, Object.keys(say)), readers, take);
};
