import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectPool, type Pool } from '../../../shared/db/pool.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { applyTransitions } from './apply-transitions.ts';
import type { SettlementState } from './model/status.ts';
import { findQuote, insertQuotes } from './store.ts';

let database: TestDatabase;
let pool: Pool;
beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('quote'), { max: 2 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

/**
 * `A:accepted` is the first event of the older settlement. `B` is a later attempt on the same
 * quote.
 */
test.each<[string, string]>([
  ['A:accepted A:issued', 'A:issued'],
  ['A:issued A:accepted', 'A:issued'],
  ['A:accepted A:failed', 'A:failed'],
  ['A:failed A:accepted', 'A:failed'],
  // Reversed on chain for good: the quote may be paid again.
  ['A:accepted A:issued A:failed', 'A:failed'],
  ['A:accepted A:issued A:failed A:issued', 'A:failed'],
  ['A:issued A:failed B:accepted B:issued', 'B:issued'],
  ['A:failed B:accepted A:failed', 'B:accepted'],
  ['A:accepted B:accepted A:failed', 'B:accepted'],
  ['B:issued A:accepted A:failed', 'B:issued'],
  // The replica that accepted the second attempt had a clock that was behind.
  ['B:accepted B:failed A:accepted A:issued', 'A:issued'],
])('the events %s leave the quote with %s, one by one and in one batch', async (events, expected) => {
  const [account_id, now] = [newId('acct'), Date.now()];
  const [oneByOne, inBatch] = [newId('q'), newId('q')];
  for (const quote_id of [oneByOne, inBatch])
    await insertQuotes(pool, [
      {
        quote_id,
        account_id,
        service_id: newServiceId(),
        quote_amount: 20_000n,
        fee_amount: 10_000n,
        redeem_window_seconds: 900,
        quote_token: 'a.b',
        expires_at: now + 600_000,
        created_at: now,
      },
    ]);
  const apply = applyTransitions({ pool, relay: { dispatch: () => {} } });
  const ids = { A: 'stl_01aaaaaaaaaaaaaaaaaaaaaaaa', B: 'stl_02aaaaaaaaaaaaaaaaaaaaaaaa' };
  const parsed = (text: string) => text.split(':') as [keyof typeof ids, SettlementState];
  const transitionsOf = (quote_id: string) =>
    events.split(' ').map((text) => {
      const [settlement, event] = parsed(text);
      return { quote_id, settlement_id: ids[settlement], event };
    });
  for (const transition of transitionsOf(oneByOne)) await apply([transition]);
  await apply(transitionsOf(inBatch));
  const [settlement, state] = parsed(expected);
  for (const quote_id of [oneByOne, inBatch])
    expect(await findQuote(pool, { account_id, service_id: null }, quote_id)).toMatchObject({
      settlement_id: ids[settlement],
      settlement_state: state,
    });
});

test('quotes that are inserted in one statement have the values of their own rows', async () => {
  const now = Date.now();
  const rows = [1, 2, 3].map((n) => ({
    quote_id: newId('q'),
    account_id: newId('acct'),
    service_id: newServiceId(),
    quote_amount: 9_223_372_036_854_775_800n + BigInt(n),
    fee_amount: 10_000n + BigInt(n),
    redeem_window_seconds: 900 + n,
    quote_token: `a.${n}`,
    expires_at: now + n * 60_000 + 1,
    created_at: now + n,
  }));
  await insertQuotes(pool, rows);
  for (const row of rows) {
    const scope = { account_id: row.account_id, service_id: row.service_id };
    expect(await findQuote(pool, scope, row.quote_id)).toEqual({
      ...row,
      settlement_id: null,
      settlement_state: null,
    });
  }
});
