import type { WithServers } from './integration-setup.ts';

export default async function tearDown(): Promise<void> {
  const { testTemplate, testServers } = globalThis as WithServers;
  // A suite that was killed leaves a database that uses the roles.
  await testTemplate?.drop().catch((error: Error) => console.error(error.message));
  await testServers?.stop();
}
