import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { forward } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import { serve } from '../../../shared/bus/serve.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { quote } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import type { Handlers } from '../../../shared/contract/service.ts';
import { connectPool, type Pool, sql } from '../../../shared/db/pool.ts';
import { idempotentCalls } from '../../../shared/idempotency/calls.ts';
import { privateKeyFromSeed } from '../../../shared/lib/chain/ed25519.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { createTestBus, type TestBus } from '../../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { create } from './create.ts';

/**
 * docs/adr/0017-idempotency-keys.md, for the call that a vendor makes for every request it prices.
 */
const PAYOUT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
let database: TestDatabase;
let testBus: TestBus;
let gateway: Bus;
let pool: Pool;
/** Names of the pool's members that the handler used. */
const used: string[] = [];

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  pool = await connectPool(database.url('quote'), { max: 10 });
  gateway = await testBus.as('gateway');
  const observed = new Proxy(pool, {
    get: (target, name) => {
      used.push(String(name));
      return Reflect.get(target, name);
    },
  });
  const deps = {
    pool: observed,
    clock: Date.now,
    environment: 'test' as const,
    mint: PAYOUT,
    fee: { bps: 50n, minMicro: 10_000n },
    signingKey: { kid: 'test.quote.1', key: privateKeyFromSeed(Buffer.alloc(32, 7)) },
    // All services belong to the account. Tests of identity and chain-submitter cover their
    findService: async (service_id: string) => ({
      ...{ service_id, account_id, name: 'Weather', price: '2500000', payout_address: PAYOUT },
      ...{ redeem_window_seconds: 900, status: 'active' as const, next_payout: null, domain: null },
      ...{ key_grace_hours: 24, created_at: new Date().toISOString() },
    }),
    reserveTokenAccount: async () => ({ status: 'exists' as const, retry_after_seconds: null }),
  };
  const handlers = { create: create(deps) } as unknown as Handlers<typeof quote>;
  const bus = await testBus.as('quote');
  serve(bus, quote, handlers, { calls: idempotentCalls(pool) });
  await bus.nc.flush();
});
afterAll(async () => {
  await testBus?.stop();
  await pool?.end();
  await database?.drop();
});

const account_id = newId('acct');
const vendor = (): Principal & { service_id: string } => ({
  kind: 'service_key',
  key_id: 'k',
  account_id,
  service_id: newServiceId(),
});
type Quote = { quote_id: string; quote_token: string };
const createQuote = async (
  by: Principal & { service_id: string },
  key: string | undefined,
  rest: object = {},
) => {
  let replayed = false;
  const body = (await forward(gateway, quote, 'create', { service_id: by.service_id, ...rest }, by, {
    timeoutMs: 60_000,
    headers: {},
    idempotencyKey: key,
    onReplay: () => {
      replayed = true;
    },
  })) as Quote;
  return { body, replayed };
};
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: ServiceError) => error.code,
  );
const countQuotes = ({ service_id }: { service_id: string }) =>
  pool.oneFirst(
    sql.typeAlias('id')`select count(*)::text as id from quotes where service_id = ${service_id}`,
  );

test('64 concurrent calls with one key create one quote, and every answer has its token', async () => {
  const by = vendor();
  const scope = { b: [1, { d: null, c: 'ü\u0001' }], a: {} };
  const answers = await atOnce(64, (i) =>
    createQuote(by, 'k', { scope: i % 2 === 0 ? scope : { a: scope.a, b: scope.b }, quote_amount: '20000' }),
  );
  expect(tally(answers.map(({ replayed }) => replayed))).toEqual({ false: 1, true: 63 });
  for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
  expect(JSON.stringify(answers[1]!.body)).toBe(JSON.stringify(answers[0]!.body));
  expect(await countQuotes(by)).toBe('1');
  const other = { scope: { ...scope, a: [] }, quote_amount: '20000' };
  expect(await codeOf(createQuote(by, 'k', other))).toBe('idempotency_mismatch');
});

test('a repeat may spell out the defaults, and leave them out', async () => {
  const by = vendor();
  const spelled = { currency: 'USDC', expires_in_seconds: 600 };
  const [first, again] = [
    await createQuote(by, 'none-spelled'),
    await createQuote(by, 'none-spelled', spelled),
  ];
  expect([again.replayed, again.body]).toEqual([true, first.body]);
  await createQuote(by, 'all-spelled', spelled);
  expect((await createQuote(by, 'all-spelled', { currency: 'USDC' })).replayed).toBe(true);
  expect(await codeOf(createQuote(by, 'none-spelled', { expires_in_seconds: 601 }))).toBe(
    'idempotency_mismatch',
  );
  expect(await countQuotes(by)).toBe('2');
});

test.each([
  [{ order: '\0' }, 'validation_error'],
  [{ '\0': [] }, 'validation_error'],
  [{ order: 'C:\\\0' }, 'validation_error'],
  [{ order: 'C:\\u0000' }, 'ok'],
])('metadata has no NUL, which no event could contain: %j', async (scope, expected) => {
  const by = vendor();
  expect(await codeOf(createQuote(by, undefined, { scope }))).toBe(expected);
  expect(await countQuotes(by)).toBe(expected === 'ok' ? '1' : '0');
});

test('another service of the account does not get the quote, whatever key it sends', async () => {
  const [by, other] = [vendor(), vendor()];
  await createQuote(by, 'shared');
  expect(await codeOf(createQuote(other, 'shared'))).toBe('idempotency_mismatch');
  expect(await codeOf(createQuote(other, 'shared', { service_id: by.service_id }))).toBe(
    'idempotency_mismatch',
  );
  expect(await countQuotes(other)).toBe('0');
});

test('a call without a key needs one statement, no transaction and no record', async () => {
  const by = vendor();
  await createQuote(by, 'with');
  used.length = 0;
  const [one, two] = [await createQuote(by, undefined), await createQuote(by, undefined)];
  expect(used).toEqual(['query', 'query']);
  expect(one.body.quote_id).not.toBe(two.body.quote_id);
  expect(await countQuotes(by)).toBe('3');
});
