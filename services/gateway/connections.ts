import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** Turns of the event loop that a close waits for one in which nothing arrived. */
const MOST_LOOKS = 100;
/** What an open connection has for its first request once the server closes. */
const UNUSED_MS = 500;

/**
 * Ends connections that have no request, once the server closes. Node counts one that was only opened as busy, up to its
 * header time-out, and clients and load balancers open some in advance: a stop would wait for them. One whose request has
 * begun to be answered is left to end by itself.
 */
export const endUnusedOnClose = (app: FastifyInstance): void => {
  /** Requests under way on each. */
  const requests = new Map<Socket, number>();
  let arrived = 0;
  app.server.on('connection', (socket: Socket) => {
    arrived += 1;
    requests.set(socket, 0);
    socket.once('close', () => requests.delete(socket));
  });
  app.server.on('request', ({ socket }, response) => {
    arrived += 1;
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      if (requests.has(socket)) requests.set(socket, requests.get(socket)! - 1);
    });
  });
  app.addHook('preClose', async () => {
    // Right after the sockets were read and held nothing: on a busy machine a request waits there that nobody has counted
    // yet, or comes while others are read.
    for (let looks = 0, before = -1; before !== arrived && looks < MOST_LOOKS; looks += 1) {
      before = arrived;
      await new Promise((resolve) => setImmediate(resolve));
    }
    // A connection that was opened for a call carries it a moment later.
    setTimeout(() => {
      for (const [socket, underWay] of requests) if (underWay === 0) socket.destroy();
    }, UNUSED_MS);
  });
};
