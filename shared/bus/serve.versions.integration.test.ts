import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import { invalid } from '../contract/errors.ts';
import { quote } from '../contract/index.ts';
import type { Handlers, ServiceContract } from '../contract/service.ts';
import { newId, newServiceId } from '../lib/id.ts';
import { call, forward } from './call.ts';
import type { Bus } from './connect.ts';
import { type Serving, serve } from './serve.ts';
import { BUILD } from './trace.ts';

/** Two versions of quote's contract on one bus: the other one has a field or a value more. */
let testBus: TestBus;
let identity: Bus;
let gateway: Bus;
let serving: Serving;
beforeAll(async () => {
  testBus = await createTestBus();
  [identity, gateway] = [await testBus.as('identity'), await testBus.as('gateway')];
});
afterEach(() => serving.stop());
afterAll(() => testBus.stop());

const start = async (contract: ServiceContract, handlers: Record<string, unknown>) => {
  const bus = await testBus.as('quote');
  serving = serve(bus, contract, handlers as unknown as Handlers<ServiceContract>);
  await bus.nc.flush();
};

const { getQuoteActivity } = quote.internal;
/** Quote as another version answers `getQuoteActivity`. */
const answering = (output: z.ZodType): ServiceContract => ({
  ...quote,
  internal: { ...quote.internal, getQuoteActivity: { ...getQuoteActivity, output } },
});
const activity = { open: true, ends_at: '2026-11-21T10:00:00.000Z' };
const askActivity = () => call(identity, quote, 'getQuoteActivity', { service_id: newServiceId() });

test('a field that another version answers is dropped', async () => {
  const later = getQuoteActivity.output.extend({ quotes: z.int() });
  await start(answering(later), { getQuoteActivity: async () => ({ ...activity, quotes: 3 }) });
  expect(await askActivity()).toEqual(activity);
});

test('a value that another version answers, and this one does not know, is no answer yet', async () => {
  const later = z.strictObject({ open: z.enum(['yes', 'no', 'soon']), ends_at: z.null() });
  await start(answering(later), { getQuoteActivity: async () => ({ open: 'soon', ends_at: null }) });
  await expect(askActivity()).rejects.toMatchObject({
    code: 'service_unavailable',
    extras: { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: 5 },
  });
});

const caller = {
  kind: 'service_key',
  key_id: 'k',
  account_id: newId('acct'),
  service_id: newServiceId(),
} as const;
/** A call that the gateway has accepted, of the same build or of another one. */
const ask = (name: string, input: object, build?: string) =>
  forward(gateway, quote, name, input, caller, {
    timeoutMs: 5000,
    headers: build === undefined ? {} : { [BUILD]: build },
  });

test.each([
  ['an input', 'list', { limit: '2', later: 'x' }, 'validation_error'],
  ['a value', 'list', { status: 'later' }, 'validation_error'],
  ['an operation', 'listLater', {}, 'not_found'],
])('%s of another version gets 503, because a newer process will serve it', async (_, name, input, code) => {
  await start(quote, { list: async () => ({ data: [], next_cursor: null }) });
  await expect(ask(name, input)).rejects.toMatchObject({ code });
  await expect(ask(name, input, '9.9.9+later')).rejects.toMatchObject({
    code: 'service_unavailable',
    extras: { retryAfterSeconds: 5 },
  });
  expect(await ask('list', { limit: '2' }, '9.9.9+later')).toEqual({ data: [], next_cursor: null });
});

test('a refusal of a handler stays one, whoever asks', async () => {
  const list = async () => {
    throw invalid('status', 'has no such rows');
  };
  await start(quote, { list });
  await expect(ask('list', {}, '9.9.9+later')).rejects.toMatchObject({ code: 'validation_error' });
});
