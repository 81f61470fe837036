import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { createDashboardServer } from '../../deploy/local/dashboards/server.ts';
import { browserOfSuite } from '../support/browser/browser-suite.ts';

const browser = browserOfSuite();

/** The languages of an ordinary browser, and of one on a system without a locale. */
test.each(['en-US', 'en-US@posix', ''])(
  'the dashboards open in a browser of language %p',
  async (language) => {
    // No Prometheus answers, so the panels are empty.
    const app = await createDashboardServer('http://127.0.0.1:1');
    await app.listen({ host: '127.0.0.1', port: 0 });
    const context = await browser().newContext();
    await context.addInitScript((name) => {
      Object.defineProperty(navigator, 'language', { value: name, configurable: true });
    }, language);
    const page = await context.newPage();
    const faults: Error[] = [];
    page.on('pageerror', (fault) => faults.push(fault));
    await page.goto(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}/`);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    expect(faults).toEqual([]);
    await context.close();
    await app.close();
  },
);
