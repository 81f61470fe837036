import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { BrowserServer } from 'playwright-core';
import { browserProgram } from './browser-program.ts';

/** How tests start Chromium. */
export const startOptions = async () => ({
  executablePath: await browserProgram(),
  // The package's list is not used, because it is made for a cloud function: it disables web
  // security, which these tests check, and runs everything in one process, where closing the
  // first context ends the browser.
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--headless=shell'],
});

/**
 * One browser for all suites of a run. It starts when the first suite asks for it, so that a run
 * without such suites has none. The suites find it through BROWSER_URL. Each has a connection with
 * its own contexts, and ending the connection ends only those.
 * @returns ends the browser
 */
export const serveBrowser = async (): Promise<() => Promise<void>> => {
  let started: Promise<BrowserServer> | undefined;
  // Chromium does not remove all its temporary files.
  const folder = mkdtempSync(path.join(tmpdir(), 'browser-'));
  const start = async () => {
    const { chromium: playwright } = await import('playwright-core');
    const server = await playwright.launchServer({
      ...(await startOptions()),
      env: { ...process.env, TMPDIR: folder } as Record<string, string>,
      host: '127.0.0.1',
      // At a signal the set-up's process ends the stack too, and the browser when it exits.
      handleSIGINT: false,
      handleSIGTERM: false,
      handleSIGHUP: false,
    });
    server.on('close', () => {
      if (!ending) console.error('The browser of the tests ended by itself.');
    });
    return server;
  };
  let ending = false;
  const door = createServer((_request, response) => {
    started ??= start();
    started.then(
      (server) => response.end(server.wsEndpoint()),
      (error: Error) => response.writeHead(500).end(`The browser did not start: ${error.message}`),
    );
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  process.env.BROWSER_URL = `http://127.0.0.1:${(door.address() as AddressInfo).port}/`;
  return async () => {
    ending = true;
    door.closeAllConnections();
    door.close();
    await (await started?.catch(() => undefined))?.close();
    rmSync(folder, { recursive: true, force: true });
  };
};
