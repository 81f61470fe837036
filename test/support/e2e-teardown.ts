import type { WithStack } from './e2e-setup.ts';

export default async function tearDown(): Promise<void> {
  await (globalThis as WithStack).testStack?.stop();
}
