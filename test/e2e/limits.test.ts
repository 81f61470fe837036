import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApi } from '../../deploy/local/people/api.ts';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/people/people.ts';
import { type RunningStack, startStack } from '../../deploy/local/stack.ts';
import { externalServers } from '../support/external-servers.ts';
import { tally } from '../support/stack.ts';
import { testStateDir } from '../support/test-state.ts';

/** A stack of its own with the limits as decided: the shared one has them raised for the races. */
let running: RunningStack;
let vendor: Vendor;
let consumer: Consumer;
const api = () => createApi(running.stack.gateway_url);

beforeAll(async () => {
  running = await startStack({
    stateDir: testStateDir('limits'),
    ports: 'any',
    chainSlotMs: 100,
    durable: false,
    external: externalServers,
  });
  [vendor, consumer] = await Promise.all([
    createVendor(api(), running.stack),
    createConsumer(api(), running.stack),
  ]);
}, 60_000);
afterAll(() => running?.stop());

test('call 21 of a minute is 429 with a Retry-After that is true; failed calls count', async () => {
  const startedAt = Date.now();
  const quote = await quoteOf(api(), vendor);
  const answers = [];
  for (let i = 0; i < 21; i += 1) answers.push(await settleWith(api(), consumer.token, quote, `limit-${i}`));
  expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 1, 409: 19, 429: 1 });
  const refused = answers.at(-1)!;
  expect(refused.body.error).toMatchObject({
    code: 'rate_limited',
    money_moved: 'unknown',
    safe_action: 'retry_same_attempt',
  });
  // The first of the 20 leaves the window 60 s after it came: that is when the next call is free, and not before.
  const waitMs = Number(refused.headers.get('retry-after')) * 1000;
  const freeInMs = 60_000 - (Date.now() - startedAt);
  expect(waitMs).toBeGreaterThanOrEqual(freeInMs);
  expect(waitMs).toBeLessThan(freeInMs + (Date.now() - startedAt) + 1000);
  // Another operation of the same account has a window of its own.
  expect((await api()('GET /v1/settlements', { token: consumer.token })).status).toBe(200);
});
