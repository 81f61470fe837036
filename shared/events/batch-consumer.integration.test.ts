import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Span, trace } from '@opentelemetry/api';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import type { Bus } from '../bus/connect.ts';
import { encode } from '../bus/envelope.ts';
import { publish } from '../bus/publish.ts';
import { eventDurable } from '../bus/topology.ts';
import { settlement } from '../contract/index.ts';
import { subjects } from '../contract/service.ts';
import { newId, newServiceId } from '../lib/id.ts';
import { subscribeInBatches } from './batch-consumer.ts';
import type { Consuming } from './consume.ts';
import { event, eventSubject } from './event.ts';
import { eventList } from './event-list.ts';

/**
 * The quote service subscribes to `accepted`, `issued` and `failed` of settlement. It receives no
 * other events.
 */
let testBus: TestBus;
let listener: Bus;
let settler: Bus;
let admin: Bus;
beforeAll(async () => {
  testBus = await createTestBus();
  [settler, admin] = [await testBus.as('settlement'), await testBus.as('operator')];
});
afterAll(() => testBus.stop());

let batches: string[][];
let aside: string[];
let writes: (batch: readonly string[]) => Promise<void>;
let subscription: Consuming;
beforeEach(async () => {
  [batches, aside, writes] = [[], [], async () => {}];
  listener = await testBus.as('quote');
});
afterEach(() => subscription.stop());

const start = (batchWindowMs: number) => {
  const items = ({ quote_id }: { quote_id: string | null }) => [quote_id!];
  subscription = subscribeInBatches(
    listener,
    settlement,
    { accepted: items, issued: items, failed: items },
    async (batch: readonly string[]) => {
      batches.push([...batch]);
      await writes(batch);
    },
    { quarantine: async ({ reason }) => void aside.push(reason), batchWindowMs },
  );
};
const publishRaw = (name: keyof typeof settlement.events, payload: unknown) =>
  settler.js.publish(subjects.event('settlement', name), encode(payload));
const accepted = (quote_id: string) => ({
  settlement_id: newId('stl'),
  quote_id,
  account_id: newId('acct'),
  delegate_id: null,
  wallet_id: newId('wal'),
  rail: 'quittance' as const,
  payer_address: null,
  service_id: newServiceId(),
  vendor_account_id: newId('acct'),
  quote_amount: '1000000',
  fee_amount: '10000',
});
const failed = (quote_id: string) => ({ ...accepted(quote_id), scope: null, code: 'payment_failed' });
const publishAccepted = async (quotes: readonly string[]) => {
  for (const id of quotes) await publishRaw('accepted', accepted(id));
};
const until = async (good: () => boolean | Promise<boolean>) => {
  for (const deadline = Date.now() + 15_000; !(await good()); await sleep(20))
    if (Date.now() > deadline)
      throw new Error(
        `the condition did not become true in time: ${JSON.stringify(batches)}, quarantined ${aside.length}`,
      );
};
const newIds = (count: number) => Array.from({ length: count }, () => newId('q'));
/** The numbers of unacknowledged and undelivered messages of the quote service's subscriptions. */
const open = async (): Promise<number> => {
  let sum = 0;
  for (const name of ['accepted', 'issued', 'failed']) {
    const { stream, durable } = eventDurable('quote', 'settlement', name);
    const { num_ack_pending, num_pending } = await (await listener.js.consumers.get(stream, durable)).info();
    sum += num_ack_pending + num_pending;
  }
  return sum;
};

test('waiting messages are written by one statement in the order of the stream, across events, and acknowledged', async () => {
  const quotes = newIds(80);
  for (const [index, id] of quotes.entries())
    await (index < 40 ? publishRaw('failed', failed(id)) : publishRaw('accepted', accepted(id)));
  start(200);
  await until(() => batches.flat().length === quotes.length);
  expect(batches).toEqual([quotes]);
  await until(async () => (await open()) === 0);
});

test('an event without a subscription is not delivered', async () => {
  await publishRaw('expired', accepted(newId('q')));
  await publishRaw('redeemed', accepted(newId('q')));
  start(0);
  const [id] = newIds(1);
  await publishAccepted([id!]);
  await until(() => batches.length > 0);
  expect([batches, aside]).toEqual([[[id]], []]);
});

test('a message that cannot be written does not block others and is delivered again until it can be written', async () => {
  const [good, bad, other] = newIds(3) as [string, string, string];
  let broken = true;
  writes = async (batch) => {
    if (broken && batch.includes(bad)) throw new Error('row refused');
  };
  await publishAccepted([good, bad, other]);
  start(200);
  await until(() => batches.length >= 5);
  expect(batches.slice(0, 4)).toEqual([[good, bad, other], [good], [bad], [other]]);
  expect(
    batches
      .slice(4)
      .flat()
      .every((id) => id === bad),
  ).toBe(true);
  expect(await open()).toBe(1);
  broken = false;
  await until(async () => (await open()) === 0);
  expect(batches.at(-1)).toEqual([bad]);
});

test('while the database is unavailable, messages are delivered again later and not retried one by one', async () => {
  const quotes = newIds(3);
  let isUnavailable = true;
  writes = async () => {
    if (isUnavailable) throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  };
  await publishAccepted(quotes);
  start(200);
  await until(() => batches.length > 0);
  expect(batches[0]).toEqual(quotes);
  expect(batches.slice(1)).toEqual([]);
  isUnavailable = false;
  await until(async () => (await open()) === 0);
  expect(batches.slice(1).flat().sort()).toEqual([...quotes].sort());
});

test('a message that cannot be parsed is quarantined, and the rest of its batch is written', async () => {
  const [first, last, right] = newIds(3) as [string, string, string];
  await publishAccepted([first]);
  await publishRaw('accepted', { nonsense: true });
  await publishAccepted([last]);
  start(200);
  await until(async () => batches.length > 0 && (await open()) === 0);
  expect([batches, aside.length]).toEqual([[[first, last]], 1]);
  const subject = eventSubject('settlement.accepted');
  expect(await subscription.redeliver(subject, encode(accepted(right)))).toBe(true);
  expect(batches.at(-1)).toEqual([right]);
  await expect(subscription.redeliver(subject, encode({ nonsense: true }))).rejects.toThrow(
    /cannot be parsed/,
  );
  expect(await subscription.redeliver(subjects.event('settlement', 'redeemed'), encode({}))).toBe(false);
});

/** A message with several events of one subject, as the relay publishes them. */
const publishList = (payloads: readonly object[]) =>
  publishRaw('accepted', eventList(payloads.map((payload) => ({ payload, traceparent: null }))));

test('the events of one message are written in their order, and one that cannot be parsed is quarantined alone', async () => {
  const quotes = newIds(3);
  await publishList([accepted(quotes[0]!), { nonsense: true }, accepted(quotes[1]!), accepted(quotes[2]!)]);
  start(0);
  await until(async () => batches.length > 0 && (await open()) === 0);
  expect([batches, aside.length]).toEqual([[quotes], 1]);
});

test('a message is delivered again while one of its events cannot be written', async () => {
  const [good, bad] = newIds(2) as [string, string];
  let broken = true;
  writes = async (batch) => {
    if (broken && batch.includes(bad)) throw new Error('row refused');
  };
  await publishList([accepted(good), accepted(bad)]);
  start(0);
  await until(() => batches.length >= 3);
  expect(batches.slice(0, 3)).toEqual([[good, bad], [good], [bad]]);
  expect(await open()).toBe(1);
  broken = false;
  await until(async () => (await open()) === 0);
  expect(batches.at(-1)).toEqual([good, bad]);
});

test('stop writes and acknowledges the received messages', async () => {
  const quotes = newIds(40);
  writes = () => sleep(300);
  await publishAccepted(quotes);
  start(100);
  await until(() => batches.length > 0);
  await subscription.stop();
  await admin.nc.flush();
  await listener.nc.flush();
  expect(batches.flat()).toEqual(quotes);
  expect(await open()).toBe(0);
});

test('each message has its span in the trace of its publisher, and the others link to the first, which contains the write', async () => {
  type Ended = Span & {
    name: string;
    parentSpanContext?: { spanId: string };
    links: { context: { spanId: string } }[];
  };
  const ended: Ended[] = [];
  const nothing = async () => {};
  const onEnd = (span: unknown) => void ended.push(span as Ended);
  const spanProcessors = [{ onStart: () => {}, onEnd, forceFlush: nothing, shutdown: nothing }];
  const sdk = new NodeSDK({
    spanProcessors,
    metricReaders: [],
    logRecordProcessors: [],
    resourceDetectors: [],
  });
  sdk.start();
  let writer: string | undefined;
  writes = async () => {
    writer ??= trace.getActiveSpan()?.spanContext().spanId;
  };
  const quotes = newIds(3);
  for (const id of quotes) await publish(settler, event('settlement.accepted', accepted(id)));
  start(200);
  await until(() => ended.length === 6);
  await subscription.stop();
  await sdk.shutdown();

  expect(batches).toEqual([quotes]);
  const idOf = (span: Span | undefined) => span?.spanContext().spanId;
  const [sent, processed] = [ended.slice(0, 3), ended.slice(3)];
  expect(new Set(sent.map((span) => span.spanContext().traceId)).size).toBe(3);
  expect(processed.map(({ parentSpanContext }) => parentSpanContext?.spanId)).toEqual(sent.map(idOf));
  const linked = processed.map(({ links }) => links.map(({ context }) => context.spanId));
  const [first] = processed;
  expect(linked).toEqual(sent.map((span, index) => [idOf(span), ...(index === 0 ? [] : [idOf(first)])]));
  expect(writer).toBe(idOf(first));
});
