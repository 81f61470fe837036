import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import { quote as contract, settlement } from '../../../shared/contract/index.ts';
import { connectPool, type Pool } from '../../../shared/db/pool.ts';
import type { OutboxRow } from '../../../shared/events/outbox.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  database,
  outcome,
  paid,
  publishProgress,
  quote,
  startFixture,
  stopFixture,
  testBus,
  underWay,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import type { Peers } from '../peers.ts';
import { quoteStatus } from './model/status.ts';
import { querySettlement } from './query-settlement.ts';
import { findQuote, insertQuotes, transitionQuotes } from './store.ts';

/**
 * The real settlement service answers over NATS, with the rights of the quote service. Its events
 * reach no subscriber.
 */
const MINUTE = 60_000;
const scope = { account_id: newId('acct'), service_id: null };
let pool: Pool;
let bus: Bus;
let queried: string[];

beforeAll(async () => {
  await startFixture();
  pool = await connectPool(database.url('quote'), { max: 2 });
  bus = await testBus.as('quote');
});
afterAll(async () => {
  await pool.end();
  await stopFixture();
});

const listByQuotes: Peers['listByQuotes'] = (quotes) => {
  queried.push(...quotes.map(({ quote_id }) => quote_id));
  return call(bus, settlement, 'listByQuotes', { quotes: [...quotes] });
};

/** Events that were committed for publication. */
const published: OutboxRow[] = [];
const relay = { dispatch: (rows: readonly OutboxRow[]) => void published.push(...rows) };
const publishedOf = ({ quote_id }: { quote_id: string }) =>
  published.flatMap(({ subject, payload }) =>
    (payload as { quote_id: string }).quote_id === quote_id ? [[subject, payload]] : [],
  );

/** Inserts a quote of which no event has arrived. */
const insertQuote = async (q = quote()) => {
  const now = Date.now();
  await insertQuotes(pool, [
    {
      quote_id: q.quote_id,
      account_id: scope.account_id,
      service_id: newServiceId(),
      quote_amount: 1_000_000n,
      fee_amount: 10_000n,
      redeem_window_seconds: 900,
      quote_token: q.quote_token,
      expires_at: now + 10 * MINUTE,
      created_at: now,
    },
  ]);
  return q;
};

/** Runs the job as if so many minutes had passed. Returns the ids of the quotes it queried. */
const queryAfter = async (minutes: number, deps = { pool, relay, listByQuotes }): Promise<string[]> => {
  queried = [];
  await database.withClock(`${minutes} minutes`, querySettlement(deps));
  return queried;
};
const stateOf = async ({ quote_id }: { quote_id: string }) => {
  const row = (await findQuote(pool, scope, quote_id))!;
  return [quoteStatus(row.settlement_state, row.expires_at, Date.now()), row.settlement_id];
};

test('a payment whose events were lost shows after the quote can no longer be paid, and is not queried again', async () => {
  const q = await insertQuote();
  const { settlementId } = await paid(consumer(), q);
  expect(await queryAfter(9)).not.toContain(q.quote_id);
  expect(await queryAfter(16)).toContain(q.quote_id);
  expect(await stateOf(q)).toEqual(['settled', settlementId]);
  expect(await queryAfter(60)).not.toContain(q.quote_id);
  expect(publishedOf(q)).toEqual([]);
});

test('a quote that is being settled is queried every minute until it is paid', async () => {
  const q = await insertQuote();
  const { settlementId, answer } = await underWay(consumer(), q);
  await transitionQuotes(pool, [{ quote_id: q.quote_id, settlement_id: settlementId, event: 'accepted' }]);
  expect(await queryAfter(0)).not.toContain(q.quote_id);
  expect(await queryAfter(1.1)).toContain(q.quote_id);
  expect(await stateOf(q)).toEqual(['settling', settlementId]);
  await publishProgress(settlementId, 'confirmed');
  await answer;
  expect(await queryAfter(3)).toContain(q.quote_id);
  expect(await stateOf(q)).toEqual(['settled', settlementId]);
});

test('after a failure whose event was lost the quote can be paid again, and the later payment is found too', async () => {
  const q = await insertQuote();
  const first = await underWay(consumer(), q);
  await transitionQuotes(pool, [
    { quote_id: q.quote_id, settlement_id: first.settlementId, event: 'accepted' },
  ]);
  await publishProgress(first.settlementId, 'failed');
  await outcome(first.answer);
  await queryAfter(2);
  expect(await stateOf(q)).toEqual(['pending', first.settlementId]);
  const second = await paid(consumer(), q);
  expect(await queryAfter(16)).toContain(q.quote_id);
  expect(await stateOf(q)).toEqual(['settled', second.settlementId]);
});

test('an unpaid quote is queried once; while settlement is unavailable the query is repeated', async () => {
  const q = await insertQuote();
  const unavailable = { pool, relay, listByQuotes: () => Promise.reject(new Error('unavailable')) };
  await expect(queryAfter(16, unavailable)).rejects.toThrow('unavailable');
  expect(await queryAfter(16)).not.toContain(q.quote_id);
  expect(await queryAfter(18)).toContain(q.quote_id);
  expect(await queryAfter(60)).not.toContain(q.quote_id);
  expect(await stateOf(q)).toEqual(['pending', null]);
});

test('three replicas at once publish the expiry of each unpaid quote once, and none of a quote that is being paid', async () => {
  const quotes = await Promise.all(Array.from({ length: 40 }, () => insertQuote()));
  const late = await insertQuote();
  const { settlementId, answer } = await underWay(consumer(), late);
  queried = [];
  const run = querySettlement({ pool, relay, listByQuotes });
  // The last round comes a minute later, for the quotes that another replica had locked.
  await database.withClock('16 minutes', () => Promise.all([run(), run(), run()]));
  await queryAfter(18);
  for (const q of quotes) {
    const events = publishedOf(q);
    expect(events.map(([subject]) => subject)).toEqual(['evt.quote.expired']);
    expect(contract.events.expired.parse(events[0]![1])).toMatchObject({ account_id: scope.account_id });
  }
  expect(publishedOf(late)).toEqual([]);
  await publishProgress(settlementId, 'confirmed');
  await answer;
});
