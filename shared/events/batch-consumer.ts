import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { type SpanContext, SpanKind } from '@opentelemetry/api';
import type { z } from 'zod';
import { type Bus, track } from '../bus/connect.ts';
import { type Delivery, refuse } from '../bus/durable.ts';
import { inBusSpan } from '../bus/trace.ts';
import type { EventOf, ServiceContract } from '../contract/service.ts';
import { isUnavailable } from '../lib/unavailable.ts';
import type { Quarantine } from './consume.ts';
import { type Consuming, consume, readPayloads, type Source, subscription } from './consume.ts';
import type { Received } from './event-list.ts';

/** The messages that are read together, and the events of a statement. */
const MAX_BATCH = 128;
const MAX_EVENTS = 500;

/** A source with the items that an event writes; there may be none. */
type BatchSource<Item> = Source & { itemsOf: (payload: unknown) => readonly Item[] };
/** A parsed event of a message. */
type Member<Item> = { msg: Delivery; received: Received['received']; items: readonly Item[] };
type Write<Item> = (items: readonly Item[]) => Promise<unknown>;

/**
 * Writes a batch in the trace of its first event. Each event has its span in the trace of its
 * publisher, and the others link to the span of the write.
 */
const writeTraced = async <Item>(batch: readonly Member<Item>[], write: Write<Item>): Promise<void> => {
  const items = batch.flatMap((each) => each.items);
  let writing: Promise<unknown> | undefined;
  let first: SpanContext | undefined;
  await Promise.all(
    batch.map(({ msg: { subject: destination, info }, received }) =>
      inBusSpan({ operation: 'process', destination, kind: SpanKind.CONSUMER, received }, (span) => {
        span.setAttribute('messaging.nats.delivery_count', info.redeliveryCount);
        span.setAttribute('messaging.batch.message_count', batch.length);
        if (first !== undefined) span.addLink({ context: first });
        first ??= span.spanContext();
        writing ??= items.length === 0 ? Promise.resolve() : write(items);
        return writing;
      }),
    ),
  );
};

/**
 * Subscribes to events like `subscribe`, and writes the items of a batch window by one statement
 * with one commit, in the order of the stream. The messages are acknowledged after the commit, in
 * one write to the server. If a batch fails, its events are tried one by one, so one that cannot be
 * written does not block the others; its message is delivered again. While a dependency is
 * unavailable, all are delivered again later.
 * @param itemsOf the items that an event writes; there may be none
 * @param write writes all items or none; never called with an empty list
 * @param batchWindowMs how long a first message waits for others. 0 on the path of a payment:
 *   messages that have arrived already share a statement
 */
export const subscribeInBatches = <S extends ServiceContract, Item>(
  bus: Bus,
  source: S,
  itemsOf: { [E in EventOf<S>]?: (event: z.infer<S['events'][E]>) => readonly Item[] },
  write: Write<Item>,
  { quarantine, batchWindowMs }: { quarantine: Quarantine; batchWindowMs: number },
): Consuming => {
  const sources = Object.entries(itemsOf as Record<string, BatchSource<Item>['itemsOf']>).map(
    ([name, itemsOfEvent]): BatchSource<Item> => ({
      ...subscription(bus, source, name),
      itemsOf: itemsOfEvent,
      handle: async (payload) => {
        const items = itemsOfEvent(payload);
        if (items.length > 0) await write(items);
      },
    }),
  );
  let waiting: { source: BatchSource<Item>; msg: Delivery }[] = [];
  let running = false;

  const read = async ({ source, msg }: (typeof waiting)[number]): Promise<Member<Item>[]> => {
    try {
      const payloads = await readPayloads(msg, source.schema, quarantine);
      if (payloads.length === 0) msg.ack();
      return payloads.map(({ payload, received }) => ({ msg, received, items: source.itemsOf(payload) }));
    } catch (error) {
      refuse(bus, msg, error);
      return [];
    }
  };

  /** Writes the events together, or else one by one. @returns the errors of those that failed */
  const writeAll = async (batch: readonly Member<Item>[]): Promise<Map<Delivery, unknown>> => {
    try {
      await writeTraced(batch, write);
      return new Map();
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) return new Map(batch.map(({ msg }) => [msg, error]));
      const failed = await Promise.all(batch.map((one) => writeAll([one])));
      return new Map(failed.flatMap((each) => [...each]));
    }
  };

  const handle = async (batch: readonly Member<Item>[]): Promise<void> => {
    const failed = new Map<Delivery, unknown>();
    for (let at = 0; at < batch.length; at += MAX_EVENTS)
      for (const [msg, error] of await writeAll(batch.slice(at, at + MAX_EVENTS))) failed.set(msg, error);
    for (const msg of new Set(batch.map((each) => each.msg)))
      if (failed.has(msg)) refuse(bus, msg, failed.get(msg));
      else msg.ack();
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      if (waiting.length < MAX_BATCH) await (batchWindowMs > 0 ? sleep(batchWindowMs) : setImmediate());
      const next = waiting.slice(0, MAX_BATCH);
      waiting = waiting.slice(MAX_BATCH);
      const batch = (await Promise.all(next.map(read))).flat();
      if (batch.length > 0) await handle(batch.sort((a, b) => a.msg.seq - b.msg.seq));
    }
    running = false;
  };

  return consume(bus, sources, (source, msg) => {
    waiting.push({ source, msg });
    if (running) return;
    running = true;
    track(bus, run());
  });
};
