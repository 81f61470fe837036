import pino from 'pino';
import { openChain } from './chain.ts';
import { createClock } from './clock.ts';
import { readConfig } from './config.ts';
import { createFaults } from './faults.ts';
import { keyNamed } from './keys.ts';
import { accountMethods } from './methods/accounts.ts';
import { blockMethods } from './methods/blocks.ts';
import { controlMethods } from './methods/control.ts';
import { transactionMethods } from './methods/transactions.ts';
import { createRpc } from './rpc.ts';
import { scenarioMethods } from './scenarios/scenario-methods.ts';
import { startServer } from './server.ts';

const config = readConfig(process.env);
const log = pino({ name: 'chain' });
const { dataDir, seed, genesisMint, programs } = config;
const chain = openChain({ dataDir, seed, genesisMint, programs, log });
const clock = createClock(chain, config.slotMs);
const faults = createFaults();
const methods = {
  ...blockMethods(chain),
  ...accountMethods(chain),
  ...transactionMethods(chain),
  ...(config.control && controlMethods(chain, clock, faults)),
};
const rpc = createRpc({ methods, faults, log });
const { host, port, scenariosPort } = config;
const stops = [await startServer({ host, port, rpc, chain })];
if (scenariosPort !== undefined) {
  const played = { ...methods, ...scenarioMethods(chain, keyNamed(genesisMint!.address)!) };
  const scenarios = createRpc({ methods: played, faults, log });
  stops.push(await startServer({ host, port: scenariosPort, rpc: scenarios, chain }));
}
// The clock starts after the ports are open, because a second process over the same folder must not
// write into it.
clock.set({ slotMs: config.slotMs, paused: false, onDemand: false });
log.info(
  { rpc_url: `http://${host}:${port}`, ws_url: `ws://${host}:${port}`, slot: chain.ledger.slot() },
  'ready',
);

const stop = (): void => {
  clock.stop();
  for (const stopServer of stops) stopServer();
  chain.close();
  process.exit(0);
};
process.once('SIGTERM', stop);
process.once('SIGINT', stop);
