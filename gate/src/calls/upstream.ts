import http, { type ClientRequest, type Agent as HttpAgent, type RequestOptions } from 'node:http';
import https from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import tls from 'node:tls';

/** The server behind the gate, with the connections to it. */

/** How long an answer shows that the upstream serves, so that a payment for it may be taken. */
const ALIVE_MS = 1000;
const MOST_IDLE = 256;

type Sent = Pick<RequestOptions, 'method' | 'path' | 'headers'>;

/**
 * Closes a connection on which something arrives while nobody has asked. It would be taken for the
 * answer to the next caller.
 */
const closeUnasked = (agent: HttpAgent): HttpAgent => {
  const [keep, reuse] = [agent.keepSocketAlive.bind(agent), agent.reuseSocket.bind(agent)];
  const close = function (this: Duplex) {
    this.destroy();
  };
  agent.keepSocketAlive = (socket) => {
    socket.on('data', close);
    return keep(socket);
  };
  agent.reuseSocket = (socket, request) => {
    socket.off('data', close);
    reuse(socket, request);
  };
  return agent;
};

export const createUpstream = (origin: URL, { connectMs, idleMs }: { connectMs: number; idleMs: number }) => {
  const isTls = origin.protocol === 'https:';
  const { request, Agent } = isTls ? https : http;
  const shared = closeUnasked(new Agent({ keepAlive: true, maxFreeSockets: MOST_IDLE, timeout: idleMs }));
  const alone = new Agent({ keepAlive: false, timeout: idleMs });
  const host = origin.hostname.replace(/^\[|\]$/g, '');
  const port = origin.port === '' ? (isTls ? 443 : 80) : Number(origin.port);
  const place = { host, port, ...(isTls && { servername: net.isIP(host) === 0 ? host : '' }) };
  let aliveAt = 0;
  let probing: Promise<boolean> | null = null;

  const probe = (): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = isTls
        ? tls.connect({ host, port, servername: place.servername })
        : net.connect({ host, port });
      const end = (isAlive: boolean) => {
        socket.destroy();
        if (isAlive) aliveAt = Date.now();
        resolve(isAlive);
      };
      socket.setTimeout(connectMs, () => end(false));
      socket.once(isTls ? 'secureConnect' : 'connect', () => end(true)).once('error', () => end(false));
    });

  return {
    /** Begins a request. Its headers are sent as they are, with those of the connection. */
    send: (options: Sent): ClientRequest => {
      const asked = request({ ...place, agent: shared, ...options });
      asked.once('response', () => {
        // The upstream has not read all of it, so the rest would be its next request.
        if (!asked.writableFinished) asked.shouldKeepAlive = false;
      });
      return asked;
    },
    /** Begins a request on a connection of its own, which an upgrade may take over. */
    sendAlone: (options: Sent): ClientRequest => request({ ...place, agent: alone, ...options }),
    /** An answer has come. */
    answered: () => {
      aliveAt = Date.now();
    },
    failed: () => {
      aliveAt = 0;
    },
    /** Whether it has answered within the last second, or accepts a connection. */
    isAlive: async (): Promise<boolean> => {
      if (Date.now() - aliveAt < ALIVE_MS) return true;
      probing ??= probe().finally(() => {
        probing = null;
      });
      return probing;
    },
    close: () => shared.destroy(),
  };
};
export type Upstream = ReturnType<typeof createUpstream>;
