import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { bundled } from '../../../deploy/image/bundle.ts';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { environmentKeys } from '../../../deploy/local/stack/keys.ts';
import { gatewayEnvironment } from '../../../deploy/local/stack/service-environment.ts';
import { programs } from '../../../deploy/local/stack/service-specs.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { responds } from '../../../deploy/local/stack/tool-specs.ts';
import { inherited } from '../base/inherited.ts';
import { waitUntil } from '../base/wait.ts';

export type GatewayWithLimits = { url: string; stop: () => Promise<void> };

/** The windows of the stack's own gateways are in database 0. */
const OWN_WINDOWS = '/1';

/** Starts a gateway beside those of a stack, for its test environment, with the default limits. */
export const startGatewayWithLimits = async ({
  stack,
  stackFile,
}: RunningStack): Promise<GatewayWithLimits> => {
  const port = await createPortPicker().any();
  const url = `http://127.0.0.1:${port}`;
  const keys = environmentKeys(path.dirname(stackFile), 'test');
  const test = { ...stack.environments.test!, name: 'test', keys };
  const env = gatewayEnvironment(
    port,
    [{ ...test, nats: { url: stack.nats_url, seedOf: () => stack.nats_nkey_seed } }],
    {
      gatewayUrl: url,
      redisUrl: new URL(OWN_WINDOWS, stack.redis_url).href,
      limitsFile: '',
      logLevel: 'info',
    },
  );
  const { command, args } = programs(await bundled())('gateway', 'gateway');
  const child: ChildProcess = spawn(command, args, {
    env: { ...inherited, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  await waitUntil(() => child.exitCode !== null || responds(`${url}/v1/health/ready`), { withinMs: 60_000 });
  if (child.exitCode !== null) throw new Error(`the gateway ended with ${child.exitCode}: ${output}`);
  return { url, stop };
};
