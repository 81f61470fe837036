import { contractList } from '../contract/index.ts';
import type {
  BusUser,
  InternalOperation,
  Program,
  ServiceContract,
  ServiceName,
} from '../contract/service.ts';
import { isForOperators, subjects } from '../contract/service.ts';

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

/**
 * The inbox prefix of a user. Each user has its own, so no other user can read its replies.
 * @param operator the name of an operator
 */
export const inboxPrefix = (user: BusUser, operator?: string): string =>
  operator === undefined ? `_INBOX_${user}` : `_INBOX_${user}.${operator}`;

/**
 * The prefix of the answers that a responder sends to a caller. No other user may publish under it,
 * so a service can answer neither for another one nor for the server's streams.
 */
export const replyInbox = (caller: BusUser, responder: BusUser, operator?: string): string =>
  `${inboxPrefix(caller, operator)}.${responder}`;

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

/**
 * The caller of a request: the one whose inbox gets the answer. Nobody else can read there, so a
 * request in the name of another user tells its sender nothing.
 */
export const callerOf = (
  { name, internal }: Pick<ServiceContract, 'name' | 'internal'>,
  reply: string,
): BusUser | undefined =>
  Object.values(internal)
    .flatMap(({ callers }) => callers)
    .find((caller) => reply.startsWith(`${replyInbox(caller, name)}.`));

/** What is handed over to a service, each with the service that hands it over. */
const handedOverTo = ({
  jobs,
  handedOver,
}: Required<Pick<ServiceContract, 'jobs' | 'handedOver'>>): [ServiceName, string][] => [
  ...Object.entries(jobs).flatMap(([job, one]) =>
    one.handedOver === true ? one.producers.map((producer): [ServiceName, string] => [producer, job]) : [],
  ),
  ...handedOver.map((each) => each.split('.') as [ServiceName, string]),
];

type Rights = { publish: string[]; subscribe: string[] };

/**
 * The rights of an operator: calls in the own name, and the answers to them. The services know
 * which of their operations are for operators, so a release does not change these rights.
 */
export const operatorRights = (operator: string): Rights => ({
  publish: [`op.${operator}.>`],
  subscribe: [`${inboxPrefix('operator', operator)}.>`],
});

/**
 * The rights of the NATS user of each process. Replies are allowed by the inbox of the pair instead
 * of `allow_responses`: with it, a client could publish to any subject that a request named as its
 * reply, including the work queue and `$JS.API.>` (docs/design/settle.md, JetStream).
 */
export const natsRights = (): Record<Program, Rights> => {
  const rights = Object.fromEntries(
    contractList.map(({ name }) => [
      name,
      { publish: new Set<string>(), subscribe: new Set([`${inboxPrefix(name)}.>`]) },
    ]),
  ) as Record<Program, { publish: Set<string>; subscribe: Set<string> }>;

  for (const {
    name,
    operations,
    internal,
    events,
    jobs,
    subscribesLive = [],
    handedOver = [],
    hasLanes,
  } of contractList) {
    const own = rights[name];
    if (name !== 'gateway' && Object.keys(operations).length > 0) {
      for (const subject of [`rpc.${name}.*`, ...(hasLanes === true ? [`rpc.${name}.*.*`] : [])]) {
        rights.gateway.publish.add(subject);
        own.subscribe.add(subject);
      }
      own.publish.add(`${replyInbox('gateway', name)}.>`);
    }
    if (Object.values(internal).some(isForOperators)) own.subscribe.add(`op.*.${name}.*`);
    // Every process answers an operator who asks for its build.
    own.subscribe.add(`op.*.${name}.each.*`);
    own.publish.add(`${replyInbox('operator', name, '*')}.>`);
    for (const [operation, one] of Object.entries<InternalOperation>(internal)) {
      for (const caller of one.callers) {
        if (caller === 'operator') continue;
        own.subscribe.add(`int.${name}.*`);
        rights[caller].publish.add(subjects.internal(name, operation));
        own.publish.add(`${replyInbox(caller, name)}.>`);
      }
    }
    for (const event of Object.keys(events)) own.publish.add(subjects.event(name, event));
    for (const [job, { producers }] of Object.entries(jobs)) {
      for (const producer of producers) rights[producer].publish.add(subjects.job(name, job));
    }
    for (const [source, what] of handedOverTo({ jobs, handedOver })) {
      const subject = subjects.handedOver(name, what, '*');
      rights[source].publish.add(subject);
      own.subscribe.add(subject);
      own.publish.add(`${replyInbox(source, name)}.>`);
    }
    for (const each of subscribesLive) {
      const [source, event] = each.split('.') as [ServiceName, string];
      own.subscribe.add(subjects.event(source, event));
    }
    own.publish.add(`wake.${name}.>`);
    own.subscribe.add(`wake.${name}.>`);
  }
  for (const { stream, durable, service } of durables()) {
    const { publish } = rights[service as Program];
    // Who reads events compares the stream with what it has handled (shared/events/catch-up.ts).
    if (stream === STREAMS.events) publish.add(`$JS.API.STREAM.INFO.${stream}`);
    publish.add(`$JS.API.CONSUMER.INFO.${stream}.${durable}`);
    publish.add(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${durable}`);
    publish.add(`$JS.ACK.${stream}.${durable}.>`);
  }
  return Object.fromEntries(
    Object.entries(rights).map(([user, { publish, subscribe }]) => [
      user,
      { publish: sorted(publish), subscribe: sorted(subscribe) },
    ]),
  ) as Record<Program, Rights>;
};

const sorted = (names: Set<string>): string[] => [...names].sort((a, b) => (a < b ? -1 : 1));
