import { existsSync, readFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { connect } from 'node:tls';
import { findBinary, unpackedDir } from './binaries.mjs';

const host = '127.0.0.1';

/**
 * The files of a certificate for `localhost`, which is its own authority, and of its key. The
 * servers then encrypt every connection.
 */
export type ServerTls = { certFile: string; keyFile: string };

/** A server that was unpacked without an installation has its libraries beside it. */
export function binary(name: string): { command: string; env?: Record<string, string> } {
  const command = findBinary(name);
  if (!command) throw new Error(`${name} was not found: run \`npm start\` or install the package ${name}`);
  if (!command.startsWith(unpackedDir)) return { command };
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const folders = [`usr/lib/${triplet}`, `lib/${triplet}`].map((folder) => path.join(unpackedDir, folder));
  return { command, env: { LD_LIBRARY_PATH: folders.filter(existsSync).join(':') } };
}

/**
 * Whether the server on this port greets or answers like the expected server.
 * @param tls for a server that speaks first after the handshake of TLS
 */
export function answers(
  port: number,
  question: string,
  beginning: string,
  tls?: ServerTls,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket =
      tls === undefined
        ? createConnection({ host, port })
        : connect({ host, port, servername: 'localhost', ca: readFileSync(tls.certFile) });
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => done(false));
    socket.once('error', () => done(false));
    socket.once(tls === undefined ? 'connect' : 'secureConnect', () => question && socket.write(question));
    socket.once('data', (data) => done(data.toString('latin1').startsWith(beginning)));
  });
}
