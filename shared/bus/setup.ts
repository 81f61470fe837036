import {
  AckPolicy,
  connect,
  DiscardPolicy,
  type JetStreamManager,
  nanos,
  RetentionPolicy,
  StorageType,
} from 'nats';
import { EVENT_DAYS } from '../contract/sent-events.ts';
import { loginWith } from './nkey.ts';
import { busTls } from './tls.ts';
import { durables, STREAMS } from './topology.ts';

const seconds = (n: number) => nanos(n * 1000);

/**
 * The time after which a message of a dead worker is delivered again. nats-server 2.9 refuses a
 * back-off list together with `max_deliver: -1`. A handler that fails sets its own delay (nak).
 */
const ACK_WAIT = seconds(10);

/** The configuration of the streams; times in nanoseconds. */
export const streamConfigs = (replicas: number) => [
  {
    // A full queue refuses messages, and the outbox keeps the row. It never drops a message and has
    // no maximum age.
    name: STREAMS.jobs,
    subjects: ['job.>'],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_msgs: 1_000_000,
    max_bytes: 2 * 1024 ** 3,
    duplicate_window: seconds(120),
    num_replicas: replicas,
  },
  {
    name: STREAMS.events,
    subjects: ['evt.>'],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: seconds(EVENT_DAYS * 24 * 3600),
    max_bytes: 4 * 1024 ** 3,
    duplicate_window: seconds(120),
    num_replicas: replicas,
  },
];

/**
 * Removes from the work queue what is no job. A service can have the server deliver the events that
 * it reads to any subject, also to one of the queue. They are stored there as events, and no
 * consumer takes them, so they would fill the queue.
 */
const removeStrangers = async (jsm: JetStreamManager): Promise<void> => {
  await jsm.streams.purge(STREAMS.jobs, { filter: 'evt.>' });
};

/** The durable consumers of the contract, each with its stream. */
export const consumerConfigs = () =>
  durables().map(({ stream, durable, filter }) => ({
    stream,
    config: {
      durable_name: durable,
      filter_subject: filter,
      ack_policy: AckPolicy.Explicit,
      max_deliver: -1,
      ack_wait: ACK_WAIT,
      max_ack_pending: 1000,
    },
  }));

const ensureStream = async (jsm: JetStreamManager, config: ReturnType<typeof streamConfigs>[number]) => {
  const exists = await jsm.streams.info(config.name).then(
    () => true,
    () => false,
  );
  if (exists) await jsm.streams.update(config.name, config);
  else await jsm.streams.add(config);
};

/**
 * A server that lost its message blocks counts sequence numbers from one again, while its consumers
 * wait for higher numbers. New messages would be stored and never delivered, so such a consumer is
 * created again.
 */
const removeUnknownConsumers = async (jsm: JetStreamManager): Promise<void> => {
  const lastOf = new Map<string, number>();
  for (const stream of Object.values(STREAMS))
    lastOf.set(stream, (await jsm.streams.info(stream)).state.last_seq);
  for (const { stream, durable } of durables()) {
    const delivered = await jsm.consumers.info(stream, durable).then(
      (consumer) => consumer.delivered.stream_seq,
      () => 0,
    );
    if (delivered > lastOf.get(stream)!) await jsm.consumers.delete(stream, durable);
  }
};

const CONSUMER_NOT_FOUND = 10014;
const consumerExists = (jsm: JetStreamManager, stream: string, durable: string): Promise<boolean> =>
  jsm.consumers.info(stream, durable).then(
    () => true,
    (error: unknown) => {
      if ((error as { api_error?: { err_code?: number } }).api_error?.err_code === CONSUMER_NOT_FOUND)
        return false;
      throw error;
    },
  );

const ensureConsumers = async (jsm: JetStreamManager): Promise<void> => {
  for (const { stream, config } of consumerConfigs()) {
    if (await consumerExists(jsm, stream, config.durable_name))
      await jsm.consumers.update(stream, config.durable_name, config);
    else await jsm.consumers.add(stream, config);
  }
};

/**
 * Creates or updates the streams and durable consumers of the contract. A job runs it as the admin
 * user before the services start, and again after the server lost its data. Services have no right
 * to create.
 */
export const ensureStreams = async (options: {
  servers: string;
  seed: string;
  replicas?: number;
  caFile?: string | undefined;
}): Promise<void> => {
  const { servers, seed, replicas = 1, caFile } = options;
  const nc = await connect({ servers, ...busTls(servers, caFile), ...loginWith(seed), name: 'setup' });
  try {
    const jsm = await nc.jetstreamManager();
    for (const config of streamConfigs(replicas)) await ensureStream(jsm, config);
    await removeStrangers(jsm);
    await removeUnknownConsumers(jsm);
    await ensureConsumers(jsm);
  } finally {
    await nc.close();
  }
};
