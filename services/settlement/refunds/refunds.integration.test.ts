import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { settlement } from '../../../shared/contract/index.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import {
  admin,
  callAs,
  database,
  funding,
  outcome,
  paid,
  publishProgress,
  quote,
  row as rowOf,
  serviceKey,
  startFixture,
  stopFixture,
  underWay,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { PAYOUT } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';

/** Tests reservations of refunds. Gross 1,000,000, fee 10,000: the net is 990,000. */
const NET = 990_000n;

beforeAll(startFixture);
afterAll(stopFixture);

const vendor = serviceKey as Extract<Principal, { kind: 'service_key' }>;
type By = { account_id: string; service_id: string | null };
const reserve = (
  settlement_id: string,
  amount: bigint | null,
  { refund_id = newId('ref'), by = vendor as By }: { refund_id?: string; by?: By } = {},
) =>
  call(funding, settlement, 'reserveRefund', {
    refund_id,
    settlement_id,
    account_id: by.account_id,
    service_id: by.service_id,
    amount: amount === null ? null : `${amount}`,
  });
const release = (refund_id: string) => call(funding, settlement, 'releaseRefund', { refund_id });
const reserved = async (settlementId: string): Promise<string> => {
  const { rows } = await admin.query('select refund_reserved from settlements where settlement_id = $1', [
    settlementId,
  ]);
  return String(rows[0].refund_reserved);
};
const redeem = (answer: { settlement_id: string; settlement_token?: string }) =>
  outcome(
    callAs(serviceKey, 'redeem', {
      settlement_id: answer.settlement_id,
      settlement_token: answer.settlement_token,
    }),
  );
const SERVICE: By = { account_id: vendor.account_id, service_id: vendor.service_id };

test('a part and the remainder can be reserved; a repeat of the same refund gets the same reservation', async () => {
  const { settlementId, payer } = await paid();
  const refund_id = newId('ref');
  const first = await reserve(settlementId, 400_000n, { refund_id });
  expect(first).toEqual({
    amount: '400000',
    service_id: vendor.service_id,
    delegate_id: null,
    item: null,
    payout_address: PAYOUT,
    payer: { account_id: payer.account_id, owner: expect.stringMatching(/^Consumer/) },
    paid: true,
  });
  expect(await reserve(settlementId, 400_000n, { refund_id })).toEqual(first);
  expect((await reserve(settlementId, null)).amount).toBe('590000');
  expect(await reserved(settlementId)).toBe(`${NET}`);
  expect(await outcome(reserve(settlementId, null))).toBe('conflict');
});

test.each<[string, bigint | null, string]>([
  ['the full net', NET, 'ok'],
  ['no amount, which means the full net', null, 'ok'],
  ['one unit', 1n, 'ok'],
  ['one unit more than the net', NET + 1n, 'conflict'],
  ['the gross', 1_000_000n, 'conflict'],
  ['nothing', 0n, 'validation_error'],
  ['a negative amount', -1n, 'validation_error'],
])('reserve %s', async (_name, amount, expected) => {
  const { settlementId } = await paid();
  expect(await outcome(reserve(settlementId, amount))).toBe(expected);
  expect(await reserved(settlementId)).toBe(expected === 'ok' ? `${amount ?? NET}` : '0');
});

test('a foreign, unknown, pending or failed payment is not refunded', async () => {
  const { settlementId } = await paid();
  const foreign: By[] = [
    { account_id: newId('acct'), service_id: null },
    { account_id: newId('acct'), service_id: vendor.service_id },
    { account_id: vendor.account_id, service_id: newServiceId() },
  ];
  for (const by of foreign) expect(await outcome(reserve(settlementId, 1n, { by }))).toBe('not_found');
  expect(await outcome(reserve(newId('stl'), 1n))).toBe('not_found');
  // Without a service id, the caller is the owner of all the account's services.
  const owner = { account_id: vendor.account_id, service_id: null };
  expect(await outcome(reserve(settlementId, 1n, { by: owner }))).toBe('ok');

  const pending = await underWay(consumer());
  expect(await outcome(reserve(pending.settlementId, 1n))).toBe('conflict');
  await publishProgress(pending.settlementId, 'failed', {
    failure: { code: 'payment_failed', message: 'no' },
  });
  await pending.answer.catch(() => {});
  expect(await outcome(reserve(pending.settlementId, 1n))).toBe('conflict');
});

test('a payment that was forked away is not refunded before it is confirmed again', async () => {
  const { settlementId } = await paid();
  const before = newId('ref');
  await reserve(settlementId, 1n, { refund_id: before });
  await publishProgress(settlementId, 'reopened');
  await untilChainStatus(settlementId, 'pending');
  expect(await outcome(reserve(settlementId, 1n))).toBe('conflict');
  expect((await reserve(settlementId, 1n, { refund_id: before })).paid).toBe(false);
  await publishProgress(settlementId, 'finalized');
  await untilChainStatus(settlementId, 'finalized');
  expect((await reserve(settlementId, 1n, { refund_id: before })).paid).toBe(true);
  expect(await outcome(reserve(settlementId, 1n))).toBe('ok');
});

test('expired and redeemed settlements are refunded too', async () => {
  const redeemed = await paid();
  expect(await redeem(redeemed.answer)).toBe('ok');
  expect(await outcome(reserve(redeemed.settlementId, null))).toBe('ok');
  const expired = await paid(consumer(), quote(1_000_000n, { window: 30 }));
  await database.withClock('1 minute', async () => {
    expect(await redeem(expired.answer)).toBe('settlement_expired');
    expect(await outcome(reserve(expired.settlementId, null))).toBe('ok');
  });
});

test('a reservation of the full net blocks redeem until a part is released; a redeemed settlement stays redeemed', async () => {
  const { settlementId, answer } = await paid();
  const [one, rest] = [newId('ref'), newId('ref')];
  await reserve(settlementId, NET - 1n, { refund_id: one });
  await reserve(settlementId, 1n, { refund_id: rest });
  expect(await redeem(answer)).toBe('conflict');
  await release(rest);
  expect(await redeem(answer)).toBe('ok');
  expect(await outcome(reserve(settlementId, null))).toBe('ok');
  expect(await redeem(answer)).toBe('ok');
});

test('a reservation is released once, however often release is called; a release before the reservation prevents it', async () => {
  const { settlementId } = await paid();
  const [refund_id, early] = [newId('ref'), newId('ref')];
  await reserve(settlementId, 400_000n, { refund_id });
  await reserve(settlementId, 100_000n);
  await Promise.all(Array.from({ length: 16 }, () => release(refund_id)));
  expect(await reserved(settlementId)).toBe('100000');
  expect(await outcome(reserve(settlementId, 400_000n, { refund_id }))).toBe('conflict');
  await release(early);
  expect(await outcome(reserve(settlementId, 1n, { refund_id: early }))).toBe('conflict');
  expect(await reserved(settlementId)).toBe('100000');
});

test('64 concurrent refunds of a sixteenth of the net: 16 are reserved', async () => {
  const { settlementId } = await paid();
  const amount = NET / 16n;
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, () => outcome(reserve(settlementId, amount))),
  );
  expect(outcomes.filter((each) => each === 'ok')).toHaveLength(16);
  expect(new Set(outcomes)).toEqual(new Set(['ok', 'conflict']));
  expect(await reserved(settlementId)).toBe(`${amount * 16n}`);
});

test('64 concurrent calls of one refund make one reservation', async () => {
  const { settlementId } = await paid();
  const refund_id = newId('ref');
  const outcomes = await Promise.all(
    Array.from({ length: 64 }, () => outcome(reserve(settlementId, 10_000n, { refund_id }))),
  );
  expect(new Set(outcomes)).toEqual(new Set(['ok']));
  expect(await reserved(settlementId)).toBe('10000');
});

test('32 pairs of a concurrent redeem and refund of the full net: no redeem succeeds after its refund', async () => {
  const all = await Promise.all(Array.from({ length: 32 }, () => paid()));
  const ends = await Promise.all(
    all.map(async ({ settlementId, answer }) => {
      const [redeemed, refunded] = await Promise.all([
        redeem(answer),
        outcome(reserve(settlementId, null, { by: SERVICE })),
      ]);
      // A refund is possible before and after a redeem, a redeem only before a refund.
      expect(refunded).toBe('ok');
      return redeemed;
    }),
  );
  expect(ends.every((end) => end === 'ok' || end === 'conflict')).toBe(true);
  const states = await Promise.all(all.map(({ settlementId }) => rowOf(settlementId)));
  expect(states.map(({ status }) => status)).toEqual(
    ends.map((end) => (end === 'ok' ? 'redeemed' : 'issued')),
  );
});
