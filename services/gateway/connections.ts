import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Ends connections that have no request, once the server closes. Node counts one that was only opened as busy, up to its
 * header time-out, and clients and load balancers open some in advance: a stop would wait for them. One whose request has
 * begun to be answered is left to end by itself.
 */
export const endUnusedOnClose = (app: FastifyInstance): void => {
  /** Requests under way on each. */
  const requests = new Map<Socket, number>();
  app.server.on('connection', (socket: Socket) => {
    requests.set(socket, 0);
    socket.once('close', () => requests.delete(socket));
  });
  app.server.on('request', ({ socket }, response) => {
    requests.set(socket, (requests.get(socket) ?? 0) + 1);
    response.once('close', () => {
      if (requests.has(socket)) requests.set(socket, requests.get(socket)! - 1);
    });
  });
  app.addHook('preClose', async () => {
    // Right after the sockets were read: on a busy machine a request waits there that nobody has counted yet.
    await new Promise((resolve) => setImmediate(resolve));
    for (const [socket, underWay] of requests) if (underWay === 0) socket.destroy();
  });
};
