import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createLogger } from '../../../shared/lib/telemetry/logger.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type GatewayFixture,
  newServiceKey,
  startGatewayFixture,
  startServers,
} from '../../../test/support/fixtures/gateway.ts';
import {
  NETWORK,
  newTransaction,
  x402Request,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { connectRedis } from '../redis/connect.ts';
import { createLimits } from './limits.ts';
import { LimitsFile } from './limits-file.ts';

/**
 * A vendor's buyers decide what its calls hold. Calls that are refused for it must not use up the
 * vendor's calls.
 */
let fixture: GatewayFixture;
let key: string;
beforeAll(async () => {
  // The limits of the contract.
  fixture = await startGatewayFixture({ publicKeys: [], environments: ['test'] });
});
afterAll(() => fixture.stop());

const JUNK = 'a buyer’s junk';
/** The transactions that settlement refuses by their bytes. */
let junk: Set<unknown>;
beforeEach(() => {
  junk = new Set();
  key = fixture.services.addKey(createKeyText('vendor_test_'), newServiceKey());
  const refusal = { error: { code: 'validation_error', message: JUNK, money_moved: 'no' } };
  type X402 = { paymentPayload: { payload: { transaction: string } } };
  const isJunk = (input: unknown) => junk.has((input as X402).paymentPayload.payload.transaction);
  Object.assign(fixture.services.answers, {
    'settlement.x402Settle': (input: unknown) =>
      isJunk(input)
        ? { success: false, transaction: '', network: NETWORK, errorReason: 'x', ...refusal }
        : { success: true, transaction: '5'.repeat(80), network: NETWORK },
    'settlement.x402Verify': (input: unknown) =>
      isJunk(input) ? { isValid: false, invalidReason: 'x', ...refusal } : { isValid: true, payer: 'p' },
    'settlement.acceptForeign': ({ transaction }: { transaction?: unknown }) => {
      if (junk.has(transaction)) throw new ServiceError('validation_error', JUNK, { money_moved: 'no' });
      return { settlement_id: newId('stl'), status: 'pending', tx_hash: null };
    },
  });
});

const post = async (path: string, body: unknown): Promise<number> => {
  const response = await fetch(fixture.gateway.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await response.text();
  return response.status;
};
const incoming = (transaction: string) => ({
  ...{ rail: 'x402', quote_amount: '50000', memo: 'm', transaction, redeem_id: 'r-1' },
});
const newJunk = (): string => {
  const transaction = newTransaction();
  junk.add(transaction);
  return transaction;
};
const times = async (count: number, work: () => Promise<number>): Promise<number[]> => {
  const statuses: number[] = [];
  // As many at once as a flood of one client has.
  for (let sent = 0; sent < count; sent += 20)
    statuses.push(...(await Promise.all(Array.from({ length: Math.min(20, count - sent) }, work))));
  return statuses;
};
const countOf = (statuses: number[], wanted: number) => statuses.filter((status) => status === wanted).length;

test('301 transactions that are refused by their bytes leave a vendor its calls, and a buyer after them pays', async () => {
  const accept = (transaction: string) => post('/v1/settlements/foreign', incoming(transaction));
  expect(countOf(await times(301, () => accept(newJunk())), 400)).toBe(301);
  expect(await accept(newTransaction())).toBe(202);
  const settle = (transaction: string) => post('/v1/x402/settle', x402Request(transaction));
  expect(countOf(await times(301, () => settle(newJunk())), 200)).toBe(301);
  expect(await settle(newTransaction())).toBe(200);
  // What the gateway itself refuses counts in the same way.
  expect(countOf(await times(301, () => post('/v1/x402/settle', { paymentPayload: 5 })), 400)).toBe(301);
  expect(await settle(newTransaction())).toBe(200);
});

test('beyond their own window, refused calls count as all others', async () => {
  const { redisPort, stop } = await startServers();
  const redis = connectRedis(`redis://127.0.0.1:${redisPort}`, createLogger('test', 'fatal'));
  try {
    const script = readFileSync(new URL('./sliding-window.lua', import.meta.url), 'utf8');
    const limits = createLimits({ redis, script, overrides: LimitsFile.parse(undefined) });
    await waitUntil(() => redis.status === 'ready');
    const call = {
      environment: 'test',
      name: 'settlement.x402Settle',
      operation: {
        limits: [{ points: 5, windowSeconds: 600, per: 'account' }],
        refusalsApart: { points: 3, windowSeconds: 600 },
        withoutRedis: 'in-process',
      },
      accountId: newId('acct'),
      accountFactor: 1,
      ip: '203.0.113.1',
      input: {},
    } as const;
    const remaining: number[] = [];
    for (let refused = 0; refused < 6; refused += 1) {
      const [quota] = await limits.count(call);
      remaining.push(quota!.remaining);
      await limits.countApart(call);
    }
    expect(remaining).toEqual([4, 4, 4, 4, 3, 2]);
  } finally {
    redis.disconnect();
    await stop();
  }
});

test('calls that are not refused count as before', async () => {
  const settle = () => post('/v1/x402/settle', x402Request(newTransaction()));
  const statuses = await times(305, settle);
  expect([countOf(statuses, 200), countOf(statuses, 429)]).toEqual([300, 5]);
  expect(await post('/v1/x402/settle', x402Request(newJunk()))).toBe(429);
});
