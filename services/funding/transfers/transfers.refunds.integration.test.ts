import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import type { ReceiptClaims } from '../../../shared/contract/settlement/receipts.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  type Account,
  codeOf,
  FRESH,
  type FundingFixture,
  startFundingFixture,
  type Vendor,
} from '../../../test/support/fixtures/funding.ts';
import { signedByOwner } from '../../../test/support/stand-ins/chain-stand-in.ts';

type Refund = {
  refund_id: string;
  status: string;
  amount: string;
  tx_hash: string | null;
  created_at: string;
  confirmed_at: string | null;
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
});
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
const create = (settlement_id: string, rest: object = {}, who: Principal = vendor) =>
  ask(who, 'createRefund', { settlement_id, ...rest });
const submit = ({ refund_id, transaction }: Refund, who: Principal = vendor) =>
  ask(who, 'submitRefund', { refund_id, transaction: signedByOwner(transaction!) });
const prepareAgain = ({ refund_id }: Refund) => ask(vendor, 'submitRefund', { refund_id });
const cancel = ({ refund_id }: Refund, who: Principal = vendor) => ask(who, 'cancelRefund', { refund_id });
const get = ({ refund_id }: Refund, who: Principal = vendor) => ask(who, 'getRefund', { refund_id });
/** The owner of the vendor's account, signed in. */
const owner = (): Principal => ({
  kind: 'jwt',
  account_id: vendor.account_id,
  session_id: 's',
  auth_time: FRESH,
});

test('a settlement is refunded in two parts up to its net amount, without the fee', async () => {
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
  expect(await fixture.publishedStatuses(first.refund_id, 'confirmed')).toEqual(['confirmed']);
});

const refundsOfReceipt = async (settlement_id: string) => {
  const answer = await fixture.as<{ claims: ReceiptClaims }>({ ...vendor }, 'settlement', 'getReceipt', {
    settlement_id,
  });
  const { refunds, refund_count, refunded } = answer.claims;
  return { refunds, refund_count, refunded };
};

test('a receipt lists 50 refunds, and has the number and sum of all', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const { refund_id } = await submit(await create(settlement_id, { amount: '1000' }));
  await fixture.admin.query(
    `insert into funding.refunds
     select (jsonb_populate_record(r, jsonb_build_object('refund_id', 'ref_' || lpad(n::text, 26, '0'),
       'status', 'finalized'))).*
     from funding.refunds r, generate_series(1, 60) n where refund_id = $1`,
    [refund_id],
  );
  const { refunds, refund_count, refunded } = await refundsOfReceipt(settlement_id);
  expect([refunds.length, refund_count, refunded]).toEqual([50, 61, '61000']);
});

test('the receipt of the settlement has the refunds that are confirmed, and their sum', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const receipt = () => refundsOfReceipt(settlement_id);
  const first = await create(settlement_id, { amount: '400000' });
  const second = await create(settlement_id, { amount: '1' });
  await cancel(await create(settlement_id, { amount: '2' }));
  expect(await receipt()).toEqual({ refunds: [], refund_count: 0, refunded: '0' });
  const entryOf = ({ refund_id, amount, tx_hash, created_at }: Refund) => ({
    ...{ refund_id, amount, signature: tx_hash, created_at },
    status: expect.stringMatching(/^(confirmed|finalized)$/),
  });
  const one = await submit(first);
  expect(await receipt()).toEqual({ refunds: [entryOf(one)], refund_count: 1, refunded: '400000' });
  const two = await submit(second);
  expect(await receipt()).toEqual({
    refunds: [entryOf(one), entryOf(two)],
    refund_count: 2,
    refunded: '400001',
  });
});

test.each<[string, object, string]>([
  ['the net amount', { amount: NET }, 'ok'],
  ['one micro-unit', { amount: '1' }, 'ok'],
  ['one micro-unit more than the net', { amount: '990001' }, 'conflict'],
  ['an amount of zero', { amount: '0' }, 'validation_error'],
  ['a negative amount', { amount: '-1' }, 'validation_error'],
  ['an amount that is a JSON number', { amount: 5 }, 'validation_error'],
  ['a reason with a line break', { reason: 'a\nb' }, 'validation_error'],
  ['a payout address in the body', { payout_address: 'x' }, 'validation_error'],
])('a refund of a settlement with a net of 990,000: %s', async (_name, input, expected) => {
  const settlement_id = await fixture.paid(ada, vendor);
  expect(await codeOf(create(settlement_id, input))).toBe(expected);
  if (expected !== 'ok') expect(await fixture.reserved(settlement_id)).toBe('0');
});

test('a foreign, a pending and a failed settlement cannot be refunded', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  expect(await codeOf(create(settlement_id, {}, fixture.vendor()))).toBe('not_found');
  expect(await codeOf(create(settlement_id, {}, { ...vendor, service_id: newServiceId() }))).toBe(
    'not_found',
  );
  // The payer may not refund.
  expect(await codeOf(create(settlement_id, {}, ada))).toBe('not_found');
  expect(await codeOf(create(newId('stl')))).toBe('not_found');
  fixture.chain.outcomes.settle = 'silent';
  expect(await codeOf(create(await fixture.paid(ada, vendor)))).toBe('conflict');
  fixture.chain.outcomes.settle = 'failed';
  const { rows } = await fixture.admin.query(
    "select settlement_id from settlement.settlements where status = 'pending' limit 1",
  );
  await fixture.chain.publishProgress('settleProgressed', rows[0].settlement_id, 'failed', '5'.repeat(80));
  await waitFor(
    () => codeOf(create(rows[0].settlement_id)),
    (code) => code === 'conflict',
  );
  expect(await fixture.reserved(settlement_id)).toBe('0');
});

test('of 64 concurrent refunds, as many succeed as fit into the net amount', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const input = { settlement_id, amount: '61875' };
  const createOnce = (key: string): Promise<Refund | string> =>
    fixture.askOnce<Refund>(vendor, 'createRefund', input, { key }).then(
      ({ body }) => body,
      (error: { code: string }) => error.code,
    );
  // On a busy machine some calls time out. Their error asks for the same repeat.
  const results = await Promise.all(
    Array.from({ length: 64 }, (_, at) =>
      waitFor(
        () => createOnce(`k${at}`),
        (result) => result !== 'service_unavailable',
      ),
    ),
  );
  const made = results.filter((result) => typeof result === 'object');
  expect(new Set(results.filter((result) => typeof result === 'string'))).toEqual(new Set(['conflict']));
  expect(made).toHaveLength(16);
  expect(await fixture.reserved(settlement_id)).toBe(NET);
  const paid = await Promise.all(made.map((refund) => submit(refund)));
  expect(new Set(paid.map(({ status }) => status))).toEqual(new Set(['confirmed']));
  expect(fixture.chain.account(vendor.payout).balance).toBe(0n);
});

test('a cancelled refund releases its reservation and can no longer be submitted', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id);
  const cancelled = await cancel(refund);
  expect(cancelled.status).toBe('cancelled');
  expect(await fixture.reserved(settlement_id)).toBe('0');
  expect(await cancel(refund)).toEqual(cancelled);
  expect(await codeOf(submit(refund))).toBe('conflict');
  expect(await codeOf(prepareAgain(refund))).toBe('conflict');
  expect((await submit(await create(settlement_id))).status).toBe('confirmed');
});

test('the reservation of a failed or expired refund is released by the job', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  fixture.chain.outcomes.transfer = 'failed';
  const refund = await create(settlement_id, { amount: '10' });
  expect(await codeOf(submit(refund))).toBe('payment_failed');
  expect(await fixture.publishedStatuses(refund.refund_id, 'failed')).toEqual(['failed']);
  await waitFor(
    () => fixture.reserved(settlement_id),
    (reserved) => reserved === '0',
  );
  const late = await create(settlement_id, { amount: '10' });
  await fixture.database.withClock('24 hours 1 second', async () => {
    expect((await get(late)).status).toBe('expired');
    expect(await codeOf(submit(late))).toBe('conflict');
    await waitFor(
      () => fixture.reserved(settlement_id),
      (reserved) => reserved === '0',
    );
  });
});

test('a refund above the vendor’s balance is refused, and nothing stays reserved', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  fixture.chain.account(vendor.payout).balance = 5n;
  expect(await codeOf(create(settlement_id))).toBe('insufficient_funds');
  expect(await fixture.reserved(settlement_id)).toBe('0');
  expect(await codeOf(create(settlement_id, { amount: '5' }))).toBe('ok');
});

test('the reservation of a refund that a crash left unopened is released', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id, { amount: '10' });
  await fixture.admin.query("update funding.refunds set status = 'new' where refund_id = $1", [
    refund.refund_id,
  ]);
  expect(await codeOf(get(refund))).toBe('not_found');
  await fixture.database.withClock('61 seconds', () =>
    waitFor(
      () => fixture.reserved(settlement_id),
      (reserved) => reserved === '0',
    ),
  );
  const { rows } = await fixture.admin.query('select from funding.refunds where refund_id = $1', [
    refund.refund_id,
  ]);
  expect(rows).toEqual([]);
});

test('a payment that a fork removes before the refund is submitted is not refunded', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id);
  const chain = async (status: string) => {
    await fixture.admin.query(
      `update settlement.settlements set chain_status = $2,
         under_way_since = case when $2 in ('pending', 'confirmed') then created_at end where settlement_id = $1`,
      [settlement_id, status],
    );
  };
  await chain('pending');
  expect([await codeOf(submit(refund)), await codeOf(prepareAgain(refund))]).toEqual([
    'conflict',
    'conflict',
  ]);
  await chain('finalized');
  expect((await submit(refund)).status).toBe('confirmed');
});

test('a refund has the time of its first confirmation, however long it waited', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const refund = await create(settlement_id);
  expect(refund.confirmed_at).toBeNull();
  const confirmed = await fixture.database.withClock('2 hours', () => submit(refund));
  const waited = Date.parse(confirmed.confirmed_at!) - Date.parse(refund.created_at);
  expect(waited).toBeGreaterThan(3_600_000);
  await fixture.database.withClock('3 hours', () =>
    fixture.chain.publishProgress('refundProgressed', refund.refund_id, 'finalized', confirmed.tx_hash!),
  );
  const finalized = await waitFor(
    () => get(refund),
    ({ status }) => status === 'finalized',
  );
  expect(finalized.confirmed_at).toBe(confirmed.confirmed_at);
});

test('an account lists the refunds that it makes apart from those that it receives', async () => {
  const settlement_id = await fixture.paid(ada, vendor);
  const { refund_id } = await create(settlement_id);
  const listed = async (who: Principal, role?: string) =>
    (await ask<{ data: Refund[] }>(who, 'listRefunds', { role })).data.map((each) => each.refund_id);
  expect(await listed(owner(), 'vendor')).toEqual([refund_id]);
  expect(await listed(owner(), 'payer')).toEqual([]);
  expect(await listed(ada, 'payer')).toEqual([refund_id]);
  expect(await listed(ada, 'vendor')).toEqual([]);
  expect(await codeOf(listed(vendor, 'vendor'))).toBe('validation_error');
});

test('the service, the vendor’s owner and the payer see a refund; only the vendor may change it', async () => {
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
