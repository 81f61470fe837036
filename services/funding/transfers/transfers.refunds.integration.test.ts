import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signedByOwner } from '../../../test/support/chain-stand-in.ts';
import {
  type Account,
  FRESH,
  type FundingFixture,
  startFundingFixture,
  type Vendor,
} from '../../../test/support/funding.ts';

type Refund = {
  refund_id: string;
  status: string;
  amount: string;
  tx_hash: string | null;
  created_at: string;
  pending_until: string;
  transaction?: string;
  expires_at?: string;
};

const NET = '990000';
let fixture: FundingFixture;
let ada: Account;
let vendor: Vendor;
beforeAll(async () => {
  fixture = await startFundingFixture();
}, 60_000);
afterAll(async () => {
  expect(await fixture.stop()).toEqual([0, 0]);
});
beforeEach(() => {
  Object.assign(fixture.chain.outcomes, { transfer: 'confirmed', settle: 'confirmed' });
  ada = fixture.account(100_000_000n);
  vendor = fixture.vendor();
});

const ask = <T = Refund>(who: Principal, operation: string, input: object): Promise<T> =>
  fixture.as<T>({ ...who }, 'funding', operation, input);
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const create = (settlement_id: string, rest: object = {}, who: Principal = vendor) =>
  ask(who, 'createRefund', { settlement_id, ...rest });
const submit = ({ refund_id, transaction }: Refund, who: Principal = vendor) =>
  ask(who, 'submitRefund', { refund_id, transaction: signedByOwner(transaction!) });
const afresh = ({ refund_id }: Refund) => ask(vendor, 'submitRefund', { refund_id });
const cancel = ({ refund_id }: Refund, who: Principal = vendor) => ask(who, 'cancelRefund', { refund_id });
const get = ({ refund_id }: Refund, who: Principal = vendor) => ask(who, 'getRefund', { refund_id });
/** The vendor's owner, signed in. */
const owner = (): Principal => ({
  kind: 'jwt',
  account_id: vendor.account_id,
  session_id: 's',
  auth_time: FRESH,
});
const until = async <T>(read: () => Promise<T>, good: (value: T) => boolean): Promise<T> => {
  for (let i = 0; i < 400; i += 1) {
    const value = await read();
    if (good(value)) return value;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error('did not come about');
};

test('a part and then the rest: reserved, signed by the payout address, given back; the fee is not', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const before = fixture.chain.account(ada.owner).balance;
  const first = await create(settlement_id, { amount: '400000', reason: 'half of it was late' });
  expect(first).toMatchObject({
    status: 'pending_signature',
    settlement_id,
    service_id: vendor.service_id,
    amount: '400000',
    reason: 'half of it was late',
    payout_address: vendor.payout,
    destination_address: ada.owner,
  });
  expect(Date.parse(first.pending_until) - Date.parse(first.created_at)).toBe(24 * 3_600_000);
  const rest = await create(settlement_id);
  expect(rest.amount).toBe('590000');
  const [one, again] = await Promise.all([submit(first), submit(first)]);
  expect(one).toMatchObject({ status: 'confirmed', tx_hash: expect.any(String) });
  expect(again).toEqual(one);
  expect((await submit(rest)).status).toBe('confirmed');
  expect(fixture.chain.account(ada.owner).balance - before).toBe(990_000n);
  expect(fixture.chain.account(vendor.payout).balance).toBe(0n);
  expect(await codeOf(create(settlement_id, { amount: '1' }))).toBe('conflict');
  expect(await fixture.reserved(settlement_id)).toBe(NET);
  expect(await fixture.toldOf(first.refund_id, 'confirmed')).toEqual(['confirmed']);
});

test.each<[string, object, string]>([
  ['the net', { amount: NET }, 'ok'],
  ['one unit', { amount: '1' }, 'ok'],
  ['one unit more than the net', { amount: '990001' }, 'conflict'],
  ['nothing', { amount: '0' }, 'validation_error'],
  ['less than nothing', { amount: '-1' }, 'validation_error'],
  ['a number', { amount: 5 }, 'validation_error'],
  ['a reason with a line break', { reason: 'a\nb' }, 'validation_error'],
  ['a payout address in the body', { payout_address: 'x' }, 'validation_error'],
])('to the edge: %s', async (_name, input, expected) => {
  const settlement_id = await fixture.paid(ada, vendor);
  expect(await codeOf(create(settlement_id, input))).toBe(expected);
  if (expected !== 'ok') expect(await fixture.reserved(settlement_id)).toBe('0');
});

test('of a foreign, a pending, a failed settlement: nothing', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  expect(await codeOf(create(settlement_id, {}, fixture.vendor()))).toBe('not_found');
  expect(await codeOf(create(settlement_id, {}, { ...vendor, service_id: newServiceId() }))).toBe(
    'not_found',
  );
  // Who paid is not who may give back.
  expect(await codeOf(create(settlement_id, {}, ada))).toBe('not_found');
  expect(await codeOf(create(newId('stl')))).toBe('not_found');
  fixture.chain.outcomes.settle = 'silent';
  expect(await codeOf(create(await fixture.paid(ada, vendor)))).toBe('conflict');
  fixture.chain.outcomes.settle = 'failed';
  const { rows } = await fixture.admin.query(
    "select settlement_id from settlement.settlements where status = 'pending' limit 1",
  );
  await fixture.chain.tell('settleProgressed', rows[0].settlement_id, 'failed', '5'.repeat(80));
  await until(
    () => codeOf(create(rows[0].settlement_id)),
    (code) => code === 'conflict',
  );
  expect(await fixture.reserved(settlement_id)).toBe('0');
});

test('64 at once of a net that holds 16 of them: 16, and never more than the net', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const verdicts = await Promise.all(
    Array.from({ length: 64 }, () => create(settlement_id, { amount: '61875' }).catch((error) => error.code)),
  );
  const made = verdicts.filter((verdict): verdict is Refund => typeof verdict === 'object');
  expect(made).toHaveLength(16);
  expect(new Set(verdicts.filter((verdict) => typeof verdict === 'string'))).toEqual(new Set(['conflict']));
  expect(await fixture.reserved(settlement_id)).toBe(NET);
  const paid = await Promise.all(made.map((refund) => submit(refund)));
  expect(new Set(paid.map(({ status }) => status))).toEqual(new Set(['confirmed']));
  expect(fixture.chain.account(vendor.payout).balance).toBe(0n);
});

test('cancelled: what was reserved is free again, and nothing of it can be submitted', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id);
  const cancelled = await cancel(refund);
  expect(cancelled.status).toBe('cancelled');
  expect(await fixture.reserved(settlement_id)).toBe('0');
  expect(await cancel(refund)).toEqual(cancelled);
  expect(await codeOf(submit(refund))).toBe('conflict');
  expect(await codeOf(afresh(refund))).toBe('conflict');
  expect((await submit(await create(settlement_id))).status).toBe('confirmed');
});

test('failed on chain and expired: released by the job', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  fixture.chain.outcomes.transfer = 'failed';
  const refund = await create(settlement_id, { amount: '10' });
  expect(await codeOf(submit(refund))).toBe('payment_failed');
  expect(await fixture.toldOf(refund.refund_id, 'failed')).toEqual(['failed']);
  await until(
    () => fixture.reserved(settlement_id),
    (reserved) => reserved === '0',
  );
  const late = await create(settlement_id, { amount: '10' });
  await fixture.database.withClock('24 hours 1 second', async () => {
    expect((await get(late)).status).toBe('expired');
    expect(await codeOf(submit(late))).toBe('conflict');
    await until(
      () => fixture.reserved(settlement_id),
      (reserved) => reserved === '0',
    );
  });
});

test('a vendor whose balance is too small: told at once, and nothing stays reserved', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  fixture.chain.account(vendor.payout).balance = 5n;
  expect(await codeOf(create(settlement_id))).toBe('insufficient_funds');
  expect(await fixture.reserved(settlement_id)).toBe('0');
  expect(await codeOf(create(settlement_id, { amount: '5' }))).toBe('ok');
});

test('what a crash left between row and reservation is given back', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id, { amount: '10' });
  await fixture.admin.query("update funding.refunds set status = 'new' where refund_id = $1", [
    refund.refund_id,
  ]);
  expect(await codeOf(get(refund))).toBe('not_found');
  await fixture.database.withClock('61 seconds', () =>
    until(
      () => fixture.reserved(settlement_id),
      (reserved) => reserved === '0',
    ),
  );
  const { rows } = await fixture.admin.query('select from funding.refunds where refund_id = $1', [
    refund.refund_id,
  ]);
  expect(rows).toEqual([]);
});

test('a payment that is forked away before the refund is submitted is not given back', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id);
  const chain = async (status: string) => {
    await fixture.admin.query(
      'update settlement.settlements set chain_status = $2 where settlement_id = $1',
      [settlement_id, status],
    );
  };
  await chain('pending');
  expect([await codeOf(submit(refund)), await codeOf(afresh(refund))]).toEqual(['conflict', 'conflict']);
  await chain('finalized');
  expect((await submit(refund)).status).toBe('confirmed');
});

test('who sees it: the service, the vendor’s owner, the payer; who acts: the vendor alone', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id, { amount: '10' }, owner());
  const { transaction: _, expires_at: __, ...shown } = refund;
  const stranger = fixture.account();
  for (const who of [vendor, owner(), ada]) {
    expect(await get(refund, who)).toEqual(shown);
    const list = await ask<{ data: Refund[] }>(who, 'listRefunds', { settlement_id });
    expect(list.data).toEqual([shown]);
  }
  for (const who of [stranger, fixture.vendor(), { ...vendor, service_id: newServiceId() }]) {
    expect(await codeOf(get(refund, who))).toBe('not_found');
    expect((await ask<{ data: Refund[] }>(who, 'listRefunds', {})).data).toEqual([]);
  }
  for (const who of [ada, stranger, fixture.vendor()]) {
    expect(await codeOf(submit(refund, who))).toBe('not_found');
    expect(await codeOf(cancel(refund, who))).toBe('not_found');
  }
  expect((await submit(refund, owner())).status).toBe('confirmed');
});
