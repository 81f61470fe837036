import type { WithStack } from './e2e-setup.ts';

export default async function tearDown(): Promise<void> {
  const { testStack, endBrowser } = globalThis as WithStack;
  await endBrowser?.();
  await testStack?.stop();
}
