import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { startBrowser } from './browser.ts';
import { type ConsolePage, openConsole } from './console.ts';

/**
 * The fixture of a console suite: one browser, and pages that are closed and checked for errors
 * after each test.
 * @param except errors that the suite accepts
 * @returns `opened` opens a page (see openConsole)
 */
export const consoleSuite = (
  stack: Parameters<typeof openConsole>[1],
  { except }: { except?: RegExp } = {},
) => {
  let browser: Browser;
  let open: ConsolePage[] = [];
  beforeAll(async () => {
    browser = await startBrowser();
  }, 60_000);
  afterEach(async () => {
    const trouble = open.flatMap((each) => each.trouble()).filter((each) => except?.test(each) !== true);
    await Promise.all(open.map((each) => each.close()));
    open = [];
    expect(trouble).toEqual([]);
  });
  afterAll(() => browser?.close());

  const opened = async (options: Parameters<typeof openConsole>[2] = {}): Promise<ConsolePage> => {
    const page = await openConsole(browser, stack, options);
    open.push(page);
    return page;
  };
  return { opened };
};
