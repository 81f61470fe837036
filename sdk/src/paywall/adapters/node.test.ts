import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { createDeliveries } from '../base/deliveries.ts';
import { memoryStore } from '../main.ts';
import { captureNode } from './node.ts';
import type { NodeResponse } from './node-copy.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** The response of Node's server, as far as the paywall uses it. */
const response = () =>
  Object.assign(new EventEmitter(), {
    statusCode: 200,
    writeHead: () => {},
    write: () => true,
    end: () => {},
    destroy: () => {},
    getHeaders: () => ({}),
    hasHeader: () => false,
    setHeader: () => {},
  });

/** Buyers with one payment, at a handler whose end the test decides. */
const shop = () => {
  const { once } = createDeliveries(memoryStore(), () => {});
  const open = async () => 'open' as const;
  /** Presents the payment. The handler begins if it is to be run. */
  const ask = async () => {
    const begun = await once({ key: 'payment', hash: 'request', refusal: async () => null, open });
    if (begun.kind !== 'deliver') return { kind: begun.kind };
    const answer = response();
    const { finish, left } = begun;
    const admitted = { headers: {}, isRepeatable: false, metering: null, finish, left };
    captureNode(answer as unknown as NodeResponse, admitted, 1000);
    return { kind: begun.kind, answer };
  };
  return ask;
};
/** The buyer disconnects, and the grace period passes. */
const disconnect = async ({ answer }: { answer?: EventEmitter }) => {
  answer!.emit('close');
  await jest.advanceTimersByTimeAsync(30_000);
};

test('a buyer who disconnects again and again runs the handler twice at most', async () => {
  const ask = shop();
  let runs = 0;
  for (let minute = 0; minute < 9; minute += 1) {
    const { kind, answer } = await ask();
    if (kind === 'deliver') {
      runs += 1;
      await disconnect({ answer: answer! });
    } else expect(kind).toBe('busy');
    await jest.advanceTimersByTimeAsync(30_000);
  }
  expect(runs).toBe(2);
});

test('a handler that gives up when its buyer disconnects can be run once more', async () => {
  const ask = shop();
  const first = await ask();
  expect((await ask()).kind).toBe('busy');
  await disconnect(first);
  const second = await ask();
  second.answer!.end();
  await jest.advanceTimersByTimeAsync(0);
  expect((await ask()).kind).toBe('replay');
});

test.each(['first', 'second'])('the answer of a %s run that ends late is stored', async (which) => {
  const ask = shop();
  const first = await ask();
  await disconnect(first);
  const second = await ask();
  await disconnect(second);
  expect((await ask()).kind).toBe('busy');
  ({ first, second })[which]!.answer!.end();
  await jest.advanceTimersByTimeAsync(0);
  expect((await ask()).kind).toBe('replay');
});
