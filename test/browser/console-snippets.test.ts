import { execFile, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createConsumer, createDelegate, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { createShopProject } from '../support/actors/shops.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The page with code to copy: each snippet is copied as a person does, compiled with strict types,
 * and run in a project that has what the page tells to install.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const { opened } = consoleSuite(stack);

/** The text that the button of a snippet copies. */
const copied = (console: ConsolePage, label: string): Promise<string> =>
  console.copied(console.page.getByRole('button', { name: `Copy: ${label}`, exact: true }));

const email = `snippets-${crypto.randomUUID().slice(0, 8)}@example.com`;
let vendor: Vendor;
let delegateKey: string;
let project: Awaited<ReturnType<typeof createShopProject>>;
beforeAll(async () => {
  await createVendor(api, stack, { email, name: 'First API' });
  [vendor, project] = await Promise.all([
    createVendor(api, stack, { email, name: 'It is the "second" API', price: 250_000n }),
    createShopProject(),
  ]);
  const consumer = await createConsumer(api, stack);
  delegateKey = (await createDelegate(api, consumer, { daily: '90000000' })).api_key;
  symlinkSync(path.join(root, 'node_modules/@types'), path.join(project.folder, 'node_modules/@types'));
});
afterAll(() => project?.stop());

/** The page with the second service. */
const integrate = async (): Promise<ConsolePage> => {
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go(`/integrate?service=${vendor.serviceId}`);
  return page;
};
/** Only the keys are not filled in. Without the address of the API, the page's own is called. */
const keys = () => ({ SERVICE_KEY: vendor.apiKey, DELEGATE_KEY: delegateKey });

/** Compiles programs as a strict project does. */
const compile = async (programs: Record<string, string>): Promise<void> => {
  const folder = path.join(project.folder, 'strict');
  for (const [file, code] of Object.entries(programs)) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), code);
  }
  const options = ['--strict', '--noEmit', '--skipLibCheck', '--exactOptionalPropertyTypes'];
  const modules = ['--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  await run(path.join(root, 'node_modules/.bin/tsc'), [...options, ...modules, ...Object.keys(programs)], {
    cwd: folder,
  }).catch((error: { stdout: string }) => {
    throw new Error(error.stdout);
  });
};

/** Runs a program of the page, and returns what it prints. */
const runProgram = async (file: string, code: string, command: string, args: string[] = []) => {
  writeFileSync(path.join(project.folder, file), code);
  const { stdout } = await run(command, [file, ...args], {
    cwd: project.folder,
    env: { PATH: process.env.PATH, ...keys() },
    timeout: 60_000,
  });
  return stdout;
};

const FRAMEWORKS = [
  ['Express', 'vendor.ts'],
  ['Fastify', 'vendor.ts'],
  ['Hono', 'vendor.ts'],
  ['Next', 'app/report/route.ts'],
] as const;

test('all programs compile with strict types, and have the service, its price and this server', async () => {
  const page = await integrate();
  const { origin } = new URL(stack.console_url);
  const programs: Record<string, string> = {
    'buyer.ts': await copied(page, 'buyer.ts'),
    'calls.ts': await copied(page, 'The calls, TypeScript'),
  };
  for (const [name, file] of FRAMEWORKS) {
    await page.page.getByRole('tab', { name, exact: true }).click();
    const code = await copied(page, `2. ${file}`);
    for (const filled of [origin, vendor.serviceId, "price: '$0.25'", "environment: 'test'"])
      expect(code).toContain(filled);
    programs[`${name.toLowerCase()}/${path.basename(file)}`] = code;
    expect(await copied(page, '1. Install')).toContain('npm pack ./sdk');
  }
  expect(programs['buyer.ts']).toContain("maxAmount: '$0.25'");
  expect(await page.page.textContent('body')).not.toContain(vendor.apiKey);
  await page.page.locator('.code-keyword').first().waitFor();
  await page.shoot('integrate');
  expect(await page.findings()).toEqual([]);
  await compile(programs);
});

/** Starts a vendor's program under another port, because several run on this machine. */
const startVendor = async (code: string, name: string) => {
  const port = String(await createPortPicker().any());
  const file = `vendor-${name}.ts`;
  writeFileSync(path.join(project.folder, file), code.replaceAll('8402', port));
  const child = spawn(process.execPath, [file], {
    cwd: project.folder,
    env: { PATH: process.env.PATH, ...keys() },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)));
  const url = `http://localhost:${port}/report`;
  await waitFor(
    () =>
      fetch(url).then(
        ({ status }) => status,
        () => output,
      ),
    (status) => status === 402,
  );
  return { url, stop: () => child.kill() };
};

/** What a Next server does with a route, because Next is no package of this tree. */
const HOST = `
import { serve } from '@hono/node-server';
serve({ fetch: (request) => GET(request), port: 8402 });
`;

test.each(FRAMEWORKS)(
  '%s: the vendor starts as copied, and the buyer as copied pays it',
  async (name, file) => {
    const page = await integrate();
    await page.page.getByRole('tab', { name, exact: true }).click();
    const code = await copied(page, `2. ${file}`);
    const buyer = await copied(page, 'buyer.ts');
    const shop = await startVendor(name === 'Next' ? `${code}${HOST}` : code, name.toLowerCase());
    try {
      const printed = await runProgram('buyer.ts', buyer, process.execPath, [shop.url]);
      expect(printed).toContain("{ report: 'All is well.' }");
      expect(printed).toContain('settlementId');
    } finally {
      shop.stop();
    }
  },
);

test('the calls run in TypeScript, curl and Python, and deliver once each', async () => {
  const page = await integrate();
  const typescript = await copied(page, 'The calls, TypeScript');
  expect(await runProgram('calls.ts', typescript, process.execPath)).toMatch(/^deliver stl_/);
  await page.page.getByRole('tab', { name: 'curl', exact: true }).click();
  const shell = await copied(page, 'The calls, curl');
  expect(await runProgram('calls.sh', shell, 'sh')).toContain('"replayed":false');
  await page.page.getByRole('tab', { name: 'Python', exact: true }).click();
  const python = await copied(page, 'The calls, Python');
  expect(await runProgram('calls.py', python, 'python3')).toMatch(/^deliver stl_/);
});

test('the page fits a phone, and works without a service', async () => {
  const page = await opened({ person: await signInPerson(stack), width: 'phone', colours: 'dark' });
  await page.go('/integrate');
  await page.page.getByText('You have no service yet').waitFor();
  expect(await copied(page, '2. vendor.ts')).toContain("process.env.SERVICE_ID ?? 'SERVICE_ID'");
  await page.page.locator('.code-keyword').first().waitFor();
  await page.shoot('integrate-empty');
  expect(await page.findings()).toEqual([]);
  expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});
