import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { webhook } from '../../../shared/contract/index.ts';
import { subscribe } from '../../../shared/events/consume.ts';
import { waitingForLocks } from '../../../test/support/database.ts';
import { type Answer, answer, hang, type Receiver, startReceiver } from '../../../test/support/receiver.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';
import { expectSoon } from '../../../test/support/transactions.ts';
import {
  type Account,
  account,
  admin,
  ask,
  database,
  delegateChanged,
  type Out,
  publishAs,
  replicas,
  startFixture,
  stopFixture,
  testBus,
} from '../../../test/support/webhook.ts';

beforeAll(() => startFixture(), 60_000);
afterAll(stopFixture, 60_000);

let receivers: Receiver[] = [];
afterEach(async () => {
  await Promise.all(receivers.map(({ stop }) => stop()));
  receivers = [];
  // One by one: all at once would hold some while it waits for what is addressed to others of them.
  const { rows } = await admin.query<{ endpoint_id: string }>('select endpoint_id from endpoints');
  for (const each of rows)
    await admin.query('delete from endpoints where endpoint_id = $1', [each.endpoint_id]);
  await database.shiftClock('0');
  // Until the replicas have read the clock again: the library refuses what is signed for another
  // day.
  await sleep(1500);
});
const receiver = async (behave: Answer): Promise<Receiver> => {
  const started = await startReceiver(behave);
  receivers.push(started);
  return started;
};

type Endpoint = Out<'createEndpoint'>;
const endpointAt = (who: Account, { url }: { url: string }, more: object = {}): Promise<Endpoint> =>
  ask('createEndpoint', who, { url, ...more });
const happens = (who: Account) => publishAs('identity.delegateChanged', delegateChanged(who.account_id));
const log = async (who: Account, { endpoint_id }: { endpoint_id: string }) =>
  (await ask('listDeliveries', who, { endpoint_id, limit: '100' })).data;
const briefly = async (who: Account, endpoint: Endpoint) =>
  (await log(who, endpoint)).map(({ status, attempts }) => [
    status,
    ...attempts.map(({ status_code, error }) => `${status_code ?? ''} ${error ?? 'taken'}`.trim()),
  ]);
const read = (who: Account, { endpoint_id }: Endpoint) => ask('getEndpoint', who, { endpoint_id });
/**
 * Clock positions at which tries 2 to 8 are due whatever the jitter was, each longer after the one
 * before than its delay.
 */
const TRIES = ['6 seconds', '6 minutes', '40 minutes', '3 hours', '12 hours', '35 hours', '80 hours'];

test('receivers that misbehave: what each gets of one event, in three days', async () => {
  const others = await receiver(answer(200));
  const gone = await receiver(hang);
  await gone.stop();
  receivers = receivers.filter((each) => each !== gone);
  let calls = 0;
  const behaviours: [string, Answer | Receiver][] = [
    ['takes it', answer(204)],
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
  await Promise.all(cases.map(({ who }) => happens(who)));
  const failing = cases.filter(({ name }) => !/^takes|^is gone|twice/.test(name));
  const triesOf = async () =>
    Promise.all(failing.map(async ({ who, endpoint }) => (await log(who, endpoint))[0]?.attempts.length));
  for (const [index, passed] of TRIES.entries()) {
    await expectSoon(
      triesOf,
      failing.map(() => index + 1),
    );
    // Nothing comes before its time.
    await database.shiftClock(passed);
  }
  await expectSoon(
    triesOf,
    failing.map(() => 8),
  );
  await database.shiftClock('1000 hours');
  const seen = await Promise.all(
    cases.map(async ({ name, who, target, endpoint }) => {
      const [status, ...attempts] = (await briefly(who, endpoint))[0]!;
      const { disabled_reason } = await read(who, endpoint);
      return [name, target.received.length, status, tally(attempts), disabled_reason];
    }),
  );
  expect(seen).toEqual([
    ['takes it', 1, 'delivered', { '204 taken': 1 }, null],
    ['fails twice', 3, 'delivered', { '503 status': 2, '200 taken': 1 }, null],
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
      ...seen.map((row) => `  ${row.map((cell) => JSON.stringify(cell)).join('  ')}`),
    ].join('\n'),
  );
}, 60_000);

test('200 events over two replicas: each is delivered once, with its own id and a signature that the library verifies', async () => {
  const who = account();
  const target = await receiver(answer(200));
  const endpoint = await endpointAt(who, target);
  await atOnce(200, () => happens(who));
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
  // Not of somebody who knows another secret, nor of other bytes.
  expect(() => new Webhook(`whsec_${'A'.repeat(43)}=`).verify(first!.body, first!.headers)).toThrow();
  expect(() => library.verify(`${first!.body} `, first!.headers)).toThrow();
});

test('one that hangs with a backlog has few places and holds nobody up', async () => {
  const [slow, fast] = [account(), account()];
  const [hanging, quick] = [await receiver(hang), await receiver(answer(200))];
  await endpointAt(slow, hanging);
  await endpointAt(fast, quick);
  await atOnce(100, () => happens(slow));
  await expectSoon(async () => hanging.received.length >= 4, true);
  await atOnce(50, () => happens(fast));
  await expectSoon(async () => quick.received.length, 50);
  expect(hanging.received.length).toBeLessThan(50);
  // Four from each of two replicas, until it is known to fail.
  expect(hanging.mostAtOnce()).toBeLessThanOrEqual(8);
});

test('an endpoint is deleted while a failure is noted: neither waits for the other for ever', async () => {
  const who = account();
  let refuse = () => {};
  const target = await receiver((response) => {
    refuse = () => void response.writeHead(500).end();
  });
  const { endpoint_id } = await endpointAt(who, target);
  await happens(who);
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

test('a rotated secret signs beside the new one for 24 hours; a further rotation ends the older', async () => {
  const who = account();
  const target = await receiver(answer(200));
  const { endpoint_id, secret: first } = await endpointAt(who, target);
  const next = async () => {
    const before = target.received.length;
    await happens(who);
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
  // Only the end of the overlap is moved: the library refuses what is signed for another day.
  // This endpoint's alone: those of other tests are being delivered to, and taken in another order.
  await admin.query(
    `update endpoints set previous_secret_expires_at = now() - interval '1 second' where endpoint_id = $1`,
    [endpoint_id],
  );
  const alone = await next();
  expect(accepts(alone, [first, second, third])).toEqual([false, false, true]);
  expect(alone.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  expect((await read(who, { endpoint_id } as Endpoint)).previous_secret_expires_at).toBeNull();
});

test('secrets are encrypted at rest, bound to their endpoint, and in no log', async () => {
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
  await happens(who);
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

test('five days of nothing but failures turn an endpoint off, with a mail; enabled again it gets what was waiting', async () => {
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
  await happens(who);
  await expectSoon(async () => (await log(who, endpoint))[0]?.attempts.length, 1);
  expect((await read(who, endpoint)).failing_since).not.toBeNull();
  await database.shiftClock('119 hours');
  await expectSoon(async () => (await log(who, endpoint))[0]?.attempts.length, 2);
  expect((await read(who, endpoint)).enabled).toBe(true);
  await happens(who);
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
  // Nothing is addressed to it now, nor sent.
  const before = target.received.length;
  await happens(who);
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

test('one event or all since a time once more, in a new round of tries, also what it never got', async () => {
  const who = account();
  const target = await receiver(answer(200));
  await happens(who);
  await expectSoon(async () => (await ask('listEvents', who)).data.length, 1);
  const [missed] = (await ask('listEvents', who)).data;
  const endpoint = await endpointAt(who, target);
  const { endpoint_id } = endpoint;
  await happens(who);
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

test('a test event goes to its endpoint alone, whatever that asks for', async () => {
  const who = account();
  const [asked, other] = [await receiver(answer(200)), await receiver(answer(200))];
  const { endpoint_id } = await endpointAt(who, asked, { event_types: ['refund.*'] });
  await endpointAt(who, other);
  const event = await ask('testEndpoint', who, { endpoint_id });
  expect(event).toMatchObject({ type: 'webhook.test', object_id: endpoint_id, data: { endpoint_id } });
  await expectSoon(async () => asked.received.length, 1);
  expect(JSON.parse(asked.received[0]!.body)).toMatchObject({ id: event.event_id, type: 'webhook.test' });
  expect(other.received).toEqual([]);
});
