import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { unreadBody } from '../ground/request-body.ts';

/**
 * Requests to upgrade. Only a WebSocket may switch the protocol: behind any other one, requests
 * would pass that nobody has priced. Every other request is an ordinary one, as it is for a server
 * that does not know what it asks for (RFC 9110, 7.8).
 */

/** A connection that may be switched, and what the client has sent on it already. */
export type Switching = { socket: Duplex; head: Buffer };
/** The upstream's side of one. */
export type Switched = { answer: IncomingMessage; socket: Duplex; head: Buffer };

/** True for the handshake of a WebSocket (RFC 6455, 4.1). */
const isHandshake = (request: IncomingMessage): boolean => {
  const { method, headers } = request;
  return (
    method === 'GET' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-key'] !== undefined &&
    headers['sec-websocket-version'] !== undefined &&
    unreadBody(request).rest === null
  );
};

/** The headers of a handshake, and of the answer that accepts it. */
export const SWITCH: readonly string[] = ['Connection', 'Upgrade', 'Upgrade', 'websocket'];

/**
 * Lets the server read a request again, without its header `Upgrade`. So its body, its answer and
 * what follows on the connection are those of any request. Newer versions of Node can be told
 * before (`shouldUpgradeCallback`); the oldest one that the gate runs on cannot.
 */
const readAgain = (server: Server, request: IncomingMessage, { socket, head }: Switching): void => {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]!.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
};

/** The answer to a handshake. It ends the connection, unless the upstream switches it. */
const responseOn = (request: IncomingMessage, socket: Socket): ServerResponse => {
  const response = new http.ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  return response;
};

type Serve = (request: IncomingMessage, response: ServerResponse, switching: Switching) => Promise<void>;

/**
 * Serves requests to upgrade, each after the answers to earlier requests of its connection.
 * @param maySwitch false: no connection is switched now
 * @param serve serves a handshake
 */
export const serveUpgrades = (server: Server, maySwitch: () => boolean, serve: Serve): void => {
  /** By connection: the end of the latest answer on it. */
  const answers = new WeakMap<Duplex, Promise<unknown>>();
  const remember = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    answers.set(socket, new Promise((resolve) => response.once('close', resolve)));
  };
  const ignore = () => undefined;
  const upgrade = async (request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> => {
    socket.on('error', ignore);
    await answers.get(socket);
    if (socket.destroyed) return;
    if (isHandshake(request) && maySwitch())
      return serve(request, responseOn(request, socket), { socket, head });
    socket.off('error', ignore);
    readAgain(server, request, { socket, head });
  };
  server.on('request', remember).on('checkContinue', remember);
  server.on('upgrade', (request, socket, head) => void upgrade(request, socket as Socket, head));
};

/**
 * Joins both sides of a switched connection until both have ended or one breaks.
 * @returns the bytes that the client got
 */
export const joinSides = (client: Switching, upstream: Switched): Promise<number> =>
  new Promise((resolve) => {
    const [one, other] = [client.socket, upstream.socket];
    let bytes = upstream.head.length;
    other.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    const end = () => {
      one.destroy();
      other.destroy();
      resolve(bytes);
    };
    if (one.destroyed || other.destroyed) return end();
    if (upstream.head.length > 0) one.write(upstream.head);
    if (client.head.length > 0) other.write(client.head);
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      from.on('error', end).on('close', end);
      from.pipe(to);
    }
  });
