import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { forward } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import { quote } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { connectPool, type Pool } from '../../../shared/db/pool.ts';
import { privateKeyFromSeed } from '../../../shared/lib/chain/ed25519.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import { createTestBus, type TestBus } from '../../../test/support/servers/bus.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { type ServiceProcess, startService } from '../../../test/support/servers/service-process.ts';
import { insertQuotes } from './store.ts';

/**
 * A page of the largest quotes that a vendor can create exceeds the limit of a NATS message (1 MB).
 */
const MINT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const SEED = Buffer.alloc(32, 7);
const QUOTES = 100;
let database: TestDatabase;
let testBus: TestBus;
let gateway: Bus;
let pool: Pool;
let service: ServiceProcess;
const vendor = {
  kind: 'service_key',
  key_id: 'k',
  account_id: newId('acct'),
  service_id: newServiceId(),
} satisfies Principal;

beforeAll(async () => {
  [database, testBus] = await Promise.all([createTestDatabase(), createTestBus()]);
  pool = await connectPool(database.url('quote'), { max: 1 });
  gateway = await testBus.as('gateway');
  const env = {
    SIGNING_KEYS: `test.quote.1:${SEED.toString('base64url')}`,
    USDC_MINT: MINT,
    CURSOR_KEY: 'a'.repeat(43),
    PUBLIC_URL: 'https://api.example.com',
  };
  service = await startService('quote', env, { testBus, database });
});
afterAll(async () => {
  await service?.stop();
  await testBus?.stop();
  await pool?.end();
  await database?.drop();
});

const largest = (n: number) => {
  const now = Date.now() + n;
  const claims = {
    env: 'test' as const,
    quote_id: newId('q'),
    vendor_account_id: vendor.account_id,
    service_id: vendor.service_id,
    service_name: 'Weather',
    payout_address: MINT,
    mint: MINT,
    quote_amount: '20000',
    fee_amount: '10000',
    currency: 'USDC' as const,
    issued_at: new Date(now).toISOString(),
    expires_at: new Date(now + 600_000).toISOString(),
    redeem_window_seconds: 900,
    scope: { a: 'x'.repeat(4088) },
  };
  const signing = { kid: 'test.quote.1', key: privateKeyFromSeed(SEED) };
  return {
    quote_id: claims.quote_id,
    account_id: vendor.account_id,
    service_id: vendor.service_id,
    quote_amount: 20_000n,
    fee_amount: 10_000n,
    redeem_window_seconds: 900,
    quote_token: signToken('quote', claims, signing),
    expires_at: now + 600_000,
    created_at: now,
  };
};

test('a list of the largest quotes is split into as many pages as it needs', async () => {
  const rows = Array.from({ length: QUOTES }, (_, n) => largest(n));
  for (const row of rows) await insertQuotes(pool, [row]);
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const input = { limit: String(QUOTES), ...(cursor !== undefined && { cursor }) };
    const page = (await forward(gateway, quote, 'list', input, vendor, { timeoutMs: 5000, headers: {} })) as {
      data: { quote_id: string }[];
      next_cursor: string | null;
    };
    listed.push(...page.data.map(({ quote_id }) => quote_id));
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
  expect(listed).toEqual(rows.map(({ quote_id }) => quote_id).reverse());
});
