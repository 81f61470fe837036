import type { WithServers } from './integration-setup.ts';

export default async function tearDown(): Promise<void> {
  await (globalThis as WithServers).testServers?.stop();
}
