// `npm run prove -- pictures`: the pictures of README.md, of a running stack: the console's home of
// an account that sells and pays, and a terminal with a 402 that is paid.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import express from 'express';
import type { Browser } from 'playwright-core';
import { readCommandLine } from '../../deploy/local/processes/command-line.ts';
import {
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';
import { paid } from '../../sdk/src/paywall/adapters/express.ts';
import { createPaywall, memoryStore } from '../../sdk/src/paywall/main.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { openConsole, type Person } from '../support/browser/console.ts';
import { again, signInPayer } from '../support/browser/console-payer.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { terminalPage } from './terminal.ts';

readCommandLine({
  typed: 'npm run prove -- pictures',
  about: 'Takes the pictures of the README, of the stack on this machine or of STACK_FILE, with Chromium.',
  options: {},
});

const root = path.resolve(import.meta.dirname, '../..');
const FOLDER = path.join(root, 'docs/pictures');
const stackFile = process.env.STACK_FILE ?? path.join(root, '.local/stack.json');
const stack = JSON.parse(readFileSync(stackFile, 'utf8')) as Stack;
const api = createApi(stack.gateway_url);
const SHOP_PORT = 8402;

const store = (name: string, png: Buffer): void => {
  writeFileSync(path.join(FOLDER, name), png);
  console.log(`docs/pictures/${name}: ${Math.round(png.length / 1024)} kB`);
};

const redeem = (vendor: Pick<Vendor, 'apiKey'>, paid: { settlement_id: string; settlement_token: string }) =>
  must(
    api(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token },
    }),
    'redeem',
  );

/** An account with sales, and payments by two agents. */
const busyAccount = async (): Promise<Person> => {
  const [person, buyer, other] = await Promise.all([
    signInPayer(stack),
    createConsumer(api, stack),
    createVendor(api, stack),
  ]);
  const payout_address = other.payout.publicKey.toBase58();
  const service = await must(
    api<{ service_id: string; api_key: string }>('POST /v1/services', {
      token: person.token,
      body: { name: 'Weather', price: '250000', payout_address },
    }),
    'service',
  );
  const own = { apiKey: service.api_key, serviceId: service.service_id };
  const agents = await Promise.all(
    ['Research agent', 'Night crawler'].map((name) =>
      createDelegate(api, person, { per_payment: '3000000', daily: '20000000' }, { name }),
    ),
  );
  for (const amount of ['250000', '1200000', '400000', '250000', '800000']) {
    const sold = await must(
      settleWith(api, buyer.token, await quoteOf(api, own, { quote_amount: amount })),
      'settle',
    );
    await redeem(own, sold);
  }
  for (const [index, amount] of ['500000', '2500000', '1500000', '750000'].entries()) {
    const { api_key } = agents[index % 2]!;
    const answer = await settleWith(api, api_key, await quoteOf(api, other, { quote_amount: amount }));
    if (answer.status === 200) await redeem(other, answer.body);
  }
  // The list of first steps ends with an endpoint. Nothing listens there, and no refund is made.
  await must(
    api('POST /v1/webhook-endpoints', {
      token: person.token,
      body: { url: `http://127.0.0.1:${SHOP_PORT}/hooks`, event_types: ['refund.*'] },
    }),
    'webhook endpoint',
  );
  return again(stack, person);
};

const shootConsole = async (browser: Browser): Promise<void> => {
  const page = await openConsole(browser, stack, { person: await busyAccount() });
  await page.go('/');
  store('console.png', await page.page.screenshot({ animations: 'disabled' }));
  await page.close();
};

const run = async (command: string, env: Record<string, string>): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)('bash', ['-c', command], {
    env: { ...process.env, ...env },
  });
  return `${stderr}${stdout}`.trimEnd();
};

/** The vendor of the README. */
const startShop = async (vendor: Vendor) => {
  const publicUrl = `http://127.0.0.1:${SHOP_PORT}`;
  const paywall = createPaywall({
    baseUrl: stack.gateway_url,
    serviceKey: vendor.apiKey,
    serviceId: vendor.serviceId,
    environment: 'test',
    publicUrl,
    store: memoryStore(),
  });
  const app = express();
  app.get('/report', paid(paywall, { price: '50000' }), (_request, response) => {
    response.json({ report: 'All is well.' });
  });
  const server = app.listen(SHOP_PORT, '127.0.0.1');
  await once(server, 'listening');
  return { url: `${publicUrl}/report`, stop: () => server.close() };
};

const shootTerminal = async (browser: Browser): Promise<void> => {
  const [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
  const { api_key } = await createDelegate(api, consumer, { daily: '5000000' });
  const shop = await startShop(vendor);
  const line = createCommandLine(stack);
  try {
    const env = { QUITTANCE_URL: stack.gateway_url, DELEGATE_KEY: api_key };
    const { url } = shop;
    const shown = [
      { command: `curl -i ${url}`, output: await run(`curl -si ${url} | tr -d '\\r'`, env) },
      {
        command: `quittance pay ${url} --max 0.10`,
        output: await run(`'${process.execPath}' '${line.program}' pay ${url} --max 0.10 2>&1`, env),
      },
    ];
    const page = await browser.newPage({ viewport: { width: 900, height: 400 } });
    await page.setContent(terminalPage(shown));
    store('terminal.png', await page.locator('main').screenshot());
    await page.close();
  } finally {
    shop.stop();
    line.remove();
  }
};

mkdirSync(FOLDER, { recursive: true });
const browser = await startBrowser();
try {
  await shootConsole(browser);
  await shootTerminal(browser);
} finally {
  await browser.close();
}
