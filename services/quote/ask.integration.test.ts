import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { quote as contract, settlement } from '../../shared/contract/index.ts';
import { connectPool, type Pool } from '../../shared/db/pool.ts';
import type { OutboxRow } from '../../shared/events/outbox.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
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
} from '../../test/support/settlement.ts';
import { consumer } from '../../test/support/settlement-peers.ts';
import type { Deps } from './deps.ts';
import { quoteStatus } from './domain/quote.ts';
import { askSettlement } from './jobs/askSettlement.ts';
import { findQuote, insertQuotes, transitionQuotes } from './store/quotes.ts';

/** The real settlement service answers, over NATS and by the quote service's own rights; its facts reach nobody. */
const MINUTE = 60_000;
const owner = { account_id: newId('acct'), service_id: null };
let pool: Pool;
let bus: Bus;
let asked: string[];

beforeAll(async () => {
  await startFixture();
  pool = await connectPool(database.url('quote'), { max: 2 });
  bus = await testBus.as('quote');
});
afterAll(async () => {
  await pool.end();
  await stopFixture();
});

const findByQuotes: Deps['findByQuotes'] = (quotes) => {
  asked.push(...quotes.map(({ quote_id }) => quote_id));
  return call(bus, settlement, 'findByQuotes', { quotes: [...quotes] });
};

/** Facts that were committed for publication. */
const told: OutboxRow[] = [];
const relay = { dispatch: (rows: readonly OutboxRow[]) => void told.push(...rows) };
const toldOf = ({ quote_id }: { quote_id: string }) =>
  told.flatMap(({ subject, payload }) =>
    (payload as { quote_id: string }).quote_id === quote_id ? [[subject, payload]] : [],
  );

/** A quote as its service has it, without having heard anything. */
const known = async (q = quote()) => {
  const now = Date.now();
  await insertQuotes(pool, [
    {
      quote_id: q.quote_id,
      account_id: owner.account_id,
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

/** Runs the job when so much time has passed; returns the quotes it asked about. */
const askAfter = async (minutes: number, deps = { pool, relay, findByQuotes }): Promise<string[]> => {
  asked = [];
  await database.withClock(`${minutes} minutes`, askSettlement(deps));
  return asked;
};
const seen = async ({ quote_id }: { quote_id: string }) => {
  const row = (await findQuote(pool, owner, quote_id))!;
  return [quoteStatus(row.settlement_state, row.expires_at, Date.now()), row.settlement_id];
};

test('a payment of which no fact arrived shows once the quote can be paid no more, and is not asked about again', async () => {
  const q = await known();
  const { settlementId } = await paid(consumer(), q);
  expect(await askAfter(9)).not.toContain(q.quote_id);
  expect(await askAfter(16)).toContain(q.quote_id);
  expect(await seen(q)).toEqual(['settled', settlementId]);
  expect(await askAfter(60)).not.toContain(q.quote_id);
  expect(toldOf(q)).toEqual([]);
});

test('a quote that stays settling is asked about every minute, until it is paid', async () => {
  const q = await known();
  const { settlementId, answer } = await underWay(consumer(), q);
  await transitionQuotes(pool, [{ quote_id: q.quote_id, settlement_id: settlementId, event: 'accepted' }]);
  expect(await askAfter(0)).not.toContain(q.quote_id);
  expect(await askAfter(1.1)).toContain(q.quote_id);
  expect(await seen(q)).toEqual(['settling', settlementId]);
  await publishProgress(settlementId, 'confirmed');
  await answer;
  expect(await askAfter(3)).toContain(q.quote_id);
  expect(await seen(q)).toEqual(['settled', settlementId]);
});

test('a failure that was not heard of lets the quote be paid again; the attempt that pays it then is found too', async () => {
  const q = await known();
  const first = await underWay(consumer(), q);
  await transitionQuotes(pool, [
    { quote_id: q.quote_id, settlement_id: first.settlementId, event: 'accepted' },
  ]);
  await publishProgress(first.settlementId, 'failed');
  await outcome(first.answer);
  await askAfter(2);
  expect(await seen(q)).toEqual(['pending', first.settlementId]);
  const second = await paid(consumer(), q);
  expect(await askAfter(16)).toContain(q.quote_id);
  expect(await seen(q)).toEqual(['settled', second.settlementId]);
});

test('a quote that nobody paid is asked about once; while settlement is away the question waits', async () => {
  const q = await known();
  const away = { pool, relay, findByQuotes: () => Promise.reject(new Error('away')) };
  await expect(askAfter(16, away)).rejects.toThrow('away');
  expect(await askAfter(16)).not.toContain(q.quote_id);
  expect(await askAfter(18)).toContain(q.quote_id);
  expect(await askAfter(60)).not.toContain(q.quote_id);
  expect(await seen(q)).toEqual(['pending', null]);
});

test('what nobody paid is told to have expired once, by three replicas at once; not while it is being paid', async () => {
  const quotes = await Promise.all(Array.from({ length: 40 }, () => known()));
  const late = await known();
  const { settlementId, answer } = await underWay(consumer(), late);
  asked = [];
  const run = askSettlement({ pool, relay, findByQuotes });
  // The last round comes after a minute for those that another replica held.
  await database.withClock('16 minutes', () => Promise.all([run(), run(), run()]));
  await askAfter(18);
  for (const q of quotes) {
    const facts = toldOf(q);
    expect(facts.map(([subject]) => subject)).toEqual(['evt.quote.expired']);
    expect(contract.events.expired.parse(facts[0]![1])).toMatchObject({ account_id: owner.account_id });
  }
  expect(toldOf(late)).toEqual([]);
  await publishProgress(settlementId, 'confirmed');
  await answer;
});
