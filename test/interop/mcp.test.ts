import { execFile, spawn } from 'node:child_process';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import express from 'express';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
} from '../../deploy/local/seed/actors.ts';
import { type Api, createApi, must } from '../../deploy/local/seed/api.ts';
import { paid } from '../../sdk/src/paywall/adapters/express.ts';
import { createPaywall, memoryStore } from '../../sdk/src/paywall/main.ts';
import { waitFor } from '../support/base/wait.ts';
import {
  INSTALL_MS,
  type InteropServer,
  installInterop,
  runInterop,
  startInterop,
} from '../support/others/interop.ts';
import { interopStack } from '../support/others/interop-stack.ts';
import { type InstalledPackage, packages } from '../support/packages/packages.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The packed MCP server, started as a host does, pays our paywall and an unmodified vendor
 * of x402 on a real stack. Its clients are unmodified: the MCP SDK in both protocol eras, its
 * version 1, and the inspector's command line.
 */
const PRICE = '50000';
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const ERAS = ['2025-11-25', '2026-07-28'] as const;

const stack = runningStack();
let api: Api;
let owner: Consumer;
let delegate: Delegate;
let shop: Server;
let url: string;
let deliveries = 0;
let interop: ReturnType<typeof interopStack>;
let facilitator: InteropServer;
let stock: { server: InteropServer; payTo: string };
let mcp: InstalledPackage;
type Started = { command: string; args: string[] };
/**
 * The command line of a host. npx installs the package once for its path, and takes what it depends
 * on from npm's cache if it has it.
 */
let byNpx: Started;
/** The same without npx, which takes seconds and does not pass signals on. */
let byNode: Started;

/** A shop behind our paywall. */
const startShop = async () => {
  const vendor = await createVendor(api, stack);
  const app = express();
  shop = app.listen(0, '127.0.0.1');
  await new Promise((resolve) => shop.once('listening', resolve));
  const publicUrl = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`;
  const paywall = createPaywall({
    baseUrl: stack.gateway_url,
    serviceKey: vendor.apiKey,
    serviceId: vendor.serviceId,
    environment: 'test',
    publicUrl,
    store: memoryStore(),
  });
  app.get('/report', paid(paywall, { price: PRICE }), (_request, response) => {
    deliveries += 1;
    response.json({ report: 'All is well.' });
  });
  url = `${publicUrl}/report`;
};

/** An unmodified vendor of x402 with the reference facilitator. */
const startStock = async () => {
  const { chain } = interop;
  const secretKey = await chain.feePayer();
  facilitator = await startInterop('scripted-facilitator', {
    ...{ rpcUrl: chain.rpcUrl, network: NETWORK, secretKey },
  });
  const payTo = await chain.payee();
  const facilitatorUrl = `${facilitator.url}/honest`;
  stock = {
    server: await startInterop('vendor-express', { network: NETWORK, facilitatorUrl, payTo }),
    payTo,
  };
};

beforeAll(async () => {
  const [packed] = await Promise.all([packages(), installInterop('mcp')]);
  mcp = packed.install('mcp');
  const options = ['--yes', '--prefer-offline', '--no-audit', '--no-fund'];
  byNpx = { command: 'npx', args: [...options, `--package=${packed.tarball('mcp')}`, 'quittance-mcp'] };
  byNode = { command: process.execPath, args: [path.join(mcp.installed, 'dist/quittance-mcp.js')] };
  api = createApi(stack.gateway_url);
  interop = interopStack(stack, path.dirname(process.env.STACK_FILE!));
  owner = await createConsumer(api, stack);
  const limits = { daily: '90000000', per_payment: '1000000' };
  [delegate] = await Promise.all([
    createDelegate(api, owner, limits, { external: { pay_to: 'any', origins: null } }),
    startShop(),
    startStock(),
  ]);
}, INSTALL_MS);
const clients: Client[] = [];
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await stock?.server.stop();
  await facilitator?.stop();
  shop?.closeAllConnections();
  shop?.close();
  mcp?.remove();
});

const environment = (more: Record<string, string> = {}, key = delegate.api_key) => ({
  PATH: process.env.PATH!,
  HOME: process.env.HOME!,
  // Of the payments that are not delivered yet.
  XDG_CONFIG_HOME: mcp.project,
  QUITTANCE_URL: stack.gateway_url,
  DELEGATE_KEY: key,
  // The vendors are on loopback, and most clients here cannot ask about a new payee.
  QUITTANCE_ALLOW_PRIVATE: [url, stock.server.url].map((each) => new URL(each).host).join(),
  QUITTANCE_PAYEES: 'any',
  ...more,
});
const newClient = (era: (typeof ERAS)[number], asks: boolean) => {
  const client = new Client(
    { name: 'test', version: '1' },
    {
      capabilities: asks ? { elicitation: {} } : {},
      versionNegotiation: { mode: era === '2025-11-25' ? 'legacy' : { pin: era } },
    },
  );
  clients.push(client);
  return client;
};
/** A client of the packed server over stdio. */
const overStdio = async (
  era: (typeof ERAS)[number],
  more: Record<string, string> = {},
  { key, started = byNode }: { key?: string; started?: Started } = {},
) => {
  const client = newClient(era, more.QUITTANCE_ASK_ABOVE !== undefined);
  const asked: string[] = [];
  const answers: object[] = [];
  if (more.QUITTANCE_ASK_ABOVE !== undefined)
    client.setRequestHandler('elicitation/create', async ({ params }) => {
      asked.push(params.message);
      return answers.shift() as never;
    });
  const env = environment(more, key);
  await client.connect(new StdioClientTransport({ ...started, cwd: mcp.project, env, stderr: 'ignore' }), {
    timeout: 120_000,
  });
  return { client, asked, answers };
};
// biome-ignore lint/suspicious/noExplicitAny: results are checked field by field
type Result = any;
const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<Result> =>
  client.callTool({ name, arguments: args });
const errorOf = ({ content }: Result) => JSON.parse(content[0].text).error;

describe.each(ERAS)('over stdio, %s', (era) => {
  let client: Client;
  beforeAll(async () => {
    ({ client } = await overStdio(era, {}, { started: byNpx }));
  });

  test('asks our paywall for its price, pays it once, and reads the receipt', async () => {
    const asked = await call(client, 'price', { url });
    expect(asked.structuredContent).toMatchObject({ price: { amount: PRICE, rail: 'quittance' } });
    const before = deliveries;
    const bought = await call(client, 'fetch_paid', { url, max_usdc: '0.05' });
    expect(bought.structuredContent).toMatchObject({
      status: 200,
      receipt: { amount: PRICE, confirmed: true },
    });
    expect(JSON.parse(bought.structuredContent.body)).toEqual({ report: 'All is well.' });
    expect(deliveries).toBe(before + 1);
    const { settlement_id, tx_hash } = bought.structuredContent.receipt;
    const receipt = await call(client, 'receipt', { settlement_id });
    expect(receipt.structuredContent).toMatchObject({
      receipt: {
        tx_hash,
        amount: PRICE,
        amount_usdc: '0.05',
        receipt_url: expect.stringMatching(/^http.*\/receipt#/),
      },
    });
    const listed = await call(client, 'payments', { limit: 50 });
    expect(listed.structuredContent.payments.map((each: Result) => each.settlement_id)).toContain(
      settlement_id,
    );
    const budget = await call(client, 'budget');
    expect(budget.structuredContent).toMatchObject({
      pays_x402_vendors: true,
      limits: { daily: '90000000' },
    });
    expect(JSON.stringify([asked, bought, receipt, listed, budget])).not.toContain(delegate.api_key);
  });

  test('pays an unmodified vendor of x402, and the chain confirms it', async () => {
    const before = await interop.chain.balance(stock.payTo);
    const bought = await call(client, 'fetch_paid', { url: stock.server.url, max_amount: PRICE });
    expect(bought.structuredContent).toMatchObject({
      status: 200,
      receipt: { amount: PRICE, rail: 'x402_out', payees: [{ address: stock.payTo, amount: PRICE }] },
    });
    const { settlement_id, tx_hash } = bought.structuredContent.receipt;
    const status = await waitFor(
      async () => (await call(client, 'settle_status', { settlement_id })).structuredContent.payment,
      (payment) => payment.status === 'issued',
    );
    expect(status).toMatchObject({
      tx_hash,
      payees: [{ address: stock.payTo, amount: PRICE }],
      rail: 'x402_out',
    });
    expect((await interop.chain.balance(stock.payTo)) - before).toBe(BigInt(PRICE));
  });

  test('the person is asked above the threshold, and only a yes pays', async () => {
    const { client: asking, asked, answers } = await overStdio(era, { QUITTANCE_ASK_ABOVE: '$0.049999' });
    answers.push({ action: 'decline' }, { action: 'accept', content: { pay: true } });
    const before = deliveries;
    const declined = await call(asking, 'fetch_paid', { url, max_usdc: '0.05' });
    expect(errorOf(declined)).toMatchObject({ code: 'not_approved', money_moved: 'no' });
    expect(deliveries).toBe(before);
    const accepted = await call(asking, 'fetch_paid', { url, max_usdc: '0.05' });
    expect(accepted.structuredContent).toMatchObject({ status: 200 });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatch(/^Pay 0\.05 USDC to .+ for GET http/);
    expect(deliveries).toBe(before + 1);
  });
});

test('by default a new payee is a question, once, and a refusal if the client cannot ask', async () => {
  const before = deliveries;
  const silent = await overStdio('2026-07-28', { QUITTANCE_PAYEES: '' });
  const refused = errorOf(await call(silent.client, 'fetch_paid', { url, max_usdc: '0.05' }));
  expect(refused).toMatchObject({ code: 'not_approved', money_moved: 'no' });
  expect(refused.message).toContain('QUITTANCE_PAYEES');
  expect(deliveries).toBe(before);
  const { client, asked, answers } = await overStdio('2026-07-28', {
    ...{ QUITTANCE_PAYEES: '', QUITTANCE_ASK_ABOVE: '$0.10' },
  });
  answers.push({ action: 'accept', content: { pay: true } });
  for (let i = 0; i < 2; i += 1) {
    const bought = await call(client, 'fetch_paid', { url, max_usdc: '0.05' });
    expect(bought.structuredContent).toMatchObject({ status: 200 });
  }
  expect(asked).toEqual([expect.stringMatching(/^Pay 0\.05 USDC to the new payee ".+" \(.+\) for GET http/)]);
  expect(deliveries).toBe(before + 2);
});

test('the day’s maximum counts what the key has paid, also with a server that has ended', async () => {
  const fresh = await createDelegate(api, owner, { total: '90000000' });
  const args = { url, max_usdc: '0.05' };
  const first = await overStdio('2026-07-28', { QUITTANCE_MAX_PER_DAY: '$0.05' }, { key: fresh.api_key });
  expect((await call(first.client, 'fetch_paid', args)).structuredContent).toMatchObject({ status: 200 });
  const next = await overStdio('2026-07-28', { QUITTANCE_MAX_PER_DAY: '$0.05' }, { key: fresh.api_key });
  const refused = errorOf(await call(next.client, 'fetch_paid', args));
  expect(refused).toMatchObject({ code: 'above_setting', money_moved: 'no' });
  expect(refused.message).toContain('QUITTANCE_MAX_PER_DAY');
});

test('a payment above the delegate’s threshold waits for its owner, whose denial holds for its key', async () => {
  const careful = await createDelegate(api, owner, { daily: '90000000' }, { approval_above: '10000' });
  const { client } = await overStdio('2026-07-28', {}, { key: careful.api_key });
  const args = { url, max_amount: PRICE, payment_key: 'order-1' };
  const waiting = errorOf(await call(client, 'fetch_paid', args));
  expect(waiting).toMatchObject({
    code: 'approval_required',
    money_moved: 'no',
    safe_action: 'await_approval',
  });
  const { approval_id } = waiting;
  const seen = await call(client, 'settle_status', { approval_id });
  expect(seen.structuredContent).toMatchObject({ approval: { status: 'awaiting_approval', amount: PRICE } });
  expect(errorOf(await call(client, 'fetch_paid', args))).toMatchObject({ approval_id });
  await must(api(`POST /v1/approvals/${approval_id}/deny`, { token: owner.token }), 'deny');
  for (let i = 0; i < 2; i += 1)
    expect(errorOf(await call(client, 'fetch_paid', args))).toMatchObject({
      code: 'approval_denied',
      money_moved: 'no',
    });
});

test('over HTTP: one server for clients of both eras, with its token', async () => {
  const token = 'the-token-of-this-test';
  const { command, args } = byNode;
  const env = environment({ QUITTANCE_MCP_TOKEN: token });
  const child = spawn(command, [...args, '--http', '--port', '0'], { cwd: mcp.project, env });
  try {
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += String(chunk);
    });
    const at = await waitFor(
      () => /ready at (\S+),/.exec(said)?.[1] ?? null,
      (found) => found !== null,
      120_000,
    );
    const answer = await fetch(at!, { method: 'POST', body: '{}' });
    expect(answer.status).toBe(401);
    for (const era of ERAS) {
      const client = newClient(era, false);
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(new StreamableHTTPClientTransport(new URL(at!), { requestInit: { headers } }));
      const bought = await call(client, 'fetch_paid', { url, max_usdc: '0.05' });
      expect(bought.structuredContent).toMatchObject({ status: 200, receipt: { amount: PRICE } });
    }
    expect(said).not.toContain(delegate.api_key);
  } finally {
    child.kill();
  }
});

test('version 1 of the MCP SDK pays', async () => {
  const { command, args } = byNode;
  const calls = [
    { name: 'fetch_paid', arguments: { url, max_usdc: '0.05' } },
    { name: 'fetch_paid', arguments: { url, max_usdc: '0.000001' } },
  ];
  const results = await runInterop<Result>('client-mcp-v1', { command, args, env: environment(), calls });
  expect(results[0].tools).toContain('fetch_paid');
  expect(results[1].structuredContent).toMatchObject({ status: 200, receipt: { amount: PRICE } });
  expect(errorOf(results[2])).toMatchObject({ code: 'price_above_max_amount' });
});

test('the inspector’s command line pays', async () => {
  const folder = await installInterop('mcp');
  const inspector = path.join(
    folder,
    'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  );
  const { command, args } = byNode;
  const env = environment();
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const tool = ['--method', 'tools/call', '--tool-name', 'fetch_paid'];
  const given = ['--tool-arg', `url=${url}`, '--tool-arg', `max_amount="${PRICE}"`];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [inspector, '--cli', ...variables, command, ...args, ...tool, ...given],
    { env: { PATH: process.env.PATH, HOME: process.env.HOME }, timeout: 120_000 },
  );
  expect(JSON.parse(stdout).structuredContent).toMatchObject({ status: 200, receipt: { amount: PRICE } });
});
