import type { RequestListener } from 'node:http';
import { connect } from 'node:net';

/** A buyer who stops reading until the server of a long answer gives up. */

const LENGTH = 120_000_000;
const CHUNK = Buffer.alloc(64_000, 'a');
/** As the write time-outs of servers, and longer than a gate takes for a short stop. */
const GIVES_UP_MS = 1200;

/** Serves a long answer, and gives up if nobody takes it. */
export const createImpatient = (head: Record<string, string> = {}) => {
  const gaveUp = Promise.withResolvers<void>();
  let runs = 0;
  const serve: RequestListener = (_request, response) => {
    runs += 1;
    response.writeHead(200, { ...head, 'content-length': LENGTH });
    let timer: NodeJS.Timeout;
    let sent = 0;
    const write = (): void => {
      clearTimeout(timer);
      while (sent < LENGTH) {
        sent += CHUNK.length;
        if (response.write(CHUNK)) continue;
        timer = setTimeout(() => {
          response.destroy();
          gaveUp.resolve();
        }, GIVES_UP_MS);
        return void response.once('drain', write);
      }
      response.end();
    };
    write();
  };
  return { serve, gaveUp: gaveUp.promise, runs: () => runs };
};

/**
 * Reads the beginning of an answer, waits, and reads what is left of it.
 * @returns the bytes that came
 */
export const readWithPause = (
  port: number,
  path: string,
  headers: Record<string, string>,
  wait: Promise<void>,
): Promise<number> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    let bytes = 0;
    socket.once('data', () => {
      socket.pause();
      void wait.then(() => socket.resume());
    });
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    socket.on('error', () => undefined).on('close', () => resolve(bytes));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n${lines.join('')}\r\n`);
  });
