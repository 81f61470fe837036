import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { newId } from '../../../shared/lib/id.ts';
import { authorize, capture, use, voidIt } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  callAs,
  deps,
  outcome,
  paid,
  publishProgress,
  quote,
  serviceKey,
  startFixture,
  startReplica,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { findPaymentRecords } from '../operator/records.ts';
import { purgeConsumptions, purgeUses } from '../record/store/use-sums.ts';
import { purgeOldUses } from './purge-uses.ts';

beforeAll(startFixture);
afterAll(stopFixture);

const DAY_MS = 86_400_000;
/** As if the ids were of long ago. The statements themselves read the times of the rows. */
const LATER = { clock: () => Date.now() + 90 * DAY_MS };
const purge = () => purgeOldUses({ ...deps, ...LATER })();

/**
 * Changes the times of the records instead of the clock, because the service reads the database's
 * clock only every second or less often.
 */
const endedAgo = async ({ id }: { id: string }, interval: string) => {
  for (const [table, column] of [
    ['authorizations', 'voided_at'],
    ['settlements', 'progressed_at'],
    ['settlements', 'redeemed_at'],
  ])
    await admin.query(
      `update ${table} set ${column} = public.app_now() - $2::interval
       where settlement_id = $1 and ${column} is not null`,
      [id, interval],
    );
};
const rowsOf = async <T>(table: string, { id }: { id: string }) =>
  (await admin.query(`select * from ${table} where settlement_id = $1`, [id])).rows as T[];
const countsOf = async (one: { id: string }) => ({
  keys: (await rowsOf('uses', one)).length + (await rowsOf('consumptions', one)).length,
  sums: (await rowsOf('use_sums', one)).length + (await rowsOf('consumption_sums', one)).length,
});
const KEPT = { keys: 2, sums: 0 };

/** An authorization with two uses, 100 and 50. */
const used = async () => {
  const one = await authorize();
  await use(one, { usage_id: 'a', amount: '100' });
  await use(one, { usage_id: 'b', amount: '50' });
  return one;
};
const voided = async (ago: string) => {
  const one = await used();
  await voidIt(one, { discard_usage: true });
  await endedAgo(one, ago);
  return one;
};
const request = (usage_id: string, amount: string) => ({ usage_id, amount });

describe('uses', () => {
  test('are kept while the authorization is open, while its capture is under way, and for 30 days', async () => {
    const open = await used();
    await endedAgo(open, '31 days');
    const capturing = await authorize();
    await use(capturing, { usages: [request('a', '20000'), request('b', '30000')] });
    const captured = capture(capturing);
    await untilChainStatus(capturing.id, 'pending');
    await endedAgo(capturing, '31 days');
    const recent = await voided('29 days');
    await purge();
    for (const one of [open, capturing, recent]) expect(await countsOf(one)).toEqual(KEPT);

    await publishProgress(capturing.id, 'confirmed');
    await captured;
    await endedAgo(capturing, '31 days');
    await purge();
    expect(await countsOf(capturing)).toEqual(KEPT);
    await publishProgress(capturing.id, 'finalized');
    await untilChainStatus(capturing.id, 'finalized');
    await purge();
    expect(await countsOf(capturing)).toEqual(KEPT);
    await endedAgo(capturing, '31 days');
    await purge();
    expect((await countsOf(capturing)).keys).toBe(0);
    expect(await use(capturing, request('a', '20000'))).toMatchObject({ used: '50000', left: '450000' });
  });

  test('that are forgotten answer the total, record nothing, and no other call is taken for a repeat', async () => {
    const one = await voided('31 days');
    expect(await use(one, request('a', '100'))).toMatchObject({ used: '100', left: '499900' });
    await purge();
    expect((await countsOf(one)).keys).toBe(0);
    for (const repeat of [request('a', '100'), request('b', '50')])
      expect(await use(one, repeat)).toEqual({
        settlement_id: one.id,
        max_amount: '500000',
        used: '150',
        left: '499850',
      });
    expect(await use(one, { usages: [request('a', '100'), request('b', '50')] })).toMatchObject({
      used: '150',
    });
    expect(await outcome(use(one, request('c', '151')))).toBe('authorization_closed');
    expect((await countsOf(one)).keys).toBe(0);
    const { rows } = await admin.query(
      'select used_pico::text from authorizations where settlement_id = $1',
      [one.id],
    );
    expect(rows[0].used_pico).toBe('150000000');

    const unused = await authorize();
    await voidIt(unused);
    await endedAgo(unused, '31 days');
    await purge();
    expect(await outcome(use(unused, request('a', '1')))).toBe('authorization_closed');
  });

  test('add up to what was used, whatever they are and whenever they were reported', async () => {
    const uses = fc.array(fc.record({ units: fc.integer({ min: 1, max: 1_000_000 }), second: fc.nat(5) }), {
      minLength: 1,
      maxLength: 30,
    });
    await fc.assert(
      fc.asyncProperty(uses, fc.integer({ min: 1, max: 16_000 }), async (reported, price) => {
        const one = await authorize({ unit_price: '1' });
        await admin.query('update authorizations set unit_price_pico = $2 where settlement_id = $1', [
          one.id,
          price,
        ]);
        await use(one, { usages: reported.map(({ units }, index) => ({ usage_id: `${index}`, units })) });
        await admin.query(
          `update uses set created_at = '2026-10-01T00:00:00.25Z'::timestamptz + ($2::int[])[usage_id::int + 1] * interval '1 second'
           where settlement_id = $1`,
          [one.id, reported.map(({ second }) => second)],
        );
        await voidIt(one, { discard_usage: true });
        await endedAgo(one, '31 days');
        await purge();
        const sums = await rowsOf<{ second: Date; uses: string; amount_pico: string }>('use_sums', one);
        const sum = (column: 'uses' | 'amount_pico') =>
          sums.reduce((total, row) => total + BigInt(row[column]), 0n);
        const [authorization] = await rowsOf<{ used_pico: string }>('authorizations', one);
        expect(sum('amount_pico')).toBe(BigInt(authorization!.used_pico));
        expect(sum('uses')).toBe(BigInt(reported.length));
        expect(new Set(sums.map(({ second }) => second.getTime() % 60_000))).toEqual(
          new Set(reported.map(({ second }) => second * 1000)),
        );
      }),
      { numRuns: 15 },
    );
  });

  test('are purged once by two replicas at the same time, and each repeat meanwhile is answered', async () => {
    const other = await startReplica();
    const all = await Promise.all(Array.from({ length: 6 }, () => voided('31 days')));
    const answers = await Promise.all([
      purge(),
      purgeOldUses({ ...other.deps, ...LATER })(),
      ...all.flatMap((one) => [use(one, request('a', '100')), use(one, request('a', '100'))]),
    ]);
    for (const answer of answers.slice(2))
      expect(['100', '150']).toContain((answer as { used: string }).used);
    for (const one of all) {
      const sums = await rowsOf<{ uses: string; amount_pico: string }>('use_sums', one);
      expect(sums.reduce((total, row) => total + Number(row.amount_pico), 0)).toBe(150_000_000);
      expect(sums.reduce((total, row) => total + Number(row.uses), 0)).toBe(2);
    }
  });

  test('are walked to the end, past authorizations that have not ended', async () => {
    const kept = [await used(), await used(), await used()];
    const last = await voided('31 days');
    let after: string | null = '';
    let calls = 0;
    while (after !== null) {
      after = await purgeUses(deps.pool, { after, before: 'stl_8', limit: 2 });
      calls += 1;
    }
    expect(calls).toBeGreaterThan(1);
    expect((await countsOf(last)).keys).toBe(0);
    for (const one of kept) expect(await countsOf(one)).toEqual(KEPT);
    expect(await purgeUses(deps.pool, { after: '', before: kept[0]!.id, limit: 1000 })).toBeNull();
  });
});

describe('consumptions', () => {
  const prepaid = async () => {
    const { settlementId, answer } = await paid(undefined, quote(1_000_000n, { scope: { units: 10 } }));
    await publishProgress(settlementId, 'finalized');
    await untilChainStatus(settlementId, 'finalized');
    return { id: settlementId, token: answer.settlement_token! };
  };
  const consume = ({ id, token }: { id: string; token: string }, request_id: string, units: number) =>
    callAs<object>(serviceKey, 'consume', { settlement_id: id, settlement_token: token, request_id, units });

  test('are kept for 30 days after the last one could be made, and are then answered with the total', async () => {
    const one = await prepaid();
    await consume(one, 'a', 2);
    await consume(one, 'b', 3);
    await endedAgo(one, '59 days');
    await purge();
    expect(await countsOf(one)).toEqual(KEPT);
    expect(await consume(one, 'a', 2)).toMatchObject({ units_consumed: 2, units_remaining: 8 });
    await endedAgo(one, '61 days');
    await purge();
    expect((await countsOf(one)).keys).toBe(0);
    const sums = await rowsOf<{ requests: string; units: string }>('consumption_sums', one);
    expect(sums.reduce((total, { units }) => total + Number(units), 0)).toBe(5);
    expect(sums.reduce((total, { requests }) => total + Number(requests), 0)).toBe(2);
    expect(await consume(one, 'a', 2)).toEqual({
      settlement_id: one.id,
      units_consumed: 5,
      units_remaining: 5,
    });
    expect(await outcome(consume(one, newId('evt'), 6))).toBe('settlement_expired');

    const untouched = await prepaid();
    await callAs(serviceKey, 'redeem', { settlement_id: untouched.id, settlement_token: untouched.token });
    await endedAgo(untouched, '61 days');
    await purge();
    expect(await outcome(consume(untouched, 'a', 1))).toBe('settlement_expired');
    expect(await purgeConsumptions(deps.pool, { after: '', before: 'stl_8', limit: 1000 })).toBeNull();
  });
});

test('an operator is shown as many uses and units of a payment as before', async () => {
  const find = findPaymentRecords(deps.pool);
  const one = await used();
  const details = async () =>
    (await find({ ids: [one.id], attempts: [] })).entries
      .filter(({ what }) => what.includes('use of'))
      .map(({ what, details, at }) => ({ what, details, second: at.slice(0, 19) }));
  const before = await details();
  expect(before.at(-1)).toMatchObject({ details: { uses: '2', used: '150' } });
  await voidIt(one, { discard_usage: true });
  await endedAgo(one, '31 days');
  await purge();
  expect((await countsOf(one)).keys).toBe(0);
  expect(await details()).toEqual(before);
});
