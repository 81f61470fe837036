import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { Webhook } from 'standardwebhooks';
import {
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { createShopProject } from '../support/actors/shops.ts';
import { waitFor } from '../support/base/wait.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { packages } from '../support/packages/packages.ts';
import {
  createShell,
  fileOf,
  type Snippet,
  snippetsIn,
  withValues,
} from '../support/rules/guide-snippets.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The programs and commands of the packages' READMEs, as a stranger copies them: compiled by a
 * strict project, and run against the whole system. guides.test.ts does the same for the guides.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const root = path.resolve(import.meta.dirname, '../..');

/** A block with several programs has an empty line before the first line of each next one. */
const programsOf = ({ code, ...of }: Snippet): Snippet[] =>
  code.split(/\n\n(?=\/\/ [\w./-]+\.ts\b)/).map((each) => ({ ...of, code: `${each.trimEnd()}\n` }));
const programs = snippetsIn(['sdk/README.md', 'mcp/README.md'])
  .filter(({ language }) => language === 'ts')
  .flatMap(programsOf)
  .map((snippet, index) => ({ ...fileOf(snippet, index), code: snippet.code }));
const commands = snippetsIn(['cli/README.md']).filter(({ language }) => language === 'sh');

/** Commands that are not run, each with its reason. The list may only get shorter. */
const NOT_RUN: readonly [command: RegExp, reason: string][] = [
  [/npx --no-install quittance login/, 'a person confirms it in the console; cli.test.ts does'],
  [/quittance dev/, 'it runs until Ctrl-C; cli-dev.test.ts does'],
];

const ports = createPortPicker();
const line = createCommandLine(stack);
let project: Awaited<ReturnType<typeof createShopProject>>;
let env: Record<string, string>;
let serviceKey: string;
const shells: ReturnType<typeof createShell>[] = [];
const shellOf = (name: string, more: Record<string, string> = {}) => {
  const shell = createShell(project.folder, name, { ...env, ...more });
  shells.push(shell);
  return shell;
};

const place = (name: string): string => path.join(project.folder, 'readme', name);
const write = (name: string, code: string): void => {
  mkdirSync(path.dirname(place(name)), { recursive: true });
  writeFileSync(place(name), code);
};

beforeAll(async () => {
  const [made, vendor, consumer] = await Promise.all([
    createShopProject(),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
  project = made;
  const modules = path.join(project.folder, 'node_modules');
  for (const name of ['@types', '@modelcontextprotocol', 'zod'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(modules, name));
  cpSync((await packages()).files('mcp'), path.join(modules, '@quittance/mcp'), { recursive: true });
  const delegate = await createDelegate(api, consumer, { daily: '90000000' });
  const quote = await quoteOf(api, vendor);
  const paid = await must(settleWith(api, delegate.api_key, quote, crypto.randomUUID()), 'settle');
  await line.login(consumer.signIn.account.email);
  serviceKey = vendor.apiKey;
  const bin = path.join(project.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'node'), `#!/bin/sh\nexec '${process.execPath}' "$@"\n`, { mode: 0o755 });
  writeFileSync(path.join(bin, 'quittance'), `#!/bin/sh\nexec node '${line.program}' "$@"\n`, {
    mode: 0o755,
  });
  env = {
    PATH: `${bin}${path.delimiter}${process.env.PATH}`,
    HOME: line.folder,
    XDG_CONFIG_HOME: path.join(line.folder, 'config'),
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_ID: vendor.serviceId,
    SERVICE_KEY: vendor.apiKey,
    DELEGATE_KEY: delegate.api_key,
    SETTLEMENT_ID: paid.settlement_id,
    OFFER_SECRET: 'a secret of at least thirty-two characters',
    WEBHOOK_SECRET: `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`,
  };
  for (const { name, code } of programs) write(name, code);
});
afterAll(async () => {
  for (const shell of shells) shell.stop();
  await project?.stop();
  line.remove();
});

test('every program has a name of its own, and none has a type error in a strict project', () => {
  expect(programs.filter(({ named }) => !named)).toEqual([]);
  expect(new Set(programs.map(({ name }) => name)).size).toBe(programs.length);
  const options = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true };
  const places = { module: 'nodenext', target: 'es2022', types: ['node'], allowImportingTsExtensions: true };
  const compilerOptions = { ...options, ...places, skipLibCheck: true, noEmit: true };
  write('tsconfig.json', JSON.stringify({ compilerOptions }));
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  expect(spawnSync(process.execPath, [tsc, '-p', place('')], { encoding: 'utf8' }).stdout).toBe('');
});

test('calls.ts pays and redeems, receipt.ts verifies, dialects.ts loads', async () => {
  const shell = shellOf('calls');
  for (const name of ['calls.ts', 'receipt.ts', 'dialects.ts']) await shell.run(`node readme/${name}`);
  expect(shell.output()).toMatch(/deliver stl_\w+\n/);
  expect(shell.output()).toContain(`${env.SETTLEMENT_ID} 2500000 ${stack.gateway_url}/receipt#`);
});

test.each(['express.ts', 'fastify.ts', 'hono.ts'])('%s sells what buyer.ts buys', async (name) => {
  const port = String(await ports.any());
  const at = (file: string): string => programs.find((each) => each.name === file)!.code;
  write(`${port}.ts`, at(name).replace('8402', port));
  const shop = shellOf(`shop-${port}`, { PUBLIC_URL: `http://127.0.0.1:${port}` });
  await shop.run(`node readme/${port}.ts &`);
  const url = `http://127.0.0.1:${port}/report`;
  await waitFor(
    () => fetch(url).then(({ status }) => status, shop.output),
    (status) => status === 402,
  );
  write(`buyer-${port}.ts`, at('buyer.ts').replace('https://api.example.com/report', url));
  const buyer = shellOf(`buyer-${port}`);
  await buyer.run(`node readme/buyer-${port}.ts`);
  expect(buyer.output()).toMatch(/\{ report: 'All is well' \} 50000\n/);
});

test('metered.ts is paid for what buyer.ts uses', async () => {
  const port = String(await ports.any());
  const at = (file: string): string => programs.find((each) => each.name === file)!.code;
  write(`${port}.ts`, at('metered.ts').replace('8402', port));
  const shop = shellOf(`shop-${port}`, { PUBLIC_URL: `http://127.0.0.1:${port}` });
  await shop.run(`node readme/${port}.ts &`);
  const url = `http://127.0.0.1:${port}`;
  await waitFor(
    () => fetch(`${url}/report`).then(({ status }) => status, shop.output),
    (status) => status === 402,
  );
  const buyer = shellOf(`buyer-${port}`);
  for (const [path, of] of [
    ['report', 'answer.json()'],
    ['search', 'answer.json()'],
    ['words', 'answer.text()'],
  ] as const) {
    const code = at('buyer.ts').replace('https://api.example.com/report', `${url}/${path}`);
    write(`buyer-${path}.ts`, code.replace('answer.json()', of));
    await buyer.run(`node readme/buyer-${path}.ts`);
  }
  expect(buyer.output()).toMatch(/\{ report: 'All is well' \} 50000\n/);
  expect(buyer.output()).toMatch(/\{ found: \[\] \} 50000\n/);
  expect(buyer.output()).toMatch(/data: well\n\n: quittance-usage charged=15000\n/);
});

test('webhook.ts accepts a delivery as it was signed, and no other', async () => {
  const port = String(await ports.any());
  write('receiver.ts', programs.find(({ name }) => name === 'webhook.ts')!.code.replace('8080', port));
  const shell = shellOf('receiver');
  await shell.run('node readme/receiver.ts &');
  const [id, now] = ['evt_1', new Date()];
  const data = { settlement_id: 'stl_1' };
  const body = JSON.stringify({ id, type: 'settlement.redeemed', timestamp: now.toISOString(), data });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(env.WEBHOOK_SECRET!).sign(id, now, body),
  };
  const send = (sent: string) =>
    fetch(`http://127.0.0.1:${port}/hooks`, { method: 'POST', headers, body: sent }).then(
      ({ status }) => status,
      shell.output,
    );
  await waitFor(
    () => send(body),
    (status) => status === 204,
  );
  expect(shell.output()).toContain('evt_1 stl_1\n');
  expect(await send(body.replace('stl_1', 'stl_2'))).toBe(400);
});

test('server.ts of the MCP package asks for a payment in the form of x402', async () => {
  const client = new Client({ name: 'test', version: '1' });
  const command = { command: process.execPath, args: [place('server.ts')] };
  await client.connect(new StdioClientTransport({ ...command, cwd: project.folder, env, stderr: 'ignore' }));
  try {
    const unpaid = await client.callTool({ name: 'report', arguments: { city: 'Ulm' } });
    expect(unpaid).toMatchObject({ isError: true, structuredContent: { accepts: [{ scheme: 'exact' }] } });
  } finally {
    await client.close();
  }
});

test('tools.ts buys the tool of server.ts', async () => {
  const tools = programs.find(({ name }) => name === 'tools.ts')!.code;
  write('tools.ts', tools.replace('server.ts', 'readme/server.ts'));
  const shell = shellOf('tools');
  await shell.run('node readme/tools.ts');
  expect(shell.output()).toMatch(/text: 'All is well in Ulm\.' \} \] 50000n?\n/);
});

test('every command of the command line’s README does what it says', async () => {
  const uses = NOT_RUN.map(([text]) => commands.filter(({ code }) => text.test(code)).length);
  expect(uses).toEqual(NOT_RUN.map(() => 1));
  const port = String(await ports.any());
  write(
    'shop.ts',
    programs
      .find(({ name }) => name === 'express.ts')!
      .code.replace('8402', port)
      .replaceAll('.get(', '.all(')
      .replaceAll("'/report'", "'/*path'"),
  );
  const shop = shellOf('shop', { PUBLIC_URL: `http://127.0.0.1:${port}` });
  await shop.run('node readme/shop.ts &');
  const url = `http://127.0.0.1:${port}`;
  await waitFor(
    () => fetch(`${url}/report`).then(({ status }) => status, shop.output),
    (status) => status === 402,
  );
  writeFileSync(path.join(project.folder, 'order.json'), '{"amount":"1"}');
  const values: [string, string][] = [
    ['https://api.example.com', url],
    ['8080', String(await ports.any())],
    ['dk_test_…', env.DELEGATE_KEY!],
    ['vendor_test_…', serviceKey],
    ['stl_…', env.SETTLEMENT_ID!],
    ['--service …', `--service ${env.SERVICE_ID}`],
  ];
  const shell = shellOf('commands');
  for (const { code } of commands) {
    if (NOT_RUN.some(([text]) => text.test(code))) continue;
    // It listens until it is stopped.
    await shell.run(withValues(code, values, {}).replace(/^quittance listen .*$/m, '$& &'));
  }
  expect(execFileSync('cat', ['report.json', 'out.csv'], { cwd: project.folder, encoding: 'utf8' })).toBe(
    '{"report":"All is well"}'.repeat(2),
  );
  expect(shell.output()).toMatch(/Signature +valid/);
  expect(shell.output()).toMatch(/Wrote \d+ lines to account\.ndjson/);
  expect(shell.output()).toMatch(/Event +settlement\.redeemed/);
});
