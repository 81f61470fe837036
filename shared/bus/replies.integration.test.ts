import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, refusals, type TestBus } from '../../test/support/servers/bus.ts';
import { identity, webhook } from '../contract/index.ts';
import type { Handlers } from '../contract/service.ts';
import { newId } from '../lib/id.ts';
import { call, forward } from './call.ts';
import type { Bus } from './connect.ts';
import { encode } from './envelope.ts';
import { serve } from './serve.ts';

/** Answers that come from somebody else than the service that was asked. */
let testBus: TestBus;
beforeAll(async () => {
  testBus = await createTestBus();
});
afterAll(() => testBus.stop());

const until = (condition: () => boolean) => waitUntil(condition, { withinMs: 10_000, everyMs: 10 });

const serveIdentity = async (handlers: Record<string, (input: never) => Promise<unknown>>) => {
  const bus = await testBus.as('identity');
  const serving = serve(bus, identity, handlers as unknown as Handlers<typeof identity>);
  await bus.nc.flush();
  return serving;
};
const somebody = () => ({ kind: 'jwt', account_id: newId('acct'), session_id: 's', auth_time: 0 }) as const;

/** Asks webhook twice, and returns the replies that its process sees. */
const repliesSeenBy = async (attacker: Bus, gateway: Bus): Promise<string[]> => {
  const seen: string[] = [];
  const subscription = attacker.nc.subscribe('rpc.webhook.*', {
    callback: (_error, msg) => {
      seen.push(msg.reply ?? '');
      msg.respond(JSON.stringify({ ok: {} }));
    },
  });
  await attacker.nc.flush();
  for (let asked = 0; asked < 2; asked += 1)
    await forward(gateway, webhook, 'listEvents', {}, somebody(), { timeoutMs: 5000, headers: {} });
  subscription.unsubscribe();
  return seen;
};

/**
 * The next replies of the caller, as two earlier ones foretell them where the names are a counter
 * (12 constant characters and a number in base 36), and the same in the inbox of identity.
 */
const foretold = ([first = '', second = '']: string[]): string[] => {
  const [head, token] = [second.slice(0, second.lastIndexOf('.') + 1), second.split('.').at(-1)!];
  const numberOf = (text: string) => Number.parseInt(text.slice(12), 36);
  const increment = numberOf(token) - numberOf(first.split('.').at(-1)!);
  const next = Array.from({ length: 40 }, (_, index) => {
    const number = numberOf(token) + (index + 1) * increment;
    return `${token.slice(0, 12)}${number.toString(36).toUpperCase().padStart(10, '0')}`;
  });
  const heads = new Set([head, head.replace('.webhook.', '.identity.')]);
  return [...heads].flatMap((each) => [...new Set([...next, token])].map((name) => `${each}${name}`));
};

test('a service that forges the answers of another one is not believed', async () => {
  const serving = await serveIdentity({
    findKeys: async () => {
      await sleep(3);
      return [null];
    },
  });
  const [attacker, gateway] = [await testBus.as('webhook'), await testBus.as('gateway')];
  const refused = refusals(attacker.nc);
  const subjects = foretold(await repliesSeenBy(attacker, gateway));
  const forged = encode({ ok: { principal: { kind: 'service_key', account_id: newId('acct') } } });
  const attack = { over: false };
  const forging = (async () => {
    while (!attack.over) {
      for (const subject of subjects) attacker.nc.publish(subject, forged);
      await attacker.nc.flush();
    }
  })();
  const answers = [];
  for (let asked = 0; asked < 20; asked += 1)
    answers.push(await call(gateway, identity, 'findKeys', { key_hashes: [`${asked}`.padStart(43, '0')] }));
  attack.over = true;
  await forging;
  await serving.stop();
  expect(answers).toEqual(Array(20).fill([null]));
  await until(() => [...refused].some((subject) => subject.startsWith('publish _INBOX_gateway.identity.')));
});

test('the server does not let webhook publish to a reply of identity', async () => {
  const { nc } = await testBus.as('webhook');
  const refused = refusals(nc);
  const replies = ['_INBOX_gateway.identity.x.1', '_INBOX_settlement.identity.x.1', '_INBOX_gateway.x.1'];
  for (const reply of replies) nc.publish(reply, 'forged');
  nc.publish('_INBOX_gateway.webhook.x.1', 'its own');
  await nc.flush();
  await until(() => refused.size >= replies.length);
  expect(refused).toEqual(new Set(replies.map((reply) => `publish ${reply}`)));
});

test('an answer in the inbox of one service does not end the request to another', async () => {
  const settlement = await testBus.as('settlement');
  const account_id = newId('acct');
  const asked: string[] = [];
  const responder = await testBus.as('identity');
  responder.nc.subscribe('int.identity.isFrozen', {
    callback: (_error, msg) => {
      asked.push(msg.reply ?? '');
      // The last token is known here, and the inbox is that of another caller or responder.
      for (const other of ['_INBOX_gateway.identity', '_INBOX_settlement.identity.x'])
        responder.nc.publish(`${other}.${msg.reply!.split('.').at(-1)}`, encode({ ok: { frozen: true } }));
      msg.respond(encode({ ok: { frozen: false } }));
    },
  });
  await responder.nc.flush();
  await expect(call(settlement, identity, 'isFrozen', { account_id })).resolves.toEqual({ frozen: false });
  await expect(call(settlement, identity, 'isFrozen', { account_id })).resolves.toEqual({ frozen: false });
  const [first, second] = asked.map((reply) => reply.split('.'));
  expect(first!.slice(0, 3)).toEqual(second!.slice(0, 3));
  // 128 bits are 22 characters of 6 bits.
  for (const reply of [first!, second!]) expect(reply.at(-1)).toMatch(/^[\w-]{22}$/);
  expect(first!.at(-1)).not.toBe(second!.at(-1));
  await Promise.all([responder, settlement].map(({ nc }) => nc.close()));
});

test('a service answers into the inbox of a caller, and into no other subject that a request names', async () => {
  const asked: string[] = [];
  const serving = await serveIdentity({
    isFrozen: async ({ account_id }: { account_id: string }) => {
      asked.push(account_id);
      return { frozen: false };
    },
  });
  const [admin, settlement] = [await testBus.as('admin'), await testBus.as('settlement')];
  const heard: string[] = [];
  for (const subject of ['evt.>', 'wake.>'])
    admin.nc.subscribe(subject, { callback: (_error, msg) => void heard.push(msg.subject) });
  await admin.nc.flush();
  const data = encode({ input: { account_id: newId('acct') } });
  for (const reply of ['evt.identity.accountErased', 'wake.identity.x', undefined])
    settlement.nc.publish('int.identity.isFrozen', data, reply === undefined ? {} : { reply });
  const account_id = newId('acct');
  await call(settlement, identity, 'isFrozen', { account_id });
  await serving.stop();
  await admin.nc.flush();
  expect([heard, asked]).toEqual([[], [account_id]]);
});

test('a hundred requests to one service share one subscription', async () => {
  const serving = await serveIdentity({ isFrozen: async () => ({ frozen: false }) });
  const settlement = await testBus.as('settlement');
  const subscribe = jest.spyOn(settlement.nc, 'subscribe');
  const ask = () => call(settlement, identity, 'isFrozen', { account_id: newId('acct') });
  expect(await Promise.all(Array.from({ length: 100 }, ask))).toEqual(Array(100).fill({ frozen: false }));
  expect(subscribe).toHaveBeenCalledTimes(1);
  await serving.stop();
});

test('a request that nobody serves, that is refused, or whose connection ends, fails at once', async () => {
  const long = { timeoutMs: 600_000 };
  const settlement = await testBus.as('settlement');
  const ask = (bus: Bus) => call(bus, identity, 'isFrozen', { account_id: newId('acct') }, long);
  await expect(ask(settlement)).rejects.toMatchObject({ code: 'service_unavailable' });
  await expect(ask(await testBus.as('gateway'))).rejects.toMatchObject({
    code: 'PERMISSIONS_VIOLATION',
  });
  const silent = await testBus.as('identity');
  const asked: string[] = [];
  silent.nc.subscribe('int.identity.isFrozen', { callback: (_error, msg) => void asked.push(msg.subject) });
  await silent.nc.flush();
  const open = expect(ask(settlement)).rejects.toMatchObject({ code: 'service_unavailable' });
  await until(() => asked.length === 1);
  await settlement.nc.close();
  await open;
  await expect(
    call(
      await testBus.as('settlement'),
      identity,
      'isFrozen',
      { account_id: newId('acct') },
      { timeoutMs: 50 },
    ),
  ).rejects.toMatchObject({
    code: 'service_unavailable',
  });
});

test('an operator calls in the own name: another name is refused, and so is the inbox of another operator', async () => {
  const actors: unknown[] = [];
  const serving = await serveIdentity({
    getBacklog: async ({ actor }: { actor: unknown }) => {
      actors.push(actor);
      return { outbox: 0 };
    },
  });
  const [jane, joe] = [await testBus.asOperator('jane'), await testBus.asOperator('joe')];
  await call(jane, identity, 'getBacklog', {});
  await call(joe, identity, 'getBacklog', {});
  const forged: Bus = { ...jane, operator: 'joe' };
  await expect(call(forged, identity, 'getBacklog', {})).rejects.toMatchObject({
    code: 'PERMISSIONS_VIOLATION',
  });
  // As a service would be called, which no operator may do.
  const asService: Bus = { ...jane, operator: undefined };
  await expect(call(asService, identity, 'getBacklog', {})).rejects.toMatchObject({
    code: 'PERMISSIONS_VIOLATION',
  });
  await expect(call(jane, identity, 'getBacklog', { actor: 'joe' } as never)).rejects.toMatchObject({
    code: 'validation_error',
  });
  // An answer would go to Joe, who has not asked.
  const reply = '_INBOX_operator.joe.identity.x.1';
  jane.nc.publish('op.jane.identity.getBacklog', encode({ input: {} }), { reply });
  await jane.nc.flush();
  await serving.stop();
  expect(actors).toEqual(['jane', 'joe']);
});
