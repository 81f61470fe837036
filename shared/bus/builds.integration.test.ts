import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '../../test/support/base/wait.ts';
import { createTestBus, refusals, type TestBus } from '../../test/support/servers/bus.ts';
import { build } from '../lib/telemetry/version.ts';
import { answerBuilds, askBuilds } from './builds.ts';

let testBus: TestBus;
beforeAll(async () => {
  testBus = await createTestBus();
});
afterAll(() => testBus.stop());

const answering = async (user: 'gateway' | 'webhook') => {
  const bus = await testBus.as(user);
  answerBuilds(bus);
  await bus.nc.flush();
  return bus;
};

test('each process of the programs asked answers for itself, in the order of the programs', async () => {
  const gateway = await answering('gateway');
  const replicas = [await answering('webhook'), await answering('webhook')];
  const found = await askBuilds(await testBus.asOperator('jane'), ['webhook', 'gateway', 'quote']);
  expect(found.map(({ program }) => program)).toEqual(['webhook', 'webhook', 'gateway']);
  expect(new Set(found.map(({ replica_id }) => replica_id))).toEqual(
    new Set([...replicas, gateway].map(({ replicaId }) => replicaId)),
  );
  for (const each of found) expect(each).toMatchObject(build);
});

test('a process answers into the inbox of the operator who asks, and nowhere else', async () => {
  await answering('webhook');
  const [jane, joe] = [await testBus.asOperator('jane'), await testBus.asOperator('joe')];
  const heard: string[] = [];
  joe.nc.subscribe('_INBOX_operator.joe.>', { callback: (_error, msg) => void heard.push(msg.subject) });
  await joe.nc.flush();
  // An operator who names another one's inbox, or an event, gets no answer there.
  for (const reply of [
    '_INBOX_operator.joe.webhook.x',
    'evt.settlement.issued',
    '_INBOX_operator.jane.webhook.x',
  ])
    jane.nc.publish('op.jane.webhook.each.build', undefined, { reply });
  await jane.nc.flush();
  await askBuilds(jane, ['webhook']);
  expect(heard).toEqual([]);
  // The server lets an operator ask in the own name only.
  const refused = refusals(jane.nc);
  jane.nc.publish('op.joe.webhook.each.build', undefined, { reply: '_INBOX_operator.jane.webhook.x' });
  await waitFor(
    async () => [...refused],
    (those) => those.length > 0,
    10_000,
  );
  expect([...refused]).toEqual(['publish op.joe.webhook.each.build']);
});
