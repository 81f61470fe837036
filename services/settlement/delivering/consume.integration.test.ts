import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { settlement } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import {
  admin,
  callAs,
  deps,
  funding,
  outcome,
  paid,
  publishProgress,
  quote,
  serviceKey,
  startFixture,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { getSettlementActivity } from '../reading/get-settlement-activity.ts';
import type { ChainStatus } from '../record/model/status.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Token = { settlement_id: string; settlement_token: string };
type Consumed = { settlement_id: string; units_consumed: number; units_remaining: number };
const quoteWithUnits = (units: unknown) =>
  quote(1_000_000n, { scope: { units: units as number, resource: 'GET /forecast' } });
/** Makes a confirmed payment of this number of units. */
const prepaid = async (units: unknown): Promise<Token> => {
  const { settlementId, answer } = await paid(consumer(), quoteWithUnits(units));
  return { settlement_id: settlementId, settlement_token: answer.settlement_token! };
};
const consume = (
  token: Token,
  units: number,
  request_id: string = newId('evt'),
  by: Principal = serviceKey,
) => callAs<Consumed>(by, 'consume', { ...token, units, request_id });
const redeem = (token: Token) =>
  callAs<{ redeemed_at: string; replayed: boolean }>(serviceKey, 'redeem', token);
/** Returns the consumed units: the settlement's counter, and the sum of its requests. */
const consumed = async ({ settlement_id }: Token) => {
  const { rows } = await admin.query(
    `select s.status, s.units_consumed::int as counted, coalesce(sum(c.units), 0)::int as added
     from settlements s left join consumptions c using (settlement_id) where settlement_id = $1
     group by s.settlement_id`,
    [settlement_id],
  );
  return rows[0] as { status: string; counted: number; added: number };
};
/**
 * Changes the record instead of the clock, because the service reads the database's clock only
 * every second or less often.
 */
const redeemedAgo = ({ settlement_id }: Token, interval: string) =>
  admin.query(
    'update settlements set redeemed_at = public.app_now() - $2::interval where settlement_id = $1',
    [settlement_id, interval],
  );
const reserve = ({ settlement_id }: Token, refund_id: string, amount = '1') =>
  call(funding, settlement, 'reserveRefund', { refund_id, settlement_id, ...vendor, amount });

test('the first consume redeems the settlement, each consume counts its units, and verify and get show the rest', async () => {
  const token = await prepaid(10);
  const { settlement_id } = token;
  const verify = () => callAs<{ redeemed_at: string | null }>(serviceKey, 'verify', { settlement_id });
  expect(await verify()).toMatchObject({ status: 'issued', units_total: 10, units_remaining: 10 });
  expect(await consume(token, 3)).toEqual({ settlement_id, units_consumed: 3, units_remaining: 7 });
  const { redeemed_at } = await verify();
  expect(redeemed_at).not.toBeNull();
  expect(await redeem(token)).toMatchObject({ redeemed_at, redeem_id: null, replayed: true });
  expect(await consume(token, 7)).toEqual({ settlement_id, units_consumed: 10, units_remaining: 0 });
  const left = { status: 'redeemed', redeemed_at, units_total: 10, units_remaining: 0 };
  expect(await verify()).toMatchObject(left);
  expect(await callAs(serviceKey, 'get', { settlement_id })).toMatchObject(left);
});

test('a validly signed token that was never issued consumes nothing, before and after the first consume', async () => {
  const token = await prepaid(10);
  const [payload] = token.settlement_token.split('.');
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString());
  const stolen = {
    ...token,
    settlement_token: signToken('settlement', { ...claims, issued_at: isoTime(0) }, deps.signingKey),
  };
  expect(await outcome(consume(stolen, 1))).toBe('validation_error');
  await consume(token, 3);
  expect(await outcome(consume(stolen, 1))).toBe('validation_error');
  expect(await consumed(token)).toMatchObject({ counted: 3, added: 3 });
});

test('a request with the token of another payment does not wait for the payment', async () => {
  const [token, other] = [await prepaid(1), await prepaid(1)];
  const busy = await admin.connect();
  try {
    await busy.query('begin');
    await busy.query('select from settlements where settlement_id = $1 for update', [token.settlement_id]);
    const stolen = { ...token, settlement_token: other.settlement_token };
    expect(await outcome(consume(stolen, 1))).toBe('validation_error');
  } finally {
    await busy.query('rollback');
    busy.release();
  }
  expect(await consume(token, 1)).toMatchObject({ units_consumed: 1 });
});

test('a settlement that was redeemed before can be consumed too, and keeps its redeemed_at', async () => {
  const token = await prepaid(2);
  const first = await redeem(token);
  expect(await consume(token, 1)).toMatchObject({ units_remaining: 1 });
  expect(await redeem(token)).toEqual({ ...first, replayed: true });
});

test('more units than are left answer 409 settlement_exhausted, and nothing is consumed or redeemed', async () => {
  const token = await prepaid(5);
  expect(await outcome(consume(token, 6))).toBe('settlement_exhausted');
  expect(await consumed(token)).toEqual({ status: 'issued', counted: 0, added: 0 });
  await consume(token, 4);
  expect(await outcome(consume(token, 2))).toBe('settlement_exhausted');
  expect(await consumed(token)).toEqual({ status: 'redeemed', counted: 4, added: 4 });
  expect(await consume(token, 1)).toMatchObject({ units_consumed: 5, units_remaining: 0 });
  expect(await outcome(consume(token, 1))).toBe('settlement_exhausted');
});

test('64 concurrent requests for 3 of 100 units: 33 succeed', async () => {
  const token = await prepaid(100);
  const sums: number[] = [];
  const answers = await atOnce(64, () =>
    outcome(consume(token, 3).then(({ units_consumed }) => sums.push(units_consumed))),
  );
  expect(tally(answers)).toEqual({ ok: 33, settlement_exhausted: 31 });
  // Each answer shows a different sum: 3, 6, 9 and so on.
  expect(sums.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 33 }, (_, i) => 3 * (i + 1)));
  expect(await consumed(token)).toEqual({ status: 'redeemed', counted: 99, added: 99 });
});

test('64 concurrent requests with one request_id consume once, even the last units', async () => {
  for (const units of [100, 7]) {
    const token = await prepaid(units);
    const answers = await atOnce(64, () => consume(token, 7, 'one'));
    expect(tally(answers.map((answer) => JSON.stringify(answer)))).toEqual({
      [JSON.stringify({
        settlement_id: token.settlement_id,
        units_consumed: 7,
        units_remaining: units - 7,
      })]: 64,
    });
    expect(await consumed(token)).toEqual({ status: 'redeemed', counted: 7, added: 7 });
  }
});

test('concurrent requests for more units than an int holds take none from each other', async () => {
  const token = await prepaid(1_000_000_000);
  const answers = await atOnce(8, () => outcome(consume(token, 600_000_000)));
  expect(tally(answers)).toEqual({ ok: 1, settlement_exhausted: 7 });
  expect(await consumed(token)).toEqual({ status: 'redeemed', counted: 600_000_000, added: 600_000_000 });
});

test('concurrent requests share a write with repeats and with strangers, and each gets its own answer', async () => {
  const [token, other] = await Promise.all([prepaid(100), prepaid(5)]);
  const first = await consume(token, 2, 'one');
  const mixed = { ...token, settlement_token: other.settlement_token };
  const answers = await atOnce(63, (i) => {
    if (i % 3 === 0) return outcome(consume(token, 1));
    if (i % 3 === 1) return outcome(consume(mixed, 1));
    return consume(token, 2, 'one').then((answer) => JSON.stringify(answer));
  });
  expect(tally(answers)).toEqual({ ok: 21, validation_error: 21, [JSON.stringify(first)]: 21 });
  expect(await consumed(token)).toEqual({ status: 'redeemed', counted: 23, added: 23 });
});

test('one request_id with another number of units answers 409 conflict, in sequence and concurrently', async () => {
  const token = await prepaid(1000);
  await consume(token, 2, 'one');
  expect(await outcome(consume(token, 3, 'one'))).toBe('conflict');
  // Also when the other number exceeds the units that are left.
  expect(await outcome(consume(token, 999, 'one'))).toBe('conflict');
  expect(await consumed(token)).toMatchObject({ counted: 2, added: 2 });
  const answers = await atOnce(64, (i) => outcome(consume(token, i + 1, 'two')));
  expect(tally(answers)).toEqual({ ok: 1, conflict: 63 });
  const { counted, added } = await consumed(token);
  expect(counted).toBe(added);
  // A request_id is unique within its settlement only.
  expect(await consume(await prepaid(5), 5, 'one')).toMatchObject({ units_consumed: 5 });
});

test('a repeat gets the first answer, whatever happened since', async () => {
  const token = await prepaid(3);
  const first = await consume(token, 1, 'one');
  await consume(token, 2);
  expect(await consume(token, 1, 'one')).toEqual(first);
  await reserve(token, newId('ref'));
  expect(await consume(token, 1, 'one')).toEqual(first);
  await redeemedAgo(token, '31 days');
  expect(await consume(token, 1, 'one')).toEqual(first);
});

test('units can be consumed for 30 days after the redeem, and before it until the window ends', async () => {
  const [token, late] = await Promise.all([prepaid(10), prepaid(10)]);
  await consume(token, 1);
  await redeemedAgo(token, '29 days 23 hours');
  expect(await outcome(consume(token, 1))).toBe('ok');
  await redeemedAgo(token, '30 days 1 second');
  expect(await outcome(consume(token, 1))).toBe('settlement_expired');
  await admin.query('update settlements set redeem_expires_at = public.app_now() where settlement_id = $1', [
    late.settlement_id,
  ]);
  expect(await outcome(consume(late, 1))).toBe('settlement_expired');
  expect(await consumed(token)).toMatchObject({ counted: 2, added: 2 });
  expect(await consumed(late)).toEqual({ status: 'issued', counted: 0, added: 0 });
});

test('another service gets 404, a token of another settlement or an invalid one 400, an unconfirmed payment 409', async () => {
  const [token, other] = await Promise.all([prepaid(5), prepaid(5)]);
  const strangers = [
    { account_id: newId('acct'), service_id: newServiceId() },
    { ...vendor, service_id: newServiceId() },
  ].map((who) => ({ kind: 'service_key', key_id: 'k', ...who }) as const);
  for (const by of strangers) expect(await outcome(consume(token, 1, 'r', by))).toBe('not_found');
  const unknown = { ...token, settlement_id: newId('stl') };
  expect(await outcome(consume(unknown, 1))).toBe('not_found');
  const mixed = { ...token, settlement_token: other.settlement_token };
  expect(await outcome(consume(mixed, 1))).toBe('validation_error');
  const { quote_token } = quoteWithUnits(5);
  expect(await outcome(consume({ ...token, settlement_token: quote_token }, 1))).toBe('validation_error');

  // Only a confirmation issues a token, so the test sets the record of an issued one back to
  // pending.
  await admin.query(
    `update settlements set status = 'pending', chain_status = 'pending', under_way_since = created_at,
       expires_from = created_at where settlement_id = $1`,
    [other.settlement_id],
  );
  expect(await outcome(consume(other, 1))).toBe('conflict');
  expect(await consumed(other)).toEqual({ status: 'pending', counted: 0, added: 0 });
  expect(await consumed(token)).toEqual({ status: 'issued', counted: 0, added: 0 });
});

test.each([0, -1, 1.5, 1_000_000_001, Number.NaN])(
  '%p is no valid number of units and answers 400',
  async (units) => {
    expect(await outcome(consume(await prepaid(5), units))).toBe('validation_error');
  },
);

test.each<[string, unknown]>([
  ['0', 0],
  ['a string', '5'],
  ['a fraction', 2.5],
  ['more than 1e9', 1_000_000_001],
])(
  'a quote whose scope has invalid units (%s) is not prepaid: consume answers 409, redeem works',
  async (_name, units) => {
    const token = await prepaid(units);
    expect(await outcome(consume(token, 1))).toBe('conflict');
    expect(await callAs(serviceKey, 'verify', { settlement_id: token.settlement_id })).not.toHaveProperty(
      'units_total',
    );
    expect(await redeem(token)).toMatchObject({ replayed: false });
  },
);

test('a refund that has reserved one micro-unit blocks consume until it is released', async () => {
  const token = await prepaid(5);
  const refund_id = newId('ref');
  await reserve(token, refund_id);
  expect(await outcome(consume(token, 1))).toBe('conflict');
  expect(await consumed(token)).toEqual({ status: 'issued', counted: 0, added: 0 });
  await call(funding, settlement, 'releaseRefund', { refund_id });
  expect(await outcome(consume(token, 1))).toBe('ok');
  await reserve(token, newId('ref'));
  expect(await outcome(consume(token, 1))).toBe('conflict');
  expect(await consumed(token)).toMatchObject({ counted: 1, added: 1 });
});

test('32 pairs of a concurrent consume and refund: after the refund nothing is consumed', async () => {
  const tokens = await Promise.all(Array.from({ length: 32 }, () => prepaid(5)));
  const ends = await Promise.all(
    tokens.map(async (token) => {
      const [answer] = await Promise.all([outcome(consume(token, 5)), reserve(token, newId('ref'))]);
      return [answer, (await consumed(token)).counted];
    }),
  );
  for (const [answer, counted] of ends)
    expect([answer, counted]).toEqual(answer === 'ok' ? ['ok', 5] : ['conflict', 0]);
});

test('64 concurrent redeems and consumes give one redeemed_at, and at most one redeem is not a replay', async () => {
  const token = await prepaid(32);
  const [redeems] = await Promise.all([atOnce(32, () => redeem(token)), atOnce(32, () => consume(token, 1))]);
  expect(new Set(redeems.map(({ redeemed_at }) => redeemed_at)).size).toBe(1);
  expect(redeems.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
  expect(await consumed(token)).toEqual({ status: 'redeemed', counted: 32, added: 32 });
});

test('consume answers 409 while the payment is removed by a fork, and always after a reversal', async () => {
  const token = await prepaid(5);
  await consume(token, 1);
  const publish = async (status: 'reopened' | 'confirmed' | 'failed', chain: ChainStatus) => {
    const failure =
      status === 'failed' ? { failure: { code: 'payment_failed' as const, message: 'reversed' } } : {};
    await publishProgress(token.settlement_id, status, failure);
    await untilChainStatus(token.settlement_id, chain);
  };
  await publish('reopened', 'pending');
  expect(await outcome(consume(token, 1))).toBe('conflict');
  await publish('confirmed', 'confirmed');
  expect(await outcome(consume(token, 1))).toBe('ok');
  await publish('reopened', 'pending');
  await publish('failed', 'failed');
  expect(await outcome(consume(token, 1))).toBe('conflict');
  expect(await consumed(token)).toMatchObject({ status: 'redeemed', counted: 2, added: 2 });
});

test('getSettlementActivity reports a service as open while units can be consumed', async () => {
  const open = async () => (await getSettlementActivity(deps)({ service_id: vendor.service_id })).open;
  await admin.query('truncate settlements cascade');
  const plain = await paid();
  await redeem({ settlement_id: plain.settlementId, settlement_token: plain.answer.settlement_token! });
  expect(await open()).toBe(false);
  const token = await prepaid(2);
  await consume(token, 1);
  expect(await open()).toBe(true);
  await redeemedAgo(token, '29 days');
  expect(await open()).toBe(true);
  await redeemedAgo(token, '30 days 1 second');
  expect(await open()).toBe(false);
  await redeemedAgo(token, '1 day');
  await consume(token, 1);
  expect(await open()).toBe(false);
});
