import {
  ErrorCode,
  type JetStreamClient,
  type NatsConnection,
  NatsError,
  connect as natsConnect,
} from 'nats';
import { RequestOne } from 'nats/lib/nats-base-client/request.js';
import type { BusUser } from '../contract/service.ts';
import type { Logger } from '../lib/logger.ts';
import './reconnect.ts';
import { inboxPrefix } from './topology.ts';

/**
 * The bus of one environment. `nats` (2.x, its maintained successor is @nats-io/*, docs/adr/0005)
 * is known to this folder alone.
 */
export type Bus = {
  user: BusUser;
  nc: NatsConnection;
  js: JetStreamClient;
  logger: Logger;
  /** Calls and messages being worked on, so that a drain can wait for them. */
  inFlight: Set<Promise<unknown>>;
  /**
   * False between a lost connection and the next: what is published then would be sent late, after
   * its caller gave up.
   */
  connected: boolean;
};

/**
 * What is sent in one turn of the event loop goes out in one write: calls that came together,
 * answers, acknowledgements. The library writes once per chain of microtasks, so that each of them
 * had a write of its own (50 to 100 µs, and as much on the other side). It has no setting for this.
 */
const writeOncePerTurn = (nc: NatsConnection): void => {
  const { protocol } = nc as unknown as { protocol: { flushPending: () => void } };
  const flush = protocol.flushPending.bind(protocol);
  let due = false;
  protocol.flushPending = () => {
    if (due) return;
    due = true;
    setImmediate(() => {
      due = false;
      flush();
    });
  };
};

/**
 * A request that is answered is cancelled by the library, which makes an error with a stack trace
 * that nobody ever sees: measured 3 to 4 % of the gateway's and of settlement's time. It has no
 * setting for this either.
 */
const { cancel } = RequestOne.prototype;
const cancelled = NatsError.errorForCode(ErrorCode.Cancelled);
RequestOne.prototype.cancel = function (this: RequestOne, error = cancelled): void {
  cancel.call(this, error);
};

/**
 * Connects as the given user; reconnects for ever, so a restarted server is met by waiting, not by
 * dying.
 */
export const connectBus = async (options: {
  url: string;
  user: BusUser;
  /** The NATS user name where it differs from the service's. */
  natsUser?: string;
  password: string;
  logger: Logger;
}): Promise<Bus> => {
  const nc = await natsConnect({
    servers: options.url,
    user: options.natsUser ?? options.user,
    pass: options.password,
    name: options.user,
    inboxPrefix: inboxPrefix(options.user),
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    // Of one call. The server itself waits 2 s for a login, the library 20 s for a silent server.
    timeout: 5000,
    waitOnFirstConnect: true,
    pingInterval: 10_000,
    // A stack trace for each request, in case it fails: measured 5 % of the gateway's time.
    noAsyncTraces: true,
  });
  writeOncePerTurn(nc);
  const { logger } = options;
  const bus: Bus = {
    user: options.user,
    nc,
    js: nc.jetstream(),
    logger,
    inFlight: new Set(),
    connected: true,
  };
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'pingTimer') continue;
      if (status.type === 'disconnect') bus.connected = false;
      if (status.type === 'reconnect') bus.connected = true;
      const line = { event: status.type, data: String(status.data) };
      if (status.type === 'error') logger.error(line, 'nats');
      else logger.info(line, 'nats');
    }
  })();
  return bus;
};

/** Keeps a promise in the set of work in flight until it settles. The promise must not reject. */
export const track = (bus: Bus, work: Promise<unknown>): void => {
  bus.inFlight.add(work);
  void work.finally(() => bus.inFlight.delete(work));
};

/** Waits for work in flight, then drains: `ack()` followed by `close()` would lose the ack. */
export const drainBus = async (bus: Bus): Promise<void> => {
  await Promise.allSettled(bus.inFlight);
  await bus.nc.drain();
};

/** Resolves when the server answers. */
export const pingBus = (bus: Bus): Promise<unknown> => bus.nc.rtt();
