// A job of compose.yaml: creates the fee account and the treasury's USDC on the local chain, and
// sends SOL. A second run changes nothing.

import type { EnvironmentKeys } from '../local/stack/keys.ts';
import { seedChain } from '../local/stack/seed-chain.ts';

const { RPC_URL, ENVIRONMENT_KEYS } = process.env;
if (!RPC_URL || !ENVIRONMENT_KEYS) {
  console.error('RPC_URL and ENVIRONMENT_KEYS must be set');
  process.exit(78); // EX_CONFIG of sysexits.h
}
const { genesisHash } = await seedChain(RPC_URL, JSON.parse(ENVIRONMENT_KEYS) as EnvironmentKeys);
console.log(`chain ${genesisHash} is seeded`);
