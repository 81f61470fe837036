import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { connectPool } from '../../../shared/db/pool.ts';
import { expectSoon } from '../../../test/support/fixtures/transactions.ts';
import {
  account,
  admin,
  ask,
  database,
  delegateChanged,
  HASH,
  payment,
  publishAs,
  refusal,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/webhook.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';
import { purge } from './purge.ts';

beforeAll(() => startFixture());
afterAll(stopFixture);

const typesOf = async (who: ReturnType<typeof account>) =>
  (await ask('listEvents', who, { limit: '100' })).data.map(({ type }) => type).sort();

test('events that are published eight times, late and in any order are one event for each account', async () => {
  const [payer, vendor] = [account(), account()];
  const paid = payment(payer.account_id, vendor.account_id);
  const at = new Date().toISOString();
  const scope = null;
  const publishAll = () =>
    Promise.all([
      publishAs('settlement.redeemed', { ...paid, scope, redeemed_at: at, redeem_id: null }),
      publishAs('settlement.finalized', { ...paid, scope, tx_hash: HASH }),
      publishAs('settlement.issued', { ...paid, scope, tx_hash: HASH, issued_at: at }),
      publishAs('settlement.accepted', paid),
    ]);
  await atOnce(8, publishAll);
  const toPayer = ['settlement.finalized', 'settlement.issued', 'settlement.redeemed'];
  await expectSoon(() => typesOf(payer), toPayer);
  await expectSoon(() => typesOf(vendor), ['quote.settled', 'quote.settling', ...toPayer]);
  // The stream no longer recognises the repeats: everything is published again days later.
  await database.withClock('6 days', async () => {
    await publishAll();
    const last = delegateChanged(payer.account_id);
    await publishAs('identity.delegateChanged', last);
    await expectSoon(() => typesOf(payer), ['delegate.updated', ...toPayer]);
  });
  expect(await typesOf(vendor)).toEqual(['quote.settled', 'quote.settling', ...toPayer]);
});

test('events are listed newest first, by type, by object and with a cursor, to their account only', async () => {
  const [who, other] = [account(), account()];
  const events = Array.from({ length: 5 }, () => delegateChanged(who.account_id));
  for (const [index, event] of events.entries()) {
    await publishAs('identity.delegateChanged', event);
    await expectSoon(async () => (await ask('listEvents', who)).data.length, index + 1);
  }
  const all = await ask('listEvents', who);
  expect(all.data.map(({ object_id }) => object_id)).toEqual(
    events.map(({ delegate_id }) => delegate_id).reverse(),
  );
  const first = await ask('listEvents', who, { limit: '2' });
  const second = await ask('listEvents', who, { limit: '2', cursor: first.next_cursor! });
  const third = await ask('listEvents', who, { limit: '2', cursor: second.next_cursor! });
  expect([...first.data, ...second.data, ...third.data]).toEqual(all.data);
  expect(third.next_cursor).toBeNull();
  const [newest] = all.data;
  expect((await ask('listEvents', who, { object_id: newest!.object_id })).data).toEqual([newest]);
  expect((await ask('listEvents', who, { type: 'key.rotated' })).data).toEqual([]);
  expect(await ask('getEvent', who, { event_id: newest!.event_id })).toEqual(newest);

  expect((await ask('listEvents', other)).data).toEqual([]);
  expect(await refusal(ask('getEvent', other, { event_id: newest!.event_id }))).toMatch(/^not_found/);
  for (const more of [{ cursor: first.next_cursor! }, { cursor: 'x' }])
    expect(await refusal(ask('listEvents', other, more))).toMatch(/^validation_error/);
  expect(await refusal(ask('listEvents', who, { object_id: 'stl_\0' }))).toMatch(/^validation_error/);
  expect(await refusal(ask('listEvents', who, { cursor: first.next_cursor!, type: 'key.rotated' }))).toMatch(
    /^validation_error/,
  );
});

test('payer and vendor share an event, each sees its own data, and the other one keeps it when one is erased', async () => {
  const [payer, vendor] = [account(), account()];
  const [first, second] = [
    payment(payer.account_id, vendor.account_id),
    payment(vendor.account_id, payer.account_id),
  ];
  for (const each of [first, second])
    await publishAs('settlement.redeemed', {
      ...{ ...each, scope: null, redeemed_at: new Date().toISOString(), redeem_id: 'r' },
    });
  const eventsOf = async (who: ReturnType<typeof account>) => (await ask('listEvents', who)).data;
  await expectSoon(async () => (await eventsOf(payer)).length, 2);
  const [toPayer, toVendor] = [await eventsOf(payer), await eventsOf(vendor)];
  expect(toPayer.map(({ event_id }) => event_id)).toEqual(toVendor.map(({ event_id }) => event_id));
  const paid = toPayer.find(({ object_id }) => object_id === first.settlement_id)!;
  const sold = toVendor.find(({ object_id }) => object_id === first.settlement_id)!;
  expect(paid.data).toMatchObject({ role: 'payer', wallet_id: first.wallet_id });
  expect(paid.data).not.toHaveProperty('redeem_id');
  expect(sold.data).toMatchObject({ role: 'vendor', redeem_id: 'r' });
  expect(sold.data).not.toHaveProperty('wallet_id');
  expect(await ask('getEvent', vendor, { event_id: sold.event_id })).toEqual(sold);
  expect(await ask('getEvent', payer, { event_id: sold.event_id })).toEqual(paid);
  expect(await refusal(ask('getEvent', account(), { event_id: sold.event_id }))).toMatch(/^not_found/);

  await publishAs('identity.accountErased', { account_id: payer.account_id, at: new Date().toISOString() });
  await expectSoon(async () => (await eventsOf(payer)).length, 0);
  expect(await eventsOf(vendor)).toEqual(toVendor);
});

test('an event of a later version is left out of lists, and has no view yet', async () => {
  const who = account();
  const events = Array.from({ length: 4 }, () => delegateChanged(who.account_id));
  for (const [index, event] of events.entries()) {
    await publishAs('identity.delegateChanged', event);
    await expectSoon(async () => (await ask('listEvents', who)).data.length, index + 1);
  }
  const { data: all } = await ask('listEvents', who);
  const change = (event_id: string, type: string) =>
    admin.query('update events set type = $2 where event_id = $1', [event_id, type]);
  const [newest, second, third, oldest] = all.map(({ event_id }) => event_id) as [
    string,
    string,
    string,
    string,
  ];
  await change(second, 'delegate.later');
  expect((await ask('listEvents', who)).data).toEqual(all.filter(({ event_id }) => event_id !== second));
  const first = await ask('listEvents', who, { limit: '2' });
  expect(first.data).toEqual([all[0], all[2]]);
  expect(await ask('listEvents', who, { limit: '2', cursor: first.next_cursor! })).toEqual({
    data: [all[3]],
    next_cursor: null,
  });
  for (const id of [newest, third]) await change(id, 'delegate.later');
  // Nothing that this version knows says where the next page begins.
  expect(await refusal(ask('listEvents', who, { limit: '2' }))).toMatch(/^service_unavailable/);
  expect((await ask('listEvents', who)).data).toEqual([all[3]]);
  await change(oldest, 'delegate.later');
  expect(await ask('listEvents', who)).toEqual({ data: [], next_cursor: null });
  expect(await refusal(ask('getEvent', who, { event_id: oldest }))).toMatch(/^service_unavailable/);
});

test('events are purged after 30 days', async () => {
  const who = account();
  await publishAs('identity.delegateChanged', delegateChanged(who.account_id));
  await expectSoon(async () => (await ask('listEvents', who)).data.length, 1);
  const pool = await connectPool(database.url('webhook'), { max: 1 });
  await database.withClock('29 days', purge({ pool }));
  expect((await ask('listEvents', who)).data.length).toBe(1);
  await database.withClock('31 days', purge({ pool }));
  expect((await ask('listEvents', who)).data).toEqual([]);
  await pool.end();
});
