import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { webhook } from '../../../shared/contract/index.ts';
import { subscribe } from '../../../shared/events/consume.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitFor, waitUntil } from '../../../test/support/base/wait.ts';
import { expectSoon } from '../../../test/support/fixtures/transactions.ts';
import {
  type Account,
  account,
  admin,
  ask,
  database,
  delegateChanged,
  type Out,
  publishAs,
  refusal,
  replicas,
  startFixture,
  stopFixture,
  testBus,
} from '../../../test/support/fixtures/webhook.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';
import {
  type Answer,
  answer,
  hang,
  type Receiver,
  startReceiver,
} from '../../../test/support/servers/receiver.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';

// A receiver of this process answers within this time also on a busy machine.
beforeAll(() => startFixture({ DELIVERY_TIMEOUT_MS: '5000' }));
afterAll(stopFixture);

let receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.map(({ stop }) => stop()));
  receivers = [];
  // One after another, because one statement for all could deadlock with an insert of deliveries.
  const { rows } = await admin.query<{ endpoint_id: string }>('select endpoint_id from endpoints');
  for (const each of rows)
    await admin.query('delete from endpoints where endpoint_id = $1', [each.endpoint_id]);
  await database.shiftClock('0');
  await clocksReset();
});
/**
 * Waits until both replicas, which read the database's clock once a second, have read it again. A
 * replica whose clock is still days ahead refuses a present sign-in as too old.
 */
const clocksReset = () => {
  const present = account(newId('acct'), Math.floor(Date.now() / 1000));
  const probe = () => refusal(ask('rotateEndpointSecret', present, { endpoint_id: newId('whe') }));
  return waitUntil(async () => (await atOnce(20, probe)).every((answer) => answer.startsWith('not_found')), {
    withinMs: 30_000,
  });
};
const receiver = async (behave: Answer): Promise<Receiver> => {
  const started = await startReceiver(behave);
  receivers.push(started);
  return started;
};

type Endpoint = Out<'createEndpoint'>;
const endpointAt = (who: Account, { url }: { url: string }, more: object = {}): Promise<Endpoint> =>
  ask('createEndpoint', who, { url, ...more });
const publishFor = (who: Account) => publishAs('identity.delegateChanged', delegateChanged(who.account_id));
const log = async (who: Account, { endpoint_id }: { endpoint_id: string }) =>
  (await ask('listDeliveries', who, { endpoint_id, limit: '100' })).data;
const briefly = async (who: Account, endpoint: Endpoint) =>
  (await log(who, endpoint)).map(({ status, attempts }) => [
    status,
    ...attempts.map(({ status_code, error }) => `${status_code ?? ''} ${error ?? 'accepted'}`.trim()),
  ]);
const read = (who: Account, { endpoint_id }: Endpoint) => ask('getEndpoint', who, { endpoint_id });
/**
 * Positions of the clock at which attempts 2 to 8 are due, whatever their jitter was. Each position
 * is farther from the one before than the delay of the attempt.
 */
const TRIES = ['6 seconds', '6 minutes', '40 minutes', '3 hours', '12 hours', '35 hours', '80 hours'];

test('each kind of receiver gets the expected attempts of one event within three days', async () => {
  const others = await receiver(answer(200));
  const gone = await receiver(hang);
  await gone.stop();
  receivers = receivers.filter((each) => each !== gone);
  let calls = 0;
  const behaviours: [string, Answer | Receiver][] = [
    ['accepts it', answer(204)],
    ['fails twice', (response) => void response.writeHead(++calls > 2 ? 200 : 503).end()],
    ['fails (500)', answer(500, {}, 'oops')],
    ['hangs', hang],
    ['redirects', answer(302, { location: others.url })],
    ['refuses the connection', gone],
    ['is gone (410)', answer(410)],
  ];
  const cases = await Promise.all(
    behaviours.map(async ([name, behave]) => {
      const who = account();
      const target = typeof behave === 'function' ? await receiver(behave) : behave;
      return { name, who, target, endpoint: await endpointAt(who, target) };
    }),
  );
  await Promise.all(cases.map(({ who }) => publishFor(who)));
  const failing = cases.filter(({ name }) => !/^accepts|^is gone|twice/.test(name));
  const triesOf = () =>
    Promise.all(failing.map(async ({ who, endpoint }) => (await log(who, endpoint))[0]?.attempts.length));
  // The second attempt is due after some five seconds, so it may not wait for the clock.
  const haveTried = (times: number) =>
    waitFor(triesOf, (tries) => tries.every((count) => count !== undefined && count >= times));
  for (const [index, passed] of TRIES.entries()) {
    await haveTried(index + 1);
    await database.shiftClock(passed);
  }
  await haveTried(8);
  await database.shiftClock('1000 hours');
  const outcomes = await Promise.all(
    cases.map(async ({ name, who, target, endpoint }) => {
      const [status, ...attempts] = (await briefly(who, endpoint))[0]!;
      const { disabled_reason } = await read(who, endpoint);
      return [name, target.received.length, status, tally(attempts), disabled_reason];
    }),
  );
  expect(outcomes).toEqual([
    ['accepts it', 1, 'delivered', { '204 accepted': 1 }, null],
    ['fails twice', 3, 'delivered', { '503 status': 2, '200 accepted': 1 }, null],
    ['fails (500)', 8, 'failed', { '500 status': 8 }, null],
    ['hangs', 8, 'failed', { timeout: 8 }, null],
    ['redirects', 8, 'failed', { '302 redirect': 8 }, null],
    ['refuses the connection', 0, 'failed', { unreachable: 8 }, null],
    ['is gone (410)', 1, 'pending', { '410 status': 1 }, 'gone'],
  ]);
  expect(others.connections()).toBe(0);
  console.info(
    [
      'deliveries of one event:',
      ...outcomes.map((row) => `  ${row.map((cell) => JSON.stringify(cell)).join('  ')}`),
    ].join('\n'),
  );
});

test('two replicas deliver 200 events once each, with the event’s id and a signature that the library verifies', async () => {
  const who = account();
  const target = await receiver(answer(200));
  const endpoint = await endpointAt(who, target);
  await atOnce(200, () => publishFor(who));
  await expectSoon(async () => target.received.length, 200);
  const library = new Webhook(endpoint.secret);
  const ids = target.received.map(
    ({ body, headers }) => (library.verify(body, headers) as { id: string }).id,
  );
  expect(new Set(ids).size).toBe(200);
  const [first] = target.received;
  const event = await ask('getEvent', who, { event_id: ids[0]! });
  expect(JSON.parse(first!.body)).toEqual({
    id: event.event_id,
    type: 'delegate.updated',
    timestamp: event.created_at,
    data: event.data,
  });
  expect(first!.headers).toMatchObject({
    'webhook-id': event.event_id,
    'content-type': 'application/json',
    'user-agent': 'Quittance-Webhooks/1',
  });
  // Another secret or another body makes the signature invalid.
  expect(() => new Webhook(`whsec_${'A'.repeat(43)}=`).verify(first!.body, first!.headers)).toThrow();
  expect(() => library.verify(`${first!.body} `, first!.headers)).toThrow();
});

test('a receiver that hangs with a backlog gets few permits and delays no other receiver', async () => {
  const [slow, fast] = [account(), account()];
  const [hanging, quick] = [await receiver(hang), await receiver(answer(200))];
  await endpointAt(slow, hanging);
  await endpointAt(fast, quick);
  await atOnce(100, () => publishFor(slow));
  await expectSoon(async () => hanging.received.length >= 4, true);
  await atOnce(50, () => publishFor(fast));
  await expectSoon(async () => quick.received.length, 50);
  expect(hanging.received.length).toBeLessThan(50);
  // Four permits of each of the two replicas, until it fails.
  expect(hanging.mostAtOnce()).toBeLessThanOrEqual(8);
});

test('deleting an endpoint while a failure is recorded does not deadlock', async () => {
  const who = account();
  let refuse = () => {};
  const target = await receiver((response) => {
    refuse = () => void response.writeHead(500).end();
  });
  const { endpoint_id } = await endpointAt(who, target);
  await publishFor(who);
  await expectSoon(async () => target.received.length, 1);
  const waiting = () => waitingForLocks(admin);
  const other = await admin.connect();
  await other.query('begin');
  await other.query('select from deliveries where endpoint_id = $1 for update', [endpoint_id]);
  refuse();
  await expectSoon(waiting, 1);
  const deleted = ask('deleteEndpoint', who, { endpoint_id });
  await expectSoon(waiting, 2);
  await other.query('rollback');
  other.release();
  expect(await deleted).toBeNull();
});

test('the previous secret also signs for 24 hours after a rotation, until the next rotation', async () => {
  const who = account();
  const target = await receiver(answer(200));
  const { endpoint_id, secret: first } = await endpointAt(who, target);
  const next = async () => {
    const before = target.received.length;
    await publishFor(who);
    await expectSoon(async () => target.received.length, before + 1);
    return target.received.at(-1)!;
  };
  const accepts = ({ body, headers }: Receiver['received'][number], secrets: string[]) =>
    secrets.map((secret) => {
      try {
        new Webhook(secret).verify(body, headers);
        return true;
      } catch {
        return false;
      }
    });
  expect(accepts(await next(), [first])).toEqual([true]);
  const { secret: second, previous_secret_expires_at } = await ask('rotateEndpointSecret', who, {
    endpoint_id,
  });
  expect(Date.parse(previous_secret_expires_at) - Date.now()).toBeGreaterThan(23.9 * 3600_000);
  expect(accepts(await next(), [first, second])).toEqual([true, true]);
  const { secret: third } = await ask('rotateEndpointSecret', who, { endpoint_id });
  const both = await next();
  expect(accepts(both, [first, second, third])).toEqual([false, true, true]);
  expect(both.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  // The overlap is ended by its column and not by the clock, because the library refuses a
  // signature of another day. Only this endpoint is updated, because an update of all could
  // deadlock with deliveries of other tests.
  await admin.query(
    `update endpoints set previous_secret_expires_at = public.app_now() - interval '1 second' where endpoint_id = $1`,
    [endpoint_id],
  );
  const single = await next();
  expect(accepts(single, [first, second, third])).toEqual([false, false, true]);
  expect(single.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  expect((await read(who, { endpoint_id } as Endpoint)).previous_secret_expires_at).toBeNull();
});

test('secrets are stored encrypted, bound to their endpoint, and in no log', async () => {
  const who = account();
  const target = await receiver(answer(200));
  const [mine, other] = [
    await endpointAt(who, target),
    await endpointAt(who, target, { event_types: ['key.*'] }),
  ];
  const { rows } = await admin.query('select secret from endpoints');
  for (const { secret } of rows as { secret: string }[]) expect(secret).toMatch(/^eyJ[\w-]+\.\.[\w.-]+$/);
  expect(JSON.stringify(rows)).not.toContain(mine.secret.slice(6));
  await admin.query(
    `update endpoints set secret = (select secret from endpoints where endpoint_id = $1) where endpoint_id = $2`,
    [other.endpoint_id, mine.endpoint_id],
  );
  await publishFor(who);
  await expectSoon(
    async () => (await admin.query('select tries from deliveries where leased_until is not null')).rowCount,
    1,
  );
  expect(target.received).toEqual([]);
  const output = () => replicas.map((replica) => replica.output()).join('');
  await expectSoon(async () => output().includes('the secret belongs to another endpoint'), true);
  const logs = output();
  for (const { secret } of [mine, other]) expect(logs).not.toContain(secret.slice(6, 30));
});

test('five days of failures disable an endpoint and publish an event; enabled again it gets the pending deliveries', async () => {
  const who = account();
  let works = false;
  const target = await receiver((response) => void response.writeHead(works ? 200 : 500).end());
  const endpoint = await endpointAt(who, target);
  const events: unknown[] = [];
  const subscription = subscribe(
    await testBus.as('identity'),
    webhook,
    {
      endpointDisabled: async (event) => {
        if (event.account_id === who.account_id) events.push(event);
      },
    },
    async () => {},
  );
  await publishFor(who);
  await expectSoon(async () => (await log(who, endpoint))[0]?.attempts.length, 1);
  expect((await read(who, endpoint)).failing_since).not.toBeNull();
  await database.shiftClock('119 hours');
  await expectSoon(async () => (await log(who, endpoint))[0]?.attempts.length, 2);
  expect((await read(who, endpoint)).enabled).toBe(true);
  await publishFor(who);
  await expectSoon(async () => (await log(who, endpoint)).length, 2);
  await database.shiftClock('121 hours');
  await expectSoon(async () => (await read(who, endpoint)).disabled_reason, 'failing');
  await expectSoon(
    async () => events,
    [
      expect.objectContaining({
        account_id: who.account_id,
        endpoint_id: endpoint.endpoint_id,
        host: new URL(target.url).host,
        reason: 'failing',
      }),
    ],
  );
  await subscription.stop();
  // From now on no event is addressed or sent to it.
  const before = target.received.length;
  await publishFor(who);
  await expectSoon(async () => (await ask('listEvents', who, { limit: '100' })).data.length, 3);
  await database.shiftClock('160 hours');
  expect((await log(who, endpoint)).length).toBe(2);
  expect(target.received.length).toBe(before);

  works = true;
  await ask('updateEndpoint', who, { endpoint_id: endpoint.endpoint_id, enabled: true });
  await expectSoon(
    async () => (await log(who, endpoint)).map(({ status }) => status),
    ['delivered', 'delivered'],
  );
  expect(await read(who, endpoint)).toMatchObject({
    enabled: true,
    disabled_reason: null,
    failing_since: null,
  });
});

test('a redelivery sends one event or all since a time again, including events the endpoint never got', async () => {
  const who = account();
  const target = await receiver(answer(200));
  await publishFor(who);
  await expectSoon(async () => (await ask('listEvents', who)).data.length, 1);
  const [missed] = (await ask('listEvents', who)).data;
  const endpoint = await endpointAt(who, target);
  const { endpoint_id } = endpoint;
  await publishFor(who);
  const { name: _, wallet_id: __, expires_at: ___, ...changed } = delegateChanged(who.account_id);
  await publishAs('identity.keyChanged', {
    ...changed,
    change: 'rotated',
    service_id: null,
    previous_key_expires_at: null,
  });
  await expectSoon(async () => target.received.length, 2);
  await ask('updateEndpoint', who, { endpoint_id, event_types: ['delegate.*'] });
  const since = missed!.created_at;
  expect(await ask('redeliver', who, { endpoint_id, since })).toEqual({ redelivering: 2 });
  await expectSoon(async () => target.received.length, 4);
  const times = tally(target.received.map(({ headers }) => headers['webhook-id']));
  expect([times[missed!.event_id], ...Object.values(times).sort()]).toEqual([1, 1, 1, 2]);
  const [key] = (await ask('listEvents', who, { type: 'key.rotated' })).data;
  expect(await ask('redeliver', who, { endpoint_id, event_id: key!.event_id })).toEqual({ redelivering: 1 });
  await expectSoon(async () => target.received.length, 5);
  expect(target.received.at(-1)!.headers['webhook-id']).toBe(key!.event_id);
  expect((await log(who, endpoint)).map(({ attempts }) => attempts.length)).toEqual(
    expect.arrayContaining([2, 2, 1]),
  );
});

test('a test event is delivered to its endpoint only, whatever it subscribes to', async () => {
  const who = account();
  const [tested, other] = [await receiver(answer(200)), await receiver(answer(200))];
  const { endpoint_id } = await endpointAt(who, tested, { event_types: ['refund.*'] });
  await endpointAt(who, other);
  const event = await ask('testEndpoint', who, { endpoint_id });
  expect(event).toMatchObject({ type: 'webhook.test', object_id: endpoint_id, data: { endpoint_id } });
  await expectSoon(async () => tested.received.length, 1);
  expect(JSON.parse(tested.received[0]!.body)).toMatchObject({ id: event.event_id, type: 'webhook.test' });
  expect(other.received).toEqual([]);
});
