import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createConsumer, createDelegate, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { payingFetch, usageOf } from '../../sdk/src/pay/main.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { startUpstream } from '../support/fixtures/gate.ts';
import { createShell } from '../support/rules/guide-snippets.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The page that puts a gate before an API: what it gives to copy is run as a vendor runs it, in
 * front of a server that knows nothing of payments, and a buyer pays it.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack);
const root = path.resolve(import.meta.dirname, '../..');
const ports = createPortPicker();

const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const copied = (console: ConsolePage, label: string): Promise<string> =>
  console.copied(button(console, `Copy: ${label}`));
const route = ({ page }: ConsolePage, at: number) =>
  page.getByRole('group', { name: `Route ${at}`, exact: true });
const select = async (
  console: ConsolePage,
  where: ReturnType<typeof route>,
  name: RegExp,
  option: string,
) => {
  await where.getByRole('button', { name }).click();
  await console.page.getByRole('option', { name: option, exact: true }).click();
};

const email = `protect-${crypto.randomUUID().slice(0, 8)}@example.com`;
let vendor: Vendor;
let delegateKey: string;
const folder = mkdtempSync(path.join(tmpdir(), 'quittance-protect-'));
let upstream: Awaited<ReturnType<typeof startUpstream>>;
beforeAll(async () => {
  const [made, consumer] = await Promise.all([
    createVendor(api, stack, { email, name: 'Weather API', price: 50_000n }),
    createConsumer(api, stack),
  ]);
  vendor = made;
  delegateKey = (await createDelegate(api, consumer, { daily: '90000000' })).api_key;
  upstream = await startUpstream((request, response) => {
    if (request.url === '/chat') response.setHeader('X-Tokens', '320');
    response.setHeader('Content-Type', 'application/json').end('{"report":"All is well."}');
  });
  const gate = path.join(root, 'gate/src/program/quittance-gate.ts');
  const npx = `[ "$1 $2" = '--no-install quittance-gate' ] || exit 64; shift 2; exec '${process.execPath}' '${gate}' "$@"`;
  writeFileSync(path.join(folder, 'npx'), `#!/bin/sh\n${npx}\n`);
  chmodSync(path.join(folder, 'npx'), 0o755);
});
afterAll(async () => {
  await upstream?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const open = async (options: Partial<Parameters<typeof opened>[0]> = {}): Promise<ConsolePage> => {
  const page = await opened({ person: await signInPerson(stack, { email }), ...options });
  await page.go(`/protect?service=${vendor.serviceId}`);
  return page;
};

/** Types the addresses of this test, a route by use and a free one. */
const fillIn = async (console: ConsolePage, port: number): Promise<void> => {
  const { page } = console;
  await page.getByLabel('Upstream address').fill(`http://127.0.0.1:${upstream.port}`);
  await page.getByLabel('Public address').fill(`http://127.0.0.1:${port}`);
  await page.getByText('Advanced').click();
  await page.getByLabel('Listens on').fill(`127.0.0.1:${port}`);
  await button(console, 'Add a route').click();
  await page.keyboard.type('X');
  expect(await route(console, 2).getByLabel('Methods').inputValue()).toBe('GETX');
  await route(console, 2).getByLabel('Methods').fill('post');
  await route(console, 2).getByLabel('Path').fill('/chat');
  await select(console, route(console, 2), /Charge/, 'By use, up to a ceiling');
  await button(console, 'Add a route').click();
  await route(console, 3).getByLabel('Path').fill('/health');
  await select(console, route(console, 3), /Charge/, 'Free');
};

/** Runs what the page gave, in one shell, until `use` has ended. */
const whileServing = async (
  name: string,
  given: { key: string; environment: string; start: string; check: string; url: string },
  use: () => Promise<void>,
): Promise<string> => {
  const operations = await ports.any();
  const shell = createShell(folder, name, { PATH: `${folder}${path.delimiter}${process.env.PATH}` });
  try {
    await shell.run(given.environment.replace('vendor_test_…', given.key));
    // Several gates run on this machine.
    await shell.run(`${given.start.trimEnd()} --operations 127.0.0.1:${operations} &`);
    await waitFor(
      () => fetch(`${given.url}/report`).then(({ status }) => status, shell.output),
      (status) => status === 402,
    );
    await use();
    await shell.run(`echo checked; ${given.check}`);
    // The lines of the gate's log are JSON.
    const [, after = ''] = shell.output().split('checked\n');
    return after.replaceAll(/^\{.*\n?/gm, '').trimEnd();
  } finally {
    shell.stop();
  }
};

test('what the page gives starts a gate, by its file and by its command, and a buyer pays it', async () => {
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go(`/services/${vendor.serviceId}`);
  await page.page.getByRole('link', { name: 'Protect an API' }).click();
  await page.page.getByRole('heading', { name: 'Protect an API', level: 1 }).waitFor();
  const port = await ports.any();
  await fillIn(page, port);

  await button(page, 'Create a new key').click();
  await button(page, 'Rotate key').click();
  await page.page.getByRole('heading', { name: 'New key of “Weather API”' }).waitFor();
  const key = (await page.page.getByRole('dialog').locator('code').first().textContent())!;
  expect(key).toMatch(/^vendor_test_/);
  await button(page, 'I saved it').click();
  expect(await page.page.content()).not.toContain(key);

  await page.page.locator('.code-name').first().waitFor();
  await page.shoot('protect');
  expect(await page.findings()).toEqual([]);
  const environment = await copied(page, 'Environment');
  expect(environment).toContain(vendor.serviceId);
  const file = await copied(page, 'gate.yaml');
  const [download] = await Promise.all([
    page.page.waitForEvent('download'),
    button(page, 'Download: gate.yaml').click(),
  ]);
  expect(download.suggestedFilename()).toBe('gate.yaml');
  await download.saveAs(path.join(folder, 'gate.yaml'));
  const given = {
    key,
    environment,
    check: await copied(page, 'With the same environment'),
    url: `http://127.0.0.1:${port}`,
  };
  const starts = {
    file: await copied(page, 'Start with gate.yaml'),
    command: await copied(page, 'The same without a file'),
  };
  const promised = await page.page
    .getByRole('figure')
    .filter({ hasText: 'It prints' })
    .locator('code')
    .innerText();
  expect(file).toContain('units_header: X-Tokens');

  for (const [name, start] of Object.entries(starts)) {
    const printed = await whileServing(name, { ...given, start }, async () => {
      const pay = payingFetch(fetch, { baseUrl: stack.gateway_url, delegateKey, maxAmount: '$1.50' });
      const report = await pay(`${given.url}/report`);
      expect([report.status, await report.json()]).toEqual([200, { report: 'All is well.' }]);
      const chat = await pay(`${given.url}/chat`, { method: 'POST', body: 'hello' });
      expect([chat.status, usageOf(chat)?.chargedMicro]).toEqual([200, '3200']);
      await pay.closeTabs();
      expect((await fetch(`${given.url}/health`)).status).toBe(200);
    });
    expect(printed).toBe(promised);
  }
  expect(upstream.seen.map(({ url }) => url)).toEqual([
    '/report',
    '/chat',
    '/health',
    '/report',
    '/chat',
    '/health',
  ]);
});

test('a mistake is beside its field and read aloud, and then there is nothing to copy', async () => {
  const page = await open();
  await page.page.getByLabel('Upstream address').fill('127.0.0.1:9000');
  await route(page, 1).getByLabel('Path').fill('report');
  await route(page, 1).getByLabel('Price of a call').fill('0.01');
  const field = page.page.getByLabel('Upstream address');
  const ids = ((await field.getAttribute('aria-describedby')) ?? '').split(' ');
  const said = (await Promise.all(ids.map((id) => page.page.locator(`[id="${id}"]`).textContent()))).join(
    ' ',
  );
  expect(said).toContain('Use an address with its scheme, like http://127.0.0.1:9000.');
  const status = page.page.getByRole('status').filter({ hasText: 'Nothing to copy yet' });
  await status.getByText('The lowest price is 0.010001 USDC.').waitFor();
  await status.getByText('Use methods and a path').waitFor();
  expect(await button(page, 'Copy: gate.yaml').count()).toBe(0);
  await page.shoot('protect-wrong');
  expect(await page.findings()).toEqual([]);
  await field.fill('http://127.0.0.1:9000');
  await route(page, 1).getByLabel('Path').fill('/report');
  await route(page, 1).getByLabel('Price of a call').fill('0.05');
  await button(page, 'Copy: gate.yaml').waitFor();
  await page.page.getByText('You receive 0.04 USDC per call').waitFor();
});

test('containers and the four proxies have the addresses of the form, on a phone in dark colours', async () => {
  const page = await open({ width: 'phone', colours: 'dark' });
  await page.page.getByRole('tab', { name: 'Compose' }).click();
  await page.page.getByText('is the gate’s own container').waitFor();
  await page.page.getByLabel('Upstream address').fill('http://api:9000');
  expect(await copied(page, 'compose.yaml')).toContain('image: quittance-gate');
  await page.page.getByRole('tab', { name: 'Kubernetes' }).click();
  expect(await copied(page, 'gate.k8s.yaml')).toContain('    upstream: http://api:9000\n');
  await page.page.getByRole('tab', { name: 'Docker' }).click();
  expect(await copied(page, 'Build and start')).toContain('--volume "$PWD/gate.yaml:/app/gate.yaml:ro"');
  await page.shoot('protect-container');
  expect([await page.findings(), await page.wider()]).toEqual([[], []]);
  await page.page.getByLabel('Public address').fill('https://api.example.com');
  for (const [option, file] of [
    ['nginx, which asks the gate', 'nginx.conf'],
    ['Caddy, which asks the gate', 'Caddyfile'],
    ['HAProxy, which asks the gate', 'quittance-haproxy.lua'],
    ['Apache, which asks the gate', 'apache.conf'],
  ] as const) {
    await page.page.getByRole('button', { name: /In front of the API/ }).click();
    await page.page.getByRole('option', { name: option }).click();
    expect(await copied(page, file)).toMatch(/api:9000|127\.0\.0\.1:8402/);
    expect(await copied(page, 'gate.yaml')).toBe(
      'mode: authorize\nroutes:\n  - match: GET /report\n    price: $0.05\n',
    );
  }
  await page.shoot('protect-proxy');
  expect([await page.findings(), await page.wider()]).toEqual([[], []]);
});

test('a vendor without a service is led to creating one', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/protect');
  await page.page.getByText('You have no service yet').waitFor();
  expect(await page.findings()).toEqual([]);
});
