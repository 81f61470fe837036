import { afterAll, beforeAll, jest } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from './browser.ts';

/** More than one action may take, so that a failure names the action. */
const TEST_MS = 180_000;

/**
 * The browser of a suite, from before its first test to after its last one. Its tests have the time
 * that tests in a browser need on a busy machine.
 * @returns gives the browser to a test
 */
export const browserOfSuite = (): (() => Browser) => {
  let browser: Browser | undefined;
  jest.setTimeout(TEST_MS);
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());
  return () => browser!;
};
