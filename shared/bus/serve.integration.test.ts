import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, type TestBus } from '../../test/support/servers/bus.ts';
import { notFound } from '../contract/errors.ts';
import { identity, quote } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { newId, newServiceId } from '../lib/id.ts';
import { call, forward } from './call.ts';
import { serve } from './serve.ts';
import { inCall, noteIds, REQUEST_ID } from './trace.ts';

let testBus: TestBus;
beforeAll(async () => {
  testBus = await createTestBus();
});
afterAll(() => testBus.stop());

test('an answer over the maximum message size gets 500 at once, and the next call is answered', async () => {
  const service_id = newServiceId();
  const one = {
    quote_id: newId('q'),
    quote_token: `a.${'b'.repeat(16_000)}`,
    quote_amount: '20000',
    fee_amount: '10000',
    currency: 'USDC',
    expires_at: '2026-11-21T10:00:00.000Z',
    status: 'pending',
    ...{ service_id, redeem_window_seconds: 900, scope: null, settlement_id: null },
    created_at: '2026-11-21T10:00:00.000Z',
  };
  const list = async ({ limit }: { limit?: string | undefined }) => ({
    data: Array(Number(limit)).fill(one),
    next_cursor: null,
  });
  const bus = await testBus.as('quote');
  const serving = serve(bus, quote, { list } as unknown as Handlers<typeof quote>);
  await bus.nc.flush();
  const gateway = await testBus.as('gateway');
  const caller = { kind: 'service_key', key_id: 'k', account_id: newId('acct'), service_id } as const;
  const ask = (limit: string) =>
    forward(gateway, quote, 'list', { limit }, caller, { timeoutMs: 5000, headers: {} });
  await expect(ask('100')).rejects.toMatchObject({ code: 'internal_error' });
  expect(((await ask('2')) as { data: unknown[] }).data).toHaveLength(2);
  await serving.stop();
});

/** A logger whose lines the test reads. */
const readableLogger = (level: string) => {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, logger: pino({ level, base: {} }, { write }) };
};

test('a refused call, a slow one and one of an operator have a line of the service with account, ids and code', async () => {
  const service_id = newServiceId();
  const quote_id = newId('q');
  const slow = newId('q');
  const account_id = newId('acct');
  const token = 'a.secret';
  const { lines, logger } = readableLogger('info');
  const bus = { ...(await testBus.as('quote')), logger };
  const get = async (input: { quote_id: string }) => {
    const calledAt = performance.now();
    if (input.quote_id !== quote_id && input.quote_id !== slow) throw notFound('quote');
    if (input.quote_id === slow) await waitUntil(() => performance.now() > calledAt + 2000);
    noteIds({ quote_id: input.quote_id });
    return {
      quote_id: input.quote_id,
      quote_token: token,
      quote_amount: '20000',
      fee_amount: '10000',
      currency: 'USDC',
      expires_at: '2026-11-21T10:00:00.000Z',
      status: 'pending',
      ...{ service_id, redeem_window_seconds: 900, scope: null, settlement_id: null },
      created_at: '2026-11-21T10:00:00.000Z',
    };
  };
  const getQuoteActivity = async () => ({ open: false, ends_at: null });
  const getBacklog = async () => ({ outbox: 0 });
  const serving = serve(bus, quote, { get, getQuoteActivity, getBacklog } as unknown as Handlers<
    typeof quote
  >);
  await bus.nc.flush();
  const gateway = await testBus.as('gateway');
  const caller = { kind: 'service_key', key_id: 'k', account_id, service_id } as const;
  const noted: object[] = [];
  const ask = (id: string, requestId: string) =>
    forward(gateway, quote, 'get', { quote_id: id }, caller, {
      timeoutMs: 5000,
      headers: { [REQUEST_ID]: requestId },
      onNoted: (ids) => noted.push(ids),
    });
  // The line of a call is the gateway's, which gets the noted ids with the answer.
  await ask(quote_id, 'r-1');
  expect(noted).toEqual([{ quote_id }]);
  const unknown = newId('q');
  await expect(ask(unknown, 'r-2')).rejects.toMatchObject({ code: 'not_found' });
  await call(await testBus.as('identity'), quote, 'getQuoteActivity', { service_id });
  await call(await testBus.asOperator('jane'), quote, 'getBacklog', {});
  await ask(slow, 'r-3');
  await serving.stop();
  const common = {
    level: 30,
    time: expect.any(Number),
    operation: 'quote.get',
    account_id,
    ms: expect.any(Number),
  };
  expect(lines).toEqual([
    { ...common, request_id: 'r-2', quote_id: unknown, code: 'not_found', msg: 'call refused' },
    { ...common, operation: 'quote.getBacklog', account_id: undefined, actor: 'jane', msg: 'call' },
    { ...common, request_id: 'r-3', quote_id: slow, service_id, object_status: 'pending', msg: 'call' },
  ]);
  expect(JSON.stringify(lines)).not.toContain(token);
});

test('a call that a service makes while it answers carries the request id on', async () => {
  const { lines, logger } = readableLogger('debug');
  const identityBus = { ...(await testBus.as('identity')), logger };
  const settlementBus = await testBus.as('settlement');
  const serving = serve(identityBus, identity, {
    isFrozen: async () => ({ frozen: false }),
  } as unknown as Handlers<typeof identity>);
  await identityBus.nc.flush();
  const account_id = newId('acct');
  await inCall({ requestId: 'r-3', noted: {} }, () =>
    call(settlementBus, identity, 'isFrozen', { account_id }),
  );
  await call(settlementBus, identity, 'isFrozen', { account_id });
  await serving.stop();
  expect(lines.map(({ operation, request_id }) => [operation, request_id])).toEqual([
    ['identity.isFrozen', 'r-3'],
    ['identity.isFrozen', undefined],
  ]);
});
