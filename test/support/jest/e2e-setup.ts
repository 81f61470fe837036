import { type RunningStack, startStack } from '../../../deploy/local/stack/stack.ts';
import { serveBrowser } from '../browser/browser-server.ts';
import { packages } from '../packages/packages.ts';
import { writePrograms } from '../servers/chain-programs.ts';
import { testStateDir } from '../servers/test-state.ts';
import { freeUdpPort } from '../stand-ins/name-server.ts';
import { lighthouse } from '../stand-ins/stand-in-programs.ts';
import { externalServers, testDatabases } from './external-servers.ts';
import { totals } from './last-line.ts';

export type WithStack = typeof globalThis & { testStack?: RunningStack; endBrowser?: () => Promise<void> };

/**
 * Starts the whole stack once for all end-to-end tests, packs our packages for them, and serves a
 * browser. They find the stack through the file that STACK_FILE names. A suite that proves a domain
 * starts a name server on NAME_SERVER_PORT. With TEST_DATABASES=7 each
 * service has a Postgres of its own, with TEST_READ_REPLICAS=1 a replica answers the lists. If one
 * of these fails, the tests that need it fail and all others run.
 */
export default async function setUp(): Promise<void> {
  totals();
  const stateDir = testStateDir('e2e');
  const packing = packages().catch((error: Error) =>
    console.error(`The packages could not be packed: ${error.message}`),
  );
  (globalThis as WithStack).endBrowser = await serveBrowser();
  const nameServer = await freeUdpPort();
  try {
    const running = await startStack({
      stateDir,
      // An external NATS has no account per environment, so the isolation of the two environments
      // cannot be tested there.
      environments: externalServers.natsUrl ? ['test'] : ['test', 'live'],
      ports: 'any',
      chainControl: true,
      chainPrograms: writePrograms(testStateDir('programs'), [lighthouse()]),
      // With this slot time a blockhash is valid for 15 s. web3.js caches a blockhash for a while,
      // so a much faster chain would make its clients fail.
      chainSlotMs: 100,
      rateLimitScale: 100,
      durable: false,
      traces: true,
      external: externalServers,
      databases: testDatabases,
      readReplicas: process.env.TEST_READ_REPLICAS === '1',
      nameServers: `127.0.0.1:${nameServer}`,
    });
    (globalThis as WithStack).testStack = running;
    process.env.STACK_FILE = running.stackFile;
    process.env.NAME_SERVER_PORT = String(nameServer);
  } catch (error) {
    process.env.STACK_ERROR = (error as Error).message;
    console.error(`The stack of the end-to-end tests did not start: ${(error as Error).message}`);
  }
  await packing;
}
