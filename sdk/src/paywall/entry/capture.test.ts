import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createDeliveries } from '../base/deliveries.ts';
import { memoryStore } from '../main.ts';
import { capture } from './capture.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const EVENTS = 'text/event-stream; charset=utf-8';
const PLAIN = 'application/x-ndjson';

/** A handler whose stream has its first chunk, and continues as the test decides. */
const handler = (type: string) => {
  const heard: unknown[] = [];
  let controller: ReadableStreamDefaultController<Uint8Array>;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
      controller.enqueue(new TextEncoder().encode('first '));
    },
    cancel: (reason) => {
      heard.push(reason);
    },
  });
  return {
    response: new Response(body, { headers: { 'content-type': type } }),
    /** Why its stream was cancelled. */
    heard,
    end: () => {
      controller.enqueue(new TextEncoder().encode('last'));
      controller.close();
    },
  };
};

/** Buyers with one payment. */
const shop = (limit = 1000) => {
  const { once } = createDeliveries(memoryStore(), () => {});
  /** Presents the payment. If the handler is run, the first chunk of its answer is read. */
  const ask = async (type: string) => {
    const request = { key: 'payment', hash: 'request', refusal: async () => null };
    const begun = await once({ ...request, open: async () => 'open' });
    if (begun.kind !== 'deliver') return { kind: begun.kind };
    const run = handler(type);
    const { finish, left } = begun;
    const admitted = { headers: {}, isRepeatable: false, metering: null, finish, left };
    const reader = (await capture(run.response, admitted, limit)).body!.getReader();
    expect(new TextDecoder().decode((await reader.read()).value as Uint8Array)).toBe('first ');
    return { kind: begun.kind, run, leave: (reason: string) => void reader.cancel(reason) };
  };
  return ask;
};
const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

test('the handler of a stream of events learns at once that its buyer has left', async () => {
  const { run, leave } = await shop()(EVENTS);
  leave!('gone');
  await pass(0);
  expect(run!.heard).toEqual(['gone']);
});

test('the handler of another stream learns it after 30 seconds, and may end it until then', async () => {
  const ask = shop();
  const first = await ask(PLAIN);
  first.leave!('gone');
  await pass(29_999);
  expect(first.run!.heard).toEqual([]);
  expect((await ask(PLAIN)).kind).toBe('busy');
  await pass(1);
  expect(first.run!.heard).toEqual(['gone']);

  const second = await ask(PLAIN);
  second.leave!('gone');
  await pass(20_000);
  second.run!.end();
  await pass(0);
  expect(second.run!.heard).toEqual([]);
  expect((await ask(PLAIN)).kind).toBe('replay');
});

test.each([EVENTS, PLAIN])(
  'a buyer who leaves %s again and again runs the handler twice at most',
  async (type) => {
    const ask = shop();
    for (const expected of ['deliver', 'deliver', 'spent', 'spent']) {
      const { kind, leave } = await ask(type);
      expect(kind).toBe(expected);
      leave?.('gone');
      await pass(30_000);
    }
  },
);

test('a stream that is too long to be stored ends with its buyer, and is delivered', async () => {
  const ask = shop(3);
  const { run, leave } = await ask(PLAIN);
  leave!('gone');
  await pass(0);
  expect(run!.heard).toEqual(['gone']);
  expect((await ask(PLAIN)).kind).toBe('spent');
});
