import { existsSync } from 'node:fs';
import { createConnection } from 'node:net';
import path from 'node:path';
import { findBinary, unpackedDir } from './binaries.mjs';

const host = '127.0.0.1';

/** A server that was unpacked without an installation has its libraries beside it. */
export function binary(name: string): { command: string; env?: Record<string, string> } {
  const command = findBinary(name);
  if (!command) throw new Error(`${name} was not found: run \`npm start\` or install the package ${name}`);
  if (!command.startsWith(unpackedDir)) return { command };
  const triplet = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
  const folders = [`usr/lib/${triplet}`, `lib/${triplet}`].map((folder) => path.join(unpackedDir, folder));
  return { command, env: { LD_LIBRARY_PATH: folders.filter(existsSync).join(':') } };
}

/** Whether the server on this port greets or answers like the expected server. */
export function answers(port: number, question: string, beginning: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    const done = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(1000, () => done(false));
    socket.once('error', () => done(false));
    socket.once('connect', () => question && socket.write(question));
    socket.once('data', (data) => done(data.toString('latin1').startsWith(beginning)));
  });
}
