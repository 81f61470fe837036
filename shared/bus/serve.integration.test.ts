import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTestBus, type TestBus } from '../../test/support/bus.ts';
import { quote } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { newId, newServiceId } from '../lib/id.ts';
import { forward } from './call.ts';
import { serve } from './serve.ts';

let testBus: TestBus;
beforeAll(async () => {
  testBus = await createTestBus();
}, 30_000);
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
  serve(bus, quote, { list } as unknown as Handlers<typeof quote>);
  await bus.nc.flush();
  const gateway = await testBus.as('gateway');
  const caller = { kind: 'service_key', key_id: 'k', account_id: newId('acct'), service_id } as const;
  const ask = (limit: string) =>
    forward(gateway, quote, 'list', { limit }, caller, { timeoutMs: 5000, headers: {} });
  await expect(ask('100')).rejects.toMatchObject({ code: 'internal_error' });
  expect(((await ask('2')) as { data: unknown[] }).data).toHaveLength(2);
});
