import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_ENDPOINTS } from '../../../shared/contract/webhook.ts';
import { connectPool } from '../../../shared/db/pool.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { expectSoon } from '../../../test/support/transactions.ts';
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
} from '../../../test/support/webhook.ts';
import { purge } from './purge.ts';

// As in a deployment: nothing private may be reached.
beforeAll(() => startFixture({ ALLOW_PRIVATE_TARGETS: 'false' }), 60_000);
afterAll(stopFixture, 60_000);

const typesOf = async (who: ReturnType<typeof account>) =>
  (await ask('listEvents', who, { limit: '100' })).data.map(({ type }) => type).sort();

test('events that come eight times, late and in any order are one event for each account', async () => {
  const [payer, vendor] = [account(), account()];
  const paid = payment(payer.account_id, vendor.account_id);
  const at = new Date().toISOString();
  const publishAll = () =>
    Promise.all([
      publishAs('settlement.redeemed', { ...paid, redeemed_at: at, redeem_id: null }),
      publishAs('settlement.finalized', { ...paid, tx_hash: HASH }),
      publishAs('settlement.issued', { ...paid, tx_hash: HASH, issued_at: at }),
      publishAs('settlement.accepted', paid),
    ]);
  await atOnce(8, publishAll);
  const toPayer = ['settlement.finalized', 'settlement.issued', 'settlement.redeemed'];
  await expectSoon(() => typesOf(payer), toPayer);
  await expectSoon(() => typesOf(vendor), ['quote.settled', 'quote.settling', ...toPayer]);
  // The stream lost what it knew: everything is published once more, days later.
  await database.withClock('6 days', async () => {
    await publishAll();
    const last = delegateChanged(payer.account_id);
    await publishAs('identity.delegateChanged', last);
    await expectSoon(() => typesOf(payer), ['delegate.updated', ...toPayer]);
  });
  expect(await typesOf(vendor)).toEqual(['quote.settled', 'quote.settling', ...toPayer]);
});

test('the pull form: newest first, by type and object, with a cursor; another’s does not exist', async () => {
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

test('events are kept for 30 days', async () => {
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

// ---------- endpoints ----------

/** A public address that nothing is sent to: no event is asked for that happens here. */
const url = 'https://1.1.1.1/hook';
const quiet = { url, event_types: ['quote.expired'] };

test('an endpoint is created, changed and deleted; its secret is shown once', async () => {
  const who = account();
  const created = await ask('createEndpoint', who, { ...quiet, description: 'Orders' });
  const { secret, ...endpoint } = created;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(endpoint).toMatchObject({
    url,
    description: 'Orders',
    event_types: ['quote.expired'],
    enabled: true,
  });
  const { endpoint_id } = endpoint;
  expect(await ask('getEndpoint', who, { endpoint_id })).toEqual(endpoint);
  expect((await ask('listEndpoints', who)).data).toEqual([endpoint]);
  const off = await ask('updateEndpoint', who, { endpoint_id, enabled: false, description: null });
  expect(off).toEqual({ ...endpoint, description: null, enabled: false, disabled_reason: 'owner' });
  expect(await refusal(ask('testEndpoint', who, { endpoint_id }))).toMatch(/^conflict/);
  const since = endpoint.created_at;
  expect(await refusal(ask('redeliver', who, { endpoint_id, since }))).toMatch(/^conflict/);
  expect(await ask('updateEndpoint', who, { endpoint_id, enabled: true, event_types: ['*'] })).toMatchObject({
    enabled: true,
    disabled_reason: null,
    event_types: ['*'],
  });
  expect(await ask('deleteEndpoint', who, { endpoint_id })).toBeNull();
  expect(await refusal(ask('getEndpoint', who, { endpoint_id }))).toMatch(/^not_found/);
});

test('64 calls with one key make one endpoint and one rotation, and show each secret once', async () => {
  const who = account();
  const made = await atOnce(64, () => ask('createEndpoint', who, quiet, 'endpoint-1'));
  const [{ endpoint_id }] = made as [(typeof made)[number]];
  expect((await ask('listEndpoints', who)).data.map((each) => each.endpoint_id)).toEqual([endpoint_id]);
  expect(tally(made.map((answer) => `${answer.endpoint_id === endpoint_id} ${'secret' in answer}`))).toEqual({
    'true true': 1,
    'true false': 63,
  });
  const rotated = await atOnce(16, () => ask('rotateEndpointSecret', who, { endpoint_id }, 'rotate-1'));
  expect(tally(rotated.map((answer) => 'secret' in answer))).toEqual({ true: 1, false: 15 });
  const kept = await admin.query('select answer::text from idempotency where account_id = $1', [
    who.account_id,
  ]);
  expect(kept.rows).toHaveLength(2);
  expect(JSON.stringify(kept.rows)).not.toContain('whsec_');
});

test('another account’s endpoint does not exist, whatever is asked of it', async () => {
  const [who, other] = [account(), account()];
  const { endpoint_id } = await ask('createEndpoint', who, quiet);
  const before = (await admin.query('select * from endpoints where endpoint_id = $1', [endpoint_id])).rows;
  const calls = [
    ['getEndpoint', {}],
    ['updateEndpoint', { enabled: false }],
    ['deleteEndpoint', {}],
    ['rotateEndpointSecret', {}],
    ['listDeliveries', {}],
    ['redeliver', { since: new Date().toISOString() }],
    ['testEndpoint', {}],
  ] as const;
  for (const [operation, more] of calls)
    expect([operation, await refusal(ask(operation, other, { endpoint_id, ...more }))]).toEqual([
      operation,
      'not_found: no such webhook endpoint',
    ]);
  expect((await admin.query('select * from endpoints where endpoint_id = $1', [endpoint_id])).rows).toEqual(
    before,
  );
  // Nor is another's event delivered to one's own.
  await publishAs('identity.delegateChanged', delegateChanged(other.account_id));
  await expectSoon(async () => (await ask('listEvents', other)).data.length, 1);
  const [event] = (await ask('listEvents', other)).data;
  expect(await refusal(ask('redeliver', who, { endpoint_id, event_id: event!.event_id }))).toBe(
    'not_found: no such event',
  );
});

test('a secret is forgotten when its overlap is over', async () => {
  const who = account();
  const { endpoint_id } = await ask('createEndpoint', who, quiet);
  await ask('rotateEndpointSecret', who, { endpoint_id });
  const pool = await connectPool(database.url('webhook'), { max: 1 });
  const kept = async () =>
    (await admin.query('select previous_secret from endpoints where endpoint_id = $1', [endpoint_id])).rows[0]
      .previous_secret !== null;
  await database.withClock('23 hours', purge({ pool }));
  expect(await kept()).toBe(true);
  await database.withClock('25 hours', purge({ pool }));
  expect(await kept()).toBe(false);
  await pool.end();
});

test('of 24 at once ten are created; a sign-in of six minutes ago gets no secret and no other url', async () => {
  const who = account();
  const answers = await atOnce(24, () => refusal(ask('createEndpoint', who, quiet)));
  expect(tally(answers.map((answer) => answer.split(':')[0]))).toEqual({ ok: MAX_ENDPOINTS, conflict: 14 });
  const { endpoint_id } = (await ask('listEndpoints', who)).data[0]!;
  const old = account(who.account_id, Math.floor(Date.now() / 1000) - 360);
  for (const [operation, more] of [
    ['createEndpoint', quiet],
    ['rotateEndpointSecret', { endpoint_id }],
    ['updateEndpoint', { endpoint_id, url: 'https://1.0.0.1/' }],
  ] as const)
    expect([operation, await refusal(ask(operation, old, more))]).toEqual([
      operation,
      expect.stringMatching(/^reauthentication_required/),
    ]);
  expect(await refusal(ask('updateEndpoint', old, { endpoint_id, url, description: 'same url' }))).toBe('ok');
});

test.each([
  'http://1.1.1.1/hook',
  'https://127.0.0.1/hook',
  'https://169.254.169.254/latest/meta-data',
  'https://[::ffff:10.0.0.1]/',
  'https://localhost/',
  'https://name:word@1.1.1.1/',
  'https://1.1.1.1:25/',
  'ftp://1.1.1.1/',
  'https://nowhere.invalid/',
  'not a url',
  'https://1.1.1.1/a\0b',
  ' https://1.1.1.1/hook',
  'https://1.1.1.1/ho\nok',
])('%s is refused when it is saved, and when it is changed to', async (bad) => {
  const who = account();
  expect(await refusal(ask('createEndpoint', who, { url: bad }))).toMatch(/^validation_error: url/);
  const { endpoint_id } = await ask('createEndpoint', who, quiet);
  expect(await refusal(ask('updateEndpoint', who, { endpoint_id, url: bad }))).toMatch(
    /^validation_error: url/,
  );
});

test.each<object>([
  {},
  { since: '2026-02-31T00:00:00Z' },
  { since: '0000-01-01T00:00:00Z' },
  { since: '2026-13-01T00:00:00Z' },
])('redeliver %j is refused', async (body) => {
  const who = account();
  const { endpoint_id } = await ask('createEndpoint', who, quiet);
  expect(await refusal(ask('redeliver', who, { endpoint_id, ...body }))).toMatch(/^validation_error/);
});

test('an address of our own network in the table is not connected to, on either replica', async () => {
  const who = account();
  const { endpoint_id } = await ask('createEndpoint', who, { url });
  await admin.query('update endpoints set url = $1 where endpoint_id = $2', [
    'https://127.0.0.1:4222/',
    endpoint_id,
  ]);
  await atOnce(20, () => publishAs('identity.delegateChanged', delegateChanged(who.account_id)));
  await expectSoon(
    async () => {
      const { data } = await ask('listDeliveries', who, { endpoint_id, limit: '100' });
      return tally(data.map(({ attempts: [first] }) => first?.error));
    },
    { address_refused: 20 },
  );
});
