import { contractList } from '../contract/index.ts';
import type { BusUser, ServiceContract, ServiceName } from '../contract/service.ts';
import { subjects } from '../contract/service.ts';

/**
 * Streams, consumers and rights, derived from the contract for every deployment. `ensureStreams`
 * creates the streams and consumers, and `natsRights` lists who may publish and subscribe to what.
 */
export const STREAMS = { jobs: 'JOBS', events: 'EVENTS' } as const;

export type Durable = {
  stream: (typeof STREAMS)[keyof typeof STREAMS];
  durable: string;
  filter: string;
  service: BusUser;
};

/**
 * One work queue per job, and one consumer per service and event that it subscribes to. nats-server
 * 2.9 filters a consumer by one subject.
 */
export const durables = (): Durable[] =>
  contractList.flatMap(({ name, jobs, consumes }) => [
    ...Object.keys(jobs).map((job) => jobDurable(name, job)),
    ...consumes.map((each) => {
      const [source, event] = each.split('.') as [ServiceName, string];
      return eventDurable(name, source, event);
    }),
  ]);

export const jobDurable = (service: BusUser, job: string): Durable => ({
  stream: STREAMS.jobs,
  durable: `${service}_${job}`,
  filter: subjects.job(service, job),
  service,
});

export const eventDurable = (service: BusUser, source: ServiceName, event: string): Durable => ({
  stream: STREAMS.events,
  durable: `${service}_on_${source}_${event}`,
  filter: subjects.event(source, event),
  service,
});

/** The inbox prefix of a user. Each user has its own, so no other user can read its replies. */
export const inboxPrefix = (user: BusUser): string => `_INBOX_${user}`;

/**
 * The prefix of the answers that a responder sends to a caller. No other user may publish under it,
 * so a service can answer neither for another one nor for the server's streams.
 */
export const replyInbox = (caller: BusUser, responder: BusUser): string =>
  `${inboxPrefix(caller)}.${responder}`;

/**
 * The inboxes into which a service answers requests of a kind. It answers nowhere else, because a
 * caller can name any subject as the reply of its request, also one of the service's own events.
 */
export const answeredInboxes = (
  { name, internal }: Pick<ServiceContract, 'name' | 'internal'>,
  kind: 'rpc' | 'int',
): string[] => {
  const callers =
    kind === 'rpc' ? ['gateway' as const] : Object.values(internal).flatMap((one) => one.callers);
  return [...new Set(callers)].map((caller) => `${replyInbox(caller, name)}.`);
};

type Rights = { publish: string[]; subscribe: string[] };

/**
 * The rights of each NATS user. Replies are allowed by the inbox of the pair instead of
 * `allow_responses`: with it, a client could publish to any subject that a request named as its
 * reply, including the work queue and `$JS.API.>` (docs/design/settle.md, JetStream).
 */
export const natsRights = (): Record<BusUser, Rights> => {
  const users: BusUser[] = [...contractList.map(({ name }) => name), 'operator'];
  const rights = Object.fromEntries(
    users.map((name) => [
      name,
      { publish: new Set<string>(), subscribe: new Set([`${inboxPrefix(name)}.>`]) },
    ]),
  ) as Record<BusUser, { publish: Set<string>; subscribe: Set<string> }>;

  for (const { name, operations, internal, events, jobs, subscribesLive = [] } of contractList) {
    const own = rights[name];
    if (name !== 'gateway' && Object.keys(operations).length > 0) {
      rights.gateway.publish.add(`rpc.${name}.*`);
      own.subscribe.add(`rpc.${name}.*`);
      own.publish.add(`${replyInbox('gateway', name)}.>`);
    }
    if (Object.keys(internal).length > 0) own.subscribe.add(`int.${name}.*`);
    for (const [operation, { callers }] of Object.entries(internal)) {
      for (const caller of callers) {
        rights[caller].publish.add(subjects.internal(name, operation));
        own.publish.add(`${replyInbox(caller, name)}.>`);
      }
    }
    for (const event of Object.keys(events)) own.publish.add(subjects.event(name, event));
    for (const [job, { producers }] of Object.entries(jobs)) {
      for (const producer of producers) rights[producer].publish.add(subjects.job(name, job));
    }
    for (const each of subscribesLive) {
      const [source, event] = each.split('.') as [ServiceName, string];
      own.subscribe.add(subjects.event(source, event));
    }
    own.publish.add(`wake.${name}.>`);
    own.subscribe.add(`wake.${name}.>`);
  }
  for (const { stream, durable, service } of durables()) {
    const { publish } = rights[service];
    publish.add(`$JS.API.CONSUMER.INFO.${stream}.${durable}`);
    publish.add(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`);
    publish.add(`$JS.ACK.${stream}.${durable}.>`);
  }
  return Object.fromEntries(
    Object.entries(rights).map(([user, { publish, subscribe }]) => [
      user,
      { publish: sorted(publish), subscribe: sorted(subscribe) },
    ]),
  ) as Record<BusUser, Rights>;
};

const sorted = (names: Set<string>): string[] => [...names].sort((a, b) => (a < b ? -1 : 1));
