import { SpanKind } from '@opentelemetry/api';
import type { z } from 'zod';
import { type Bus, track } from '../bus/connect.ts';
import { type Delivery, pull, refuse } from '../bus/durable.ts';
import { encode } from '../bus/envelope.ts';
import { acceptHandOver, destinationOf, type Receiver } from '../bus/hand-over.ts';
import { type Durable, eventDurable, jobDurable } from '../bus/topology.ts';
import { inBusSpan } from '../bus/trace.ts';
import { ServiceError } from '../contract/errors.ts';
import { parseKnown, readKnown } from '../contract/read.ts';
import {
  type EventOf,
  type JobOf,
  type ServiceContract,
  type ServiceName,
  subjects,
} from '../contract/service.ts';
import { payloadsOf, type Received } from './event-list.ts';

/**
 * Quarantines a message that cannot be handled: one that this version cannot parse, which another
 * one may, or one that contradicts the records.
 */
export type Quarantine = (message: {
  subject: string;
  body: Uint8Array;
  reason: string;
  isUnreadable?: true;
}) => Promise<void>;

/**
 * Subscriptions. A message is acknowledged after its handler resolved for each of its payloads, so
 * after their effects were committed. If a handler throws, the message is delivered again later. A
 * payload that cannot be parsed would always fail, so it is quarantined.
 */
export type Consuming = {
  stop: () => Promise<void>;
  /**
   * Handles the bytes of a quarantined message like a new delivery.
   * @returns false if this consumer has no handler for the subject
   * @throws UnreadableMessage if they cannot be parsed; any error of the handler
   */
  redeliver: (subject: string, body: Uint8Array) => Promise<boolean>;
};

/** A message that is delivered again, and still cannot be parsed. */
export class UnreadableMessage extends ServiceError {
  readonly reason: string;
  constructor(reason: string) {
    super('conflict', `the message still cannot be parsed: ${reason.slice(0, 500)}`);
    this.reason = reason.slice(0, 1000);
  }
}

/** Passes a message to the consumer of its subject. @returns false if there is none */
export const redeliverTo = async (
  consuming: readonly Consuming[],
  { subject, body }: { subject: string; body: Uint8Array },
): Promise<boolean> => {
  for (const consumer of consuming) if (await consumer.redeliver(subject, body)) return true;
  return false;
};

/** A subject: its durable consumer, the schema of its messages, and their handler. */
export type Source = {
  durable: Durable;
  schema: z.ZodType;
  handle: (payload: unknown) => Promise<void>;
};

type Parsed = { payloads: Received[]; refused: { body: Uint8Array; reason: string }[] };
const parse = (
  schema: z.ZodType,
  { data, headers }: { data: Uint8Array; headers?: Delivery['headers'] },
): Parsed => {
  const parsed: Parsed = { payloads: [], refused: [] };
  try {
    for (const { payload, received } of payloadsOf(data, headers)) {
      const result = readKnown(schema, payload);
      if (result.success) parsed.payloads.push({ payload: result.data, received });
      else parsed.refused.push({ body: encode(payload), reason: result.error.message });
    }
    return parsed;
  } catch (error) {
    return { payloads: [], refused: [{ body: data, reason: String(error) }] };
  }
};

/** The payloads of a message, without those that were quarantined. */
export const readPayloads = async (
  msg: Delivery,
  schema: z.ZodType,
  quarantine: Quarantine,
): Promise<Received[]> => {
  const { payloads, refused } = parse(schema, msg);
  for (const { body, reason } of refused)
    await quarantine({ subject: msg.subject, body, reason: reason.slice(0, 1000), isUnreadable: true });
  return payloads;
};

/** Passes the messages of several subjects to `accept`. */
export const consume = <S extends Source>(
  bus: Bus,
  sources: readonly S[],
  accept: (source: S, msg: Delivery) => void,
): Consuming => {
  const pulls = sources.map((source) => pull(bus, source.durable, (msg) => accept(source, msg)));
  return {
    stop: async () => void (await Promise.all(pulls.map(({ stop }) => stop()))),
    redeliver: async (subject, body) => {
      const source = sources.find(({ durable }) => durable.filter === subject);
      if (source === undefined) return false;
      const { payloads, refused } = parse(source.schema, { data: body });
      if (refused[0]) throw new UnreadableMessage(refused[0].reason);
      for (const { payload } of payloads) await source.handle(payload);
      return true;
    },
  };
};

/** Waits until all have ended. @throws the error of the first that failed */
const allEnded = async (work: readonly Promise<void>[]): Promise<void> => {
  const failed = (await Promise.allSettled(work)).find((each) => each.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
};

/** Handles each payload separately, many concurrently. */
const consumeEach = (bus: Bus, sources: readonly Source[], quarantine: Quarantine): Consuming =>
  consume(bus, sources, ({ schema, handle }, msg) => {
    const { subject: destination, info } = msg;
    const handleOne = ({ payload, received }: Received) =>
      inBusSpan({ operation: 'process', destination, kind: SpanKind.CONSUMER, received }, async (span) => {
        span.setAttribute('messaging.nats.delivery_count', info.redeliveryCount);
        await handle(payload);
      });
    const handleAll = async () => {
      try {
        await allEnded((await readPayloads(msg, schema, quarantine)).map(handleOne));
        msg.ack();
      } catch (error) {
        refuse(bus, msg, error);
      }
    };
    track(bus, handleAll());
  });

/**
 * Accepts what other processes hand over of a source, like a delivery of its stream, and answers
 * when the effects were committed. What cannot be parsed is left to the stream, whose consumer
 * quarantines it.
 * @param handle gets also the name of the replica that handed the payload over
 */
export const acceptHandedOver = <T>(
  bus: Bus,
  receiver: Receiver,
  from: ServiceName,
  { schema, handle }: { schema: z.ZodType<T>; handle: (payload: T, replicaId?: string) => Promise<void> },
): { stop: () => Promise<void> } =>
  acceptHandOver(bus, receiver, from, async (msg, replicaId) => {
    const { payloads, refused } = parse(schema, msg);
    if (refused[0] !== undefined) throw new TypeError(`cannot be parsed: ${refused[0].reason.slice(0, 500)}`);
    const destination = destinationOf(receiver);
    await allEnded(
      payloads.map(({ payload, received }) =>
        inBusSpan({ operation: 'process', destination, kind: SpanKind.CONSUMER, received }, () =>
          handle(payload as T, replicaId),
        ),
      ),
    );
  });

/** The sources of handlers, by the names of their events or jobs. */
const sourcesOf = (handlers: object, of: (name: string) => Pick<Source, 'durable' | 'schema'>): Source[] =>
  Object.entries(handlers as Record<string, Source['handle']>).map(([name, handle]) => ({
    ...of(name),
    handle,
  }));

/** The subscription of this service to an event of another one. */
export const subscription = (bus: Bus, source: ServiceContract, name: string) => ({
  durable: eventDurable(bus.user, source.name as ServiceName, name),
  schema: source.events[name]!,
});

/**
 * Subscribes to events of another service through this service's durable consumers, one for each
 * event. Events repeat and can arrive out of order, so a handler's write is guarded by state.
 */
export const subscribe = <S extends ServiceContract>(
  bus: Bus,
  source: S,
  handlers: { [E in EventOf<S>]?: (event: z.infer<S['events'][E]>) => Promise<void> },
  quarantine: Quarantine,
): Consuming =>
  consumeEach(
    bus,
    sourcesOf(handlers, (name) => subscription(bus, source, name)),
    quarantine,
  );

/** Accepts the jobs of this service. A missing handler does not compile. */
export const acceptJobs = <S extends ServiceContract>(
  bus: Bus,
  contract: S,
  handlers: { [J in JobOf<S>]: (job: z.infer<S['jobs'][J]['payload']>) => Promise<void> },
  quarantine: Quarantine,
): Consuming =>
  consumeEach(
    bus,
    sourcesOf(handlers, (name) => ({
      durable: jobDurable(contract.name, name),
      schema: contract.jobs[name]!.payload,
    })),
    quarantine,
  );

/**
 * Subscribes every instance to events as they happen (`subscribesLive` in the contract). Core NATS
 * delivers nothing while an instance is disconnected, so nothing may depend on these events alone.
 */
export const subscribeLive = <S extends ServiceContract>(
  bus: Bus,
  source: S,
  handlers: { [E in EventOf<S>]?: (event: z.infer<S['events'][E]>) => void },
): void => {
  for (const [name, handler] of Object.entries(handlers)) {
    const subject = subjects.event(source.name, name);
    bus.nc.subscribe(subject, {
      callback: (error, msg) => {
        try {
          if (error !== null) throw error;
          for (const { payload } of payloadsOf(msg.data, msg.headers))
            (handler as (event: unknown) => void)(parseKnown(source.events[name]!, payload));
        } catch (failure) {
          bus.logger.error({ err: failure, subject }, 'event not handled');
        }
      },
    });
  }
};
