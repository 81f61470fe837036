import { type RunningStack, startStack } from '../../deploy/local/stack.ts';
import { externalServers } from './external-servers.ts';
import { totals } from './last-line.ts';
import { testStateDir } from './test-state.ts';

export type WithStack = typeof globalThis & { testStack?: RunningStack };

/** Starts the whole stack once for all end-to-end tests; they find it through the file that STACK_FILE names. */
export default async function setUp(): Promise<void> {
  totals();
  const running = await startStack({
    stateDir: testStateDir('e2e'),
    // An outside NATS has no account per environment, so there the isolation of the two cannot be tested.
    environments: externalServers.natsUrl ? ['test'] : ['test', 'live'],
    ports: 'any',
    chainControl: true,
    chainSlotMs: 50,
    rateLimitScale: 100,
    durable: false,
    external: externalServers,
    print: (line) => console.log(line),
  });
  (globalThis as WithStack).testStack = running;
  process.env.STACK_FILE = running.stackFile;
}
