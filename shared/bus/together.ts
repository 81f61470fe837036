import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { type SpanContext, SpanKind } from '@opentelemetry/api';
import type { JsMsg } from 'nats';
import { isUnavailable } from '../lib/unavailable.ts';
import { type Bus, track } from './connect.ts';
import { inBusSpan } from './trace.ts';

/** At most so many messages in one statement. */
const MOST = 128;

/** A message that could be read. */
type Read<Item> = { msg: JsMsg; items: readonly Item[] };

export type Together<Item> = {
  /** What a message tells; null: it was dealt with (put aside) and is to be acknowledged. */
  read: (msg: JsMsg) => Promise<readonly Item[] | null>;
  /** Does all of it, or nothing; never called with nothing. */
  write: (items: readonly Item[]) => Promise<unknown>;
  /** How long a first message waits for others. 0 on a payment's path: those that are there already are taken together. */
  lingerMs: number;
  /** Says that a message failed and is to come again. */
  fail: (msg: JsMsg, error: unknown) => void;
};

/**
 * Writes messages in the trace of the first: each has its span in the trace of who sent it, and those of the others link to
 * the span under which the writing stands.
 */
const written = async <Item>(batch: readonly Read<Item>[], write: Together<Item>['write']): Promise<void> => {
  const items = batch.flatMap((each) => each.items);
  let writing: Promise<unknown> | undefined;
  let first: SpanContext | undefined;
  await Promise.all(
    batch.map(({ msg: { subject: destination, headers, info } }) =>
      inBusSpan({ operation: 'process', destination, kind: SpanKind.CONSUMER, headers }, (span) => {
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
 * Takes messages together: one statement and one commit for those that come within a moment, in the order of the stream.
 * Acknowledged is after the commit, in one write to the server. If they fail together, each is tried alone, so that one
 * that cannot be written holds up nobody; while a server of ours is away all come again later.
 */
export const takeTogether = <Item>(
  bus: Bus,
  { read, write, lingerMs, fail }: Together<Item>,
): ((msg: JsMsg) => void) => {
  let waiting: JsMsg[] = [];
  let running = false;

  const readOne = async (msg: JsMsg): Promise<Read<Item>[]> => {
    try {
      const items = await read(msg);
      if (items !== null) return [{ msg, items }];
      msg.ack();
    } catch (error) {
      fail(msg, error);
    }
    return [];
  };

  const handle = async (batch: readonly Read<Item>[]): Promise<void> => {
    try {
      await written(batch, write);
      for (const { msg } of batch) msg.ack();
    } catch (error) {
      if (batch.length > 1 && !isUnavailable(error)) await Promise.all(batch.map((one) => handle([one])));
      else for (const { msg } of batch) fail(msg, error);
    }
  };

  const run = async (): Promise<void> => {
    while (waiting.length > 0) {
      if (waiting.length < MOST) await (lingerMs > 0 ? sleep(lingerMs) : setImmediate());
      const taken = waiting.slice(0, MOST);
      waiting = waiting.slice(MOST);
      const batch = (await Promise.all(taken.map(readOne))).flat();
      if (batch.length > 0) await handle(batch.sort((a, b) => a.msg.seq - b.msg.seq));
    }
    running = false;
  };

  return (msg) => {
    waiting.push(msg);
    if (running) return;
    running = true;
    track(bus, run());
  };
};
