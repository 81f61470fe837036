import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor, waitUntil } from '../../test/support/base/wait.ts';
import { createTestBus, refusals, type TestBus } from '../../test/support/servers/bus.ts';
import { chainSubmitter, contractList } from '../contract/index.ts';
import { type BusUser, subjects } from '../contract/service.ts';
import { ensureStreams } from './setup.ts';
import {
  durables,
  eventDurable,
  inboxPrefix,
  natsRights,
  operatorRights,
  replyInbox,
  STREAMS,
} from './topology.ts';

/**
 * Forged messages from inside: the server allows each user what the contract grants it, and nothing
 * else.
 */
let bus: TestBus;
beforeAll(async () => {
  bus = await createTestBus();
});
afterAll(() => bus.stop());

const users: BusUser[] = [...contractList.map(({ name }) => name), 'operator'];
/** The test's operator, who has the connections of the user `operator`. */
const JANE = 'jane';
/**
 * Every subject of the contract, and the server's subjects that could change streams and consumers.
 */
const everySubject = [
  ...contractList.flatMap(({ name, operations, internal, events, jobs }) => [
    ...Object.keys(operations).map((operation) => subjects.rpc(name, operation)),
    ...Object.keys(internal).map((operation) => subjects.internal(name, operation)),
    ...Object.keys(internal).flatMap((operation) =>
      [JANE, 'joe'].map((operator) => subjects.operator(operator, name, operation)),
    ),
    ...Object.keys(events).map((event) => subjects.event(name, event)),
    ...Object.keys(jobs).map((job) => subjects.job(name, job)),
    ...Object.keys(operations).map((operation) => subjects.lane(subjects.rpc(name, operation), 7)),
    ...Object.keys(jobs).map((job) => subjects.handedOver(name, job, 7)),
    subjects.handedOver(name, 'settleProgressed', 'a-replica'),
    subjects.wake(name, 'stl_x'),
    `${inboxPrefix(name)}.x.1`,
  ]),
  ...users.flatMap((caller) => contractList.map(({ name }) => `${replyInbox(caller, name)}.x.1`)),
  ...contractList.map(({ name }) => `${replyInbox('operator', name, JANE)}.x.1`),
  '$JS.API.STREAM.PURGE.JOBS',
  '$JS.API.STREAM.DELETE.EVENTS',
  '$JS.API.STREAM.MSG.DELETE.JOBS',
  '$JS.API.CONSUMER.DELETE.JOBS.chain-submitter_settle',
  '$JS.API.CONSUMER.MSG.NEXT.JOBS.chain-submitter_settle',
  '$SYS.REQ.SERVER.PING',
];
const matches = (pattern: string, subject: string): boolean => {
  const [wanted, given] = [pattern.split('.'), subject.split('.')];
  return (
    wanted.every((token, i) => token === '>' || token === '*' || token === given[i]) &&
    (wanted.at(-1) === '>' ? given.length >= wanted.length : given.length === wanted.length)
  );
};
const rights = { ...natsRights(), operator: operatorRights(JANE) };
const mayPublish = (user: BusUser, subject: string) =>
  rights[user].publish.some((pattern) => matches(pattern, subject));

const untilSize = (set: Set<string>, size: number) => waitUntil(() => set.size >= size);
const inOrder = (names: Iterable<string>) => [...names].sort((a, b) => (a < b ? -1 : 1));

test.each(users)('%s may publish what the contract grants it, and nothing else', async (user) => {
  const forbidden = everySubject.filter((subject) => !mayPublish(user, subject));
  // rpc.* carries the caller, so only the gateway may publish it.
  const rpc = everySubject.filter(
    (subject) =>
      /^rpc[.](?!gateway[.])/.test(subject) &&
      (subject.split('.').length === 3 || /^rpc[.]settlement[.]/.test(subject)),
  );
  expect(rpc.filter((subject) => mayPublish(user, subject))).toEqual(user === 'gateway' ? rpc : []);
  // Its answers are its own: nobody may write into the inbox of another responder.
  const inboxes = everySubject.filter(
    (subject) => subject.startsWith('_INBOX_') && mayPublish(user, subject),
  );
  const responder = (subject: string) => subject.split('.')[subject.startsWith('_INBOX_operator.') ? 2 : 1];
  expect(inboxes.filter((subject) => responder(subject) !== user)).toEqual([]);
  // An operator calls in the own name, and nobody calls in an operator's.
  const calls = everySubject.filter((subject) => subject.startsWith(`op.${JANE}.`));
  const named = everySubject.filter((subject) => subject.startsWith('op.') && mayPublish(user, subject));
  expect(named).toEqual(user === 'operator' ? calls : []);
  // A job is from who accepted the payment, and its outcome from who made it.
  const handed = everySubject.filter((subject) => subject.startsWith('hand.') && mayPublish(user, subject));
  const expected: Partial<Record<BusUser, string[]>> = {
    settlement: [subjects.handedOver('chain-submitter', 'settle', 7)],
    'chain-submitter': [subjects.handedOver('settlement', 'settleProgressed', 'a-replica')],
  };
  expect(handed).toEqual(expected[user] ?? []);
  expect(forbidden.length).toBeGreaterThan(everySubject.length / 3);

  const [listener, forger] = [await bus.as('admin'), await bus.as(user)];
  const heard: string[] = [];
  const subscription = listener.nc.subscribe('>', {
    callback: (_error, msg) => {
      if (msg.data.length > 0 && msg.string() === `forged by ${user}`) heard.push(msg.subject);
    },
  });
  await listener.nc.flush();
  const refused = refusals(forger.nc);
  for (const subject of forbidden) forger.nc.publish(subject, `forged by ${user}`);
  await forger.nc.flush();
  await untilSize(refused, forbidden.length);
  await listener.nc.flush();
  subscription.unsubscribe();
  expect(inOrder(refused)).toEqual(inOrder(forbidden.map((subject) => `publish ${subject}`)));
  expect(heard).toEqual([]);
});

test('what a service has the server answer into the work queue is no job, and the set-up removes what nobody takes', async () => {
  const [admin, { nc }] = [await bus.as('admin'), await bus.as('webhook')];
  const jsm = await admin.nc.jetstreamManager();
  const [queue, read] = [subjects.job('chain-submitter', 'settle'), subjects.event('settlement', 'issued')];
  const { durable } = eventDurable('webhook', 'settlement', 'issued');
  await admin.js.publish(read, 'an event');
  nc.publish(subjects.event('webhook', 'securityNoted'), 'an event of its own', { reply: queue });
  nc.publish(`$JS.API.CONSUMER.INFO.${STREAMS.events}.${durable}`, '', { reply: queue });
  const pull = JSON.stringify({ batch: 1, no_wait: true });
  nc.publish(`$JS.API.CONSUMER.MSG.NEXT.${STREAMS.events}.${durable}`, pull, { reply: queue });
  const stored = async () => {
    const { state } = await jsm.streams.info(STREAMS.jobs, { subjects_filter: '>' });
    return { counts: state.subjects ?? {}, last: state.last_seq };
  };
  const { last } = await waitFor(stored, ({ counts }) => counts[queue] === 2 && counts[read] === 1);
  const takers = durables().filter(({ stream }) => stream === STREAMS.jobs);
  for (let seq = 1; seq <= last; seq += 1) {
    const message = await jsm.streams.getMessage(STREAMS.jobs, { seq });
    // chain-submitter quarantines the server's answers. An event keeps its subject.
    if (message.subject === queue)
      expect(chainSubmitter.jobs.settle.payload.safeParse(message.json()).success).toBe(false);
    else expect(takers.filter(({ filter }) => matches(filter, message.subject))).toEqual([]);
  }
  await ensureStreams({ servers: bus.url, seed: bus.seedOf('admin') });
  expect((await stored()).counts).toEqual({ [queue]: 2 });
});

test.each(users)('%s receives only its own calls and answers', async (user) => {
  const others = users.filter((name) => name !== user);
  const wanted = [
    '>',
    'rpc.>',
    'int.>',
    'job.>',
    'evt.>',
    '$SYS.>',
    ...others.flatMap((name) => [
      `rpc.${name}.*`,
      `int.${name}.*`,
      `wake.${name}.>`,
      `hand.${name}.*.*`,
      `rpc.${name}.*.*`,
      `${inboxPrefix(name)}.>`,
      `op.*.${name}.*`,
    ]),
    'op.>',
    `${inboxPrefix('operator', 'joe')}.>`,
  ];
  const { nc } = await bus.as(user);
  const refused = refusals(nc);
  for (const subject of wanted) nc.subscribe(subject, { callback: () => {} });
  await nc.flush();
  await untilSize(refused, wanted.length);
  expect(inOrder(refused)).toEqual(inOrder(wanted.map((subject) => `subscription ${subject}`)));
});
