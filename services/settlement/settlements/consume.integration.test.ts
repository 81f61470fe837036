import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { settlement } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { signToken } from '../../../shared/lib/compact-token.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  admin,
  as,
  consumer,
  deps,
  funding,
  key,
  outcome,
  paid,
  quote,
  row,
  say,
  startFixture,
  stopFixture,
  until,
  vendor,
} from '../../../test/support/settlement.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { getSettlementActivity } from './get-settlement-activity.ts';

beforeAll(startFixture, 60_000);
afterAll(stopFixture);

type Token = { settlement_id: string; settlement_token: string };
type Consumed = { settlement_id: string; units_consumed: number; units_remaining: number };
const quoteOf = (units: unknown) =>
  quote(1_000_000n, { scope: { units: units as number, resource: 'GET /forecast' } });
/** A confirmed payment of so many units. */
const prepaid = async (units: unknown): Promise<Token> => {
  const { settlementId, answer } = await paid(consumer(), quoteOf(units));
  return { settlement_id: settlementId, settlement_token: answer.settlement_token! };
};
const consume = (token: Token, units: number, request_id: string = newId('evt'), by: Principal = key) =>
  as<Consumed>(by, 'consume', { ...token, units, request_id });
const redeem = (token: Token) => as<{ redeemed_at: string; replayed: boolean }>(key, 'redeem', token);
/** What is taken, as the settlement counts it and as its requests add up. */
const taken = async ({ settlement_id }: Token) => {
  const { rows } = await admin.query(
    `select s.status, s.units_consumed as counted, coalesce(sum(c.units), 0)::int as added
     from settlements s left join consumptions c using (settlement_id) where settlement_id = $1
     group by s.settlement_id`,
    [settlement_id],
  );
  return rows[0] as { status: string; counted: number; added: number };
};
/** Sets the record back, not the clock: the service takes its own from the database now and then. */
const redeemedAgo = ({ settlement_id }: Token, interval: string) =>
  admin.query('update settlements set redeemed_at = now() - $2::interval where settlement_id = $1', [
    settlement_id,
    interval,
  ]);
const reserve = ({ settlement_id }: Token, refund_id: string, amount = '1') =>
  call(funding, settlement, 'reserveRefund', { refund_id, settlement_id, ...vendor, amount });

test('the first consume redeems, each takes its units, verify and get show what is left', async () => {
  const token = await prepaid(10);
  const { settlement_id } = token;
  const verify = () => as<{ redeemed_at: string | null }>(key, 'verify', { settlement_id });
  expect(await verify()).toMatchObject({ status: 'issued', units_total: 10, units_remaining: 10 });
  expect(await consume(token, 3)).toEqual({ settlement_id, units_consumed: 3, units_remaining: 7 });
  const { redeemed_at } = await verify();
  expect(redeemed_at).not.toBeNull();
  expect(await redeem(token)).toMatchObject({ redeemed_at, redeem_id: null, replayed: true });
  expect(await consume(token, 7)).toEqual({ settlement_id, units_consumed: 10, units_remaining: 0 });
  const left = { status: 'redeemed', redeemed_at, units_total: 10, units_remaining: 0 };
  expect(await verify()).toMatchObject(left);
  expect(await as(key, 'get', { settlement_id })).toMatchObject(left);
});

test('a token that its own key signed and nobody issued takes nothing, before the first draw and after it', async () => {
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
  expect(await taken(token)).toMatchObject({ counted: 3, added: 3 });
});

test('a settlement that was redeemed before is drawn down too, and keeps its redeemed_at', async () => {
  const token = await prepaid(2);
  const first = await redeem(token);
  expect(await consume(token, 1)).toMatchObject({ units_remaining: 1 });
  expect(await redeem(token)).toEqual({ ...first, replayed: true });
});

test('more than what is left: 409 settlement_exhausted, nothing taken and nothing redeemed', async () => {
  const token = await prepaid(5);
  expect(await outcome(consume(token, 6))).toBe('settlement_exhausted');
  expect(await taken(token)).toEqual({ status: 'issued', counted: 0, added: 0 });
  await consume(token, 4);
  expect(await outcome(consume(token, 2))).toBe('settlement_exhausted');
  expect(await taken(token)).toEqual({ status: 'redeemed', counted: 4, added: 4 });
  expect(await consume(token, 1)).toMatchObject({ units_consumed: 5, units_remaining: 0 });
  expect(await outcome(consume(token, 1))).toBe('settlement_exhausted');
});

test('64 at once, 3 units each of 100: 33 are given, never above', async () => {
  const token = await prepaid(100);
  const given: number[] = [];
  const answers = await atOnce(64, () =>
    outcome(consume(token, 3).then(({ units_consumed }) => given.push(units_consumed))),
  );
  expect(tally(answers)).toEqual({ ok: 33, settlement_exhausted: 31 });
  // Each was told a state of its own: 3, 6, 9 and so on.
  expect(given.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 33 }, (_, i) => 3 * (i + 1)));
  expect(await taken(token)).toEqual({ status: 'redeemed', counted: 99, added: 99 });
});

test('64 times one request_id at once takes once, also when these are the last units', async () => {
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
    expect(await taken(token)).toEqual({ status: 'redeemed', counted: 7, added: 7 });
  }
});

test('one request_id with other units is 409 conflict, one after the other and at once', async () => {
  const token = await prepaid(1000);
  await consume(token, 2, 'one');
  expect(await outcome(consume(token, 3, 'one'))).toBe('conflict');
  // Also where the other number is more than what is left.
  expect(await outcome(consume(token, 999, 'one'))).toBe('conflict');
  expect(await taken(token)).toMatchObject({ counted: 2, added: 2 });
  const answers = await atOnce(64, (i) => outcome(consume(token, i + 1, 'two')));
  expect(tally(answers)).toEqual({ ok: 1, conflict: 63 });
  const { counted, added } = await taken(token);
  expect(counted).toBe(added);
  // A request_id is the settlement's own.
  expect(await consume(await prepaid(5), 5, 'one')).toMatchObject({ units_consumed: 5 });
});

test('a repeat is answered as the first time, whatever came after', async () => {
  const token = await prepaid(3);
  const first = await consume(token, 1, 'one');
  await consume(token, 2);
  expect(await consume(token, 1, 'one')).toEqual(first);
  await reserve(token, newId('ref'));
  expect(await consume(token, 1, 'one')).toEqual(first);
  await redeemedAgo(token, '31 days');
  expect(await consume(token, 1, 'one')).toEqual(first);
});

test('open for 30 days after the redeem; an issued one until its window ends', async () => {
  const [token, late] = await Promise.all([prepaid(10), prepaid(10)]);
  await consume(token, 1);
  await redeemedAgo(token, '29 days 23 hours');
  expect(await outcome(consume(token, 1))).toBe('ok');
  await redeemedAgo(token, '30 days 1 second');
  expect(await outcome(consume(token, 1))).toBe('settlement_expired');
  await admin.query('update settlements set redeem_expires_at = now() where settlement_id = $1', [
    late.settlement_id,
  ]);
  expect(await outcome(consume(late, 1))).toBe('settlement_expired');
  expect(await taken(token)).toMatchObject({ counted: 2, added: 2 });
  expect(await taken(late)).toEqual({ status: 'issued', counted: 0, added: 0 });
});

test('another service 404; a token of another settlement or none at all 400; before confirmation 409', async () => {
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
  const { quote_token } = quoteOf(5);
  expect(await outcome(consume({ ...token, settlement_token: quote_token }, 1))).toBe('validation_error');

  // A token is made with the confirmation only: the record is set back under one.
  await admin.query(
    "update settlements set status = 'pending', chain_status = 'pending' where settlement_id = $1",
    [other.settlement_id],
  );
  expect(await outcome(consume(other, 1))).toBe('conflict');
  expect(await taken(other)).toEqual({ status: 'pending', counted: 0, added: 0 });
  expect(await taken(token)).toEqual({ status: 'issued', counted: 0, added: 0 });
});

test.each([0, -1, 1.5, 1_000_000_001, Number.NaN])('%p units are no units: 400', async (units) => {
  expect(await outcome(consume(await prepaid(5), units))).toBe('validation_error');
});

test.each<[string, unknown]>([
  ['0', 0],
  ['a text', '5'],
  ['a part', 2.5],
  ['more than 1e9', 1_000_000_001],
])(
  'a quote whose scope says units: %s, is not prepaid: 409, and it can be redeemed',
  async (_name, units) => {
    const token = await prepaid(units);
    expect(await outcome(consume(token, 1))).toBe('conflict');
    expect(await as(key, 'verify', { settlement_id: token.settlement_id })).not.toHaveProperty('units_total');
    expect(await redeem(token)).toMatchObject({ replayed: false });
  },
);

test('a refund that reserved one micro-unit blocks consume until it is released', async () => {
  const token = await prepaid(5);
  const refund_id = newId('ref');
  await reserve(token, refund_id);
  expect(await outcome(consume(token, 1))).toBe('conflict');
  expect(await taken(token)).toEqual({ status: 'issued', counted: 0, added: 0 });
  await call(funding, settlement, 'releaseRefund', { refund_id });
  expect(await outcome(consume(token, 1))).toBe('ok');
  await reserve(token, newId('ref'));
  expect(await outcome(consume(token, 1))).toBe('conflict');
  expect(await taken(token)).toMatchObject({ counted: 1, added: 1 });
});

test('consume against a refund, 32 times: after the refund nothing is taken', async () => {
  const tokens = await Promise.all(Array.from({ length: 32 }, () => prepaid(5)));
  const ends = await Promise.all(
    tokens.map(async (token) => {
      const [drawn] = await Promise.all([outcome(consume(token, 5)), reserve(token, newId('ref'))]);
      return [drawn, (await taken(token)).counted];
    }),
  );
  for (const [drawn, counted] of ends)
    expect([drawn, counted]).toEqual(drawn === 'ok' ? ['ok', 5] : ['conflict', 0]);
});

test('64 redeems and consumes at once: one redeemed_at, at most one of them did it', async () => {
  const token = await prepaid(32);
  const [redeems] = await Promise.all([atOnce(32, () => redeem(token)), atOnce(32, () => consume(token, 1))]);
  expect(new Set(redeems.map(({ redeemed_at }) => redeemed_at)).size).toBe(1);
  expect(redeems.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
  expect(await taken(token)).toEqual({ status: 'redeemed', counted: 32, added: 32 });
});

test('forked away 409 until it stands again; reversed for good 409', async () => {
  const token = await prepaid(5);
  await consume(token, 1);
  const told = async (status: 'reopened' | 'confirmed' | 'failed', chain: string) => {
    const failure =
      status === 'failed' ? { failure: { code: 'payment_failed' as const, message: 'reversed' } } : {};
    await say(token.settlement_id, status, failure);
    await until(
      () => row(token.settlement_id),
      ({ chain_status }) => chain_status === chain,
    );
  };
  await told('reopened', 'pending');
  expect(await outcome(consume(token, 1))).toBe('conflict');
  await told('confirmed', 'confirmed');
  expect(await outcome(consume(token, 1))).toBe('ok');
  await told('reopened', 'pending');
  await told('failed', 'failed');
  expect(await outcome(consume(token, 1))).toBe('conflict');
  expect(await taken(token)).toMatchObject({ status: 'redeemed', counted: 2, added: 2 });
});

test('a service is open while units can be drawn', async () => {
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
