import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { ProcessSpec } from '../processes/process-spec.ts';
import { type NatsAccount, natsConf } from './nats-conf.ts';
import { answers, binary, type ServerTls } from './server-process.ts';

const host = '127.0.0.1';

/**
 * nats-server with JetStream in `<stateDir>/nats`. Its configuration is written at every start.
 * @throws if the binary is not found, with the name of the package.
 */
export function natsServer(options: {
  stateDir: string;
  port: number;
  accounts: readonly NatsAccount[];
  tls?: ServerTls | undefined;
  afterReady?: () => Promise<void>;
}): ProcessSpec {
  const { stateDir, port, accounts, tls, afterReady } = options;
  const folder = path.join(stateDir, 'nats');
  const file = path.join(folder, 'nats.conf');
  return {
    name: 'nats-server',
    kind: 'server',
    ...binary('nats-server'),
    args: ['-c', file],
    prepare: () => {
      mkdirSync(folder, { recursive: true });
      const text = natsConf({ host, port, storeDir: folder, accounts, tls });
      writeFileSync(file, text, { mode: 0o600 });
    },
    ready: () => answers(port, '', 'INFO'),
    ...(afterReady ? { afterReady } : {}),
  };
}
