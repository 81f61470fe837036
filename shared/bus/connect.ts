import { randomBytes } from 'node:crypto';
import {
  ErrorCode,
  type JetStreamClient,
  type NatsConnection,
  NatsError,
  connect as natsConnect,
  type Status,
} from 'nats';
import { RequestOne } from 'nats/lib/nats-base-client/request.js';
import type { BusUser } from '../contract/service.ts';
import { noteActivity } from '../lib/activity.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { build } from '../lib/telemetry/version.ts';
import { loginWith } from './nkey.ts';
import './reconnect.ts';
import { createReplies, type Replies } from './replies.ts';
import { busTls } from './tls.ts';
import { inboxPrefix } from './topology.ts';

/**
 * The bus of one environment. Only this folder uses `nats` (2.x; docs/design/choices.md says why
 * not its successor @nats-io/*).
 */
export type Bus = {
  user: BusUser;
  /** The name of the operator whose connection it is. */
  operator: string | undefined;
  /** The name of this process, by which others reach it and no other replica. */
  replicaId: string;
  nc: NatsConnection;
  js: JetStreamClient;
  replies: Replies;
  logger: Logger;
  /** Open calls and messages. A drain waits for them. */
  inFlight: Set<Promise<unknown>>;
  /**
   * False between a lost connection and the next one. A message published then would be sent late,
   * after its caller gave up.
   */
  connected: boolean;
};

/**
 * Messages of one turn of the event loop are sent in one write. The library writes once per chain
 * of microtasks, which costs 50 to 100 µs on either side. It has no setting for this.
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
 * The library cancels its own requests (to streams) once they are answered, which creates an error
 * with a stack trace that is never read. When all calls were such requests, this cost 3 to 4 % of
 * the CPU time of gateway and settlement. The library has no setting for this.
 */
const { cancel } = RequestOne.prototype;
const cancelled = NatsError.errorForCode(ErrorCode.Cancelled);
RequestOne.prototype.cancel = function (this: RequestOne, error = cancelled): void {
  cancel.call(this, error);
};

/** Ends the requests that the server refuses, which would wait for their timeout otherwise. */
const refuseRequests = (bus: Bus, status: Status): void => {
  const { permissionContext: refused } = status as { permissionContext?: NatsError['permissionContext'] };
  if (refused?.operation === 'publish')
    bus.replies.refuse(refused.subject, NatsError.errorForCode(ErrorCode.PermissionsViolation));
};

/**
 * Connects as the given user. The client reconnects without a limit, so the process survives a
 * restart of the server.
 */
export const connectBus = async (options: {
  url: string;
  user: BusUser;
  /** The name of an operator, for the user `operator`. */
  operator?: string;
  /** The seed of one of the user's NKEYs. */
  seed: string;
  /** The authority of a server with a `tls://` URL. Default: those that Node knows. */
  caFile?: string | undefined;
  logger: Logger;
}): Promise<Bus> => {
  const { user, operator } = options;
  const inbox = inboxPrefix(user, operator);
  const nc = await natsConnect({
    servers: options.url,
    ...busTls(options.url, options.caFile),
    ...loginWith(options.seed),
    name: `${operator === undefined ? user : `${user} ${operator}`} ${build.version}`,
    inboxPrefix: inbox,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    // The limit of one attempt. The server waits 2 s for a login, and the library 20 s for a server
    // that does not answer.
    timeout: 5000,
    waitOnFirstConnect: true,
    pingInterval: 10_000,
    // Without this, the library creates a stack trace for each request: 5 % of the CPU time of the
    // gateway.
    noAsyncTraces: true,
  });
  writeOncePerTurn(nc);
  const { logger } = options;
  const bus: Bus = {
    user,
    operator,
    replicaId: randomBytes(9).toString('hex'),
    nc,
    js: nc.jetstream(),
    replies: createReplies(nc, inbox),
    logger,
    inFlight: new Set(),
    connected: true,
  };
  void (async () => {
    for await (const status of nc.status()) {
      if (status.type === 'pingTimer') continue;
      if (status.type === 'disconnect') bus.connected = false;
      if (status.type === 'reconnect') {
        bus.connected = true;
        // Rows may have waited for the connection.
        noteActivity();
      }
      refuseRequests(bus, status);
      const line = { event: status.type, data: String(status.data) };
      if (status.type === 'error') logger.error(line, 'nats');
      else logger.info(line, 'nats');
    }
  })();
  return bus;
};

/**
 * Adds a call or a message to the set of open work until it settles. The promise must not reject.
 * @param leavesNothing that a sweep of this process would have to find, so it may stay quiet
 */
export const track = (bus: Bus, work: Promise<unknown>, leavesNothing = false): void => {
  if (!leavesNothing) noteActivity();
  bus.inFlight.add(work);
  void work.finally(() => bus.inFlight.delete(work));
};

/** Waits for open work, then drains. `ack()` followed by `close()` would lose the ack. */
export const drainBus = async (bus: Bus): Promise<void> => {
  await Promise.allSettled(bus.inFlight);
  await bus.nc.drain();
};

/** Resolves when the server answers. */
export const pingBus = (bus: Bus): Promise<unknown> => bus.nc.rtt();
