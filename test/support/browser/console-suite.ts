import { afterEach, expect } from '@jest/globals';
import { browserOfSuite } from './browser-suite.ts';
import { type ConsolePage, openConsole } from './console.ts';

/**
 * The fixture of a console suite: one browser, and pages that are closed and checked for errors
 * after each test.
 * @param except errors that the suite accepts
 * @returns `opened` opens a page (see openConsole); `browser` is for a page that is not checked
 */
export const consoleSuite = (
  stack: Parameters<typeof openConsole>[1],
  { except }: { except?: RegExp } = {},
) => {
  const browser = browserOfSuite();
  let open: ConsolePage[] = [];
  afterEach(async () => {
    const problem = open.flatMap((each) => each.problem()).filter((each) => except?.test(each) !== true);
    await Promise.all(open.map((each) => each.close()));
    open = [];
    expect(problem).toEqual([]);
  });

  const opened = async (options: Parameters<typeof openConsole>[2] = {}): Promise<ConsolePage> => {
    const page = await openConsole(browser(), stack, options);
    open.push(page);
    return page;
  };
  return { opened, browser };
};
