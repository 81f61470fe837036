import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/** A close waits at most so many turns of the event loop for one in which nothing arrived. */
const MAX_TURNS = 100;
/** How long an open connection may wait for its first request after the server begins to close. */
const UNUSED_MS = 500;

/**
 * Ends connections without a request when the server closes. Clients and load balancers open
 * connections in advance, and Node counts such a connection as busy until its header timeout, so a
 * stop would wait for it. A connection whose request is being answered ends by itself.
 */
export const endUnusedOnClose = (app: FastifyInstance): void => {
  /** The number of open requests on each connection. */
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
    // Waits for a turn that read nothing from the sockets: on a busy machine a request may wait
    // there that is not counted yet, or arrive while others are read.
    for (let turns = 0, before = -1; before !== arrived && turns < MAX_TURNS; turns += 1) {
      before = arrived;
      await new Promise((resolve) => setImmediate(resolve));
    }
    // The call of a connection that was just opened arrives a moment later.
    setTimeout(() => {
      for (const [socket, open] of requests) if (open === 0) socket.destroy();
    }, UNUSED_MS);
  });
};
