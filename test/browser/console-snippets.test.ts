import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, signInPerson } from '../support/console.ts';
import { consoleSuite } from '../support/console-suite.ts';
import { runningStack } from '../support/stack.ts';

/**
 * The page with code to copy: the account's service is filled in, and the rest is the manual's and
 * the examples' code.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const root = path.resolve(import.meta.dirname, '../..');
const source = (file: string) => readFileSync(path.join(root, file), 'utf8');

const { opened } = consoleSuite(stack);
/** The text that the button of a snippet copies. */
const copied = (console: ConsolePage, label: string): Promise<string> =>
  console.copied(console.page.getByRole('button', { name: `Copy: ${label}`, exact: true }));

test.each([
  ['Express', 'examples/express.ts', 'express.ts'],
  ['Fastify', 'examples/fastify.ts', 'fastify.ts'],
  ['Hono', 'examples/hono.ts', 'hono.ts'],
  ['Next', 'examples/next/app/report/route.ts', 'app/report/route.ts'],
])('%s: the lines of the manual and the whole example, unchanged', async (name, file, label) => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/integrate');
  await page.page.getByRole('tab', { name, exact: true }).click();
  const route = await copied(page, `The route, in ${name}`);
  expect(route).toContain(`@quittance/sdk/${name.toLowerCase()}`);
  expect(source('sdk/README.md')).toContain(route);
  await page.page.getByText(`A whole vendor in ${name}`).click();
  expect(await copied(page, label)).toBe(source(file));
  expect(await copied(page, 'paywall.ts, by the environment')).toBe(source('examples/paywall.ts'));
  expect(await page.findings()).toEqual([]);
});

test('the account’s service and this gateway are filled in, and unknown values stay as in the manual', async () => {
  const email = `snippets-${crypto.randomUUID().slice(0, 8)}@example.com`;
  await createVendor(api, stack, { email, name: 'First API' });
  const { serviceId, apiKey } = await createVendor(api, stack, { email, name: 'It is the "second" API' });
  const person = await signInPerson(stack, { email });
  const page = await opened({ person });
  await page.go('/integrate');
  await page.page.getByRole('button', { name: /Service/ }).click();
  await page.page.getByRole('option', { name: 'It is the "second" API' }).click();
  const { origin } = new URL(stack.console_url);
  const paywall = await copied(page, 'paywall.ts');
  expect(paywall).toContain(`const baseUrl = '${origin}';\nconst serviceId = '${serviceId}';`);
  expect(paywall).toContain("environment: 'test'");
  const manual = source('sdk/README.md');
  for (const line of paywall.split('\n').filter((each) => !/^const (baseUrl|serviceId) = /.test(each)))
    expect(manual).toContain(line);
  expect(await copied(page, 'The client')).toContain(`const service_id = '${serviceId}';`);
  expect(await copied(page, 'A fetch that pays')).toContain(`const baseUrl = '${origin}';`);
  await page.page.getByText('A whole vendor in Express').click();
  expect(await copied(page, '.env')).toContain(`SERVICE_ID=${serviceId}\nSERVICE_KEY=vendor_test_…`);
  expect(await page.page.textContent('body')).not.toContain(apiKey);
  await page.shoot('integrate');
  expect(await page.findings()).toEqual([]);
});

test('the page fits a phone, and works without a service', async () => {
  const page = await opened({ person: await signInPerson(stack), width: 'phone', colours: 'dark' });
  await page.go('/integrate');
  await page.page.getByText('You have no service yet').waitFor();
  expect(await copied(page, 'paywall.ts')).toContain("const serviceId = 'SERVICE_ID';");
  await page.shoot('integrate-empty');
  expect(await page.findings()).toEqual([]);
  expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
