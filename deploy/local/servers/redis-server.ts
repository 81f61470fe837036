import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { answers, binary, type ServerTls } from './server-process.ts';

const host = '127.0.0.1';

/**
 * redis-server without persistence. It holds only the windows of the rate limits, which need not
 * survive a restart.
 */
export function redisServer({
  stateDir,
  port,
  tls,
}: {
  stateDir: string;
  port: number;
  tls?: ServerTls | undefined;
}): ProcessSpec {
  const folder = path.join(stateDir, 'redis');
  // Once a second instead of ten times, Redis looks for expired keys that nobody reads.
  const options = { ...listening(port, tls), bind: host, dir: folder, save: '', appendonly: 'no', hz: 1 };
  return {
    name: 'redis-server',
    kind: 'server',
    ...binary('redis-server'),
    args: Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    prepare: () => void mkdirSync(folder, { recursive: true }),
    ready: () => answers(port, 'PING\r\n', '+PONG', tls),
  };
}

function listening(port: number, tls: ServerTls | undefined): Record<string, string | number> {
  if (tls === undefined) return { port };
  return {
    port: 0,
    'tls-port': port,
    'tls-cert-file': tls.certFile,
    'tls-key-file': tls.keyFile,
    'tls-auth-clients': 'no',
  };
}
