import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { MAX_ENDPOINTS } from '../../../shared/contract/webhook.ts';
import { connectPool } from '../../../shared/db/pool.ts';
import { repeatUntilAnswered } from '../../../test/support/base/repeat-until-answered.ts';
import { collectNotes } from '../../../test/support/fixtures/security-notes.ts';
import { expectSoon } from '../../../test/support/fixtures/transactions.ts';
import {
  account,
  admin,
  ask,
  database,
  delegateChanged,
  publishAs,
  refusal,
  startFixture,
  stopFixture,
  testBus,
} from '../../../test/support/fixtures/webhook.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { purgeSecrets } from './store.ts';

// Private addresses are refused, as in a deployment.
beforeAll(() => startFixture({ ALLOW_PRIVATE_TARGETS: 'false' }));
afterAll(stopFixture);

/** A public address. Nothing is sent to it, because no test publishes an event of its type. */
const url = 'https://1.1.1.1/hook';
const idle = { url, event_types: ['quote.expired'] };

test('an endpoint is created, changed and deleted; its secret is shown once', async () => {
  const who = account();
  const created = await ask('createEndpoint', who, { ...idle, description: 'Orders' });
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

test('the owner hears of a new endpoint, another address, a new secret and a deletion', async () => {
  const notesOf = await collectNotes(testBus, 'webhook');
  const [who, aged] = [account(), account(undefined, 1)];
  const { endpoint_id } = await ask('createEndpoint', who, idle);
  await ask('updateEndpoint', who, { endpoint_id, description: 'Orders' });
  await ask('updateEndpoint', who, { endpoint_id, url: 'https://1.0.0.1/hook' });
  await ask('rotateEndpointSecret', who, { endpoint_id });
  const stale = { ...aged, account_id: who.account_id };
  expect(await refusal(ask('deleteEndpoint', stale, { endpoint_id }))).toMatch(/^reauthentication_required/);
  await ask('deleteEndpoint', who, { endpoint_id });
  const notes = await notesOf(who.account_id, 4);
  expect(notes.map(({ kind, details }) => [kind, details.host])).toEqual([
    ...[
      ['endpoint_created', '1.1.1.1'],
      ['endpoint_changed', '1.0.0.1'],
    ],
    ...[
      ['endpoint_secret_rotated', undefined],
      ['endpoint_deleted', undefined],
    ],
  ]);
});

test('64 concurrent calls with one key make one endpoint and one rotation, and show each secret once', async () => {
  const who = account();
  const made = await atOnce(64, () =>
    repeatUntilAnswered(() => ask('createEndpoint', who, idle, 'endpoint-1')),
  );
  const [{ endpoint_id }] = made as [(typeof made)[number]];
  expect((await ask('listEndpoints', who)).data.map((each) => each.endpoint_id)).toEqual([endpoint_id]);
  expect(tally(made.map((answer) => `${answer.endpoint_id === endpoint_id} ${'secret' in answer}`))).toEqual({
    'true true': 1,
    'true false': 63,
  });
  const rotated = await atOnce(16, () =>
    repeatUntilAnswered(() => ask('rotateEndpointSecret', who, { endpoint_id }, 'rotate-1')),
  );
  expect(tally(rotated.map((answer) => 'secret' in answer))).toEqual({ true: 1, false: 15 });
  const calls = await admin.query('select answer::text from idempotency where account_id = $1', [
    who.account_id,
  ]);
  expect(calls.rows).toHaveLength(2);
  expect(JSON.stringify(calls.rows)).not.toContain('whsec_');
});

test('every operation on an endpoint of another account is refused as not found', async () => {
  const [who, other] = [account(), account()];
  const { endpoint_id } = await ask('createEndpoint', who, idle);
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
  // An event of another account is not delivered to an own endpoint.
  await publishAs('identity.delegateChanged', delegateChanged(other.account_id));
  await expectSoon(async () => (await ask('listEvents', other)).data.length, 1);
  const [event] = (await ask('listEvents', other)).data;
  expect(await refusal(ask('redeliver', who, { endpoint_id, event_id: event!.event_id }))).toBe(
    'not_found: no such event',
  );
});

test('a previous secret is deleted when its overlap has ended', async () => {
  const who = account();
  const { endpoint_id } = await ask('createEndpoint', who, idle);
  await ask('rotateEndpointSecret', who, { endpoint_id });
  const pool = await connectPool(database.url('webhook'), { max: 1 });
  const isStored = async () =>
    (await admin.query('select previous_secret from endpoints where endpoint_id = $1', [endpoint_id])).rows[0]
      .previous_secret !== null;
  await database.withClock('23 hours', () => purgeSecrets(pool));
  expect(await isStored()).toBe(true);
  await database.withClock('25 hours', () => purgeSecrets(pool));
  expect(await isStored()).toBe(false);
  await pool.end();
});

test('of 24 concurrent calls ten create an endpoint; an old sign-in gets no secret and changes no URL', async () => {
  const who = account();
  const answers = await atOnce(24, () => refusal(ask('createEndpoint', who, idle)));
  expect(tally(answers.map((answer) => answer.split(':')[0]))).toEqual({ ok: MAX_ENDPOINTS, conflict: 14 });
  const { endpoint_id } = (await ask('listEndpoints', who)).data[0]!;
  const old = account(who.account_id, Math.floor(Date.now() / 1000) - 360);
  for (const [operation, more] of [
    ['createEndpoint', idle],
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
])('%s is refused for a new endpoint and for an update', async (bad) => {
  const who = account();
  expect(await refusal(ask('createEndpoint', who, { url: bad }))).toMatch(/^validation_error: url/);
  const { endpoint_id } = await ask('createEndpoint', who, idle);
  expect(await refusal(ask('updateEndpoint', who, { endpoint_id, url: bad }))).toMatch(
    /^validation_error: url/,
  );
});

test.each<object>([
  {},
  { since: '2026-02-31T00:00:00Z' },
  { since: '0000-01-01T00:00:00Z' },
  { since: '2026-13-01T00:00:00Z' },
])('a redelivery of %j is refused', async (body) => {
  const who = account();
  const { endpoint_id } = await ask('createEndpoint', who, idle);
  expect(await refusal(ask('redeliver', who, { endpoint_id, ...body }))).toMatch(/^validation_error/);
});

test('neither replica connects to a private address in the table', async () => {
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
