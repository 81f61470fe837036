import { execFile } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { createClient, NoAnswerError, PaymentUndecidedError } from '../../sdk/src/main.ts';
import { type InstalledPackage, packages } from '../support/packages/packages.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const run = promisify(execFile);

let vendor: Vendor;
let consumer: Consumer;
let sdk: InstalledPackage;

beforeAll(async () => {
  sdk = (await packages()).install('sdk');
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});
afterAll(() => sdk?.remove());

/**
 * The oldest supported Node on this machine: the one that runs these tests, or another on the PATH.
 */
const oldestNode = async (): Promise<string> => {
  const candidates = (process.env.PATH ?? '')
    .split(path.delimiter)
    .map((folder) => path.join(folder, 'node'));
  const versions = await Promise.all(
    [process.execPath, ...candidates.filter((file) => existsSync(file))].map(async (file) => {
      const { stdout } = await run(file, ['-p', 'process.versions.node']);
      const [major = 0, minor = 0] = stdout.split('.').map(Number);
      return { file, version: major * 1000 + minor };
    }),
  );
  return versions.filter(({ version }) => version >= 20_003).sort((a, b) => a.version - b.version)[0]!.file;
};

test('the packed SDK, installed alone in the oldest available Node, makes a quote, settles and redeems', async () => {
  // Alone: the package has no dependencies, and contains no sources or tests.
  expect(readdirSync(path.join(sdk.project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(
    ['@quittance'],
  );
  expect(readdirSync(sdk.installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  expect(readFileSync(path.join(sdk.installed, 'dist/main.js'), 'utf8')).not.toContain('.ts');

  for (const name of ['sdk-node.mjs', 'sdk-payment.mjs']) {
    cpSync(path.join(import.meta.dirname, '../support/actors', name), path.join(sdk.project, name));
  }
  const settings = {
    baseUrl: stack.gateway_url,
    apiKey: vendor.apiKey,
    serviceId: vendor.serviceId,
    // As after a quarter of an hour: the gateway refuses the access token, and the refresh token
    // replaces it.
    tokens: { access_token: `${consumer.token}x`, refresh_token: consumer.signIn.refresh_token },
  };
  const before = await chain.balance(consumer.wallet.publicKey);
  const { stdout } = await run(await oldestNode(), ['sdk-node.mjs', JSON.stringify(settings)], {
    cwd: sdk.project,
  });
  const said = JSON.parse(stdout);
  expect(said).toMatchObject({
    paid: { status: 'confirmed', payment_attempt_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    redeemed: { status: 'redeemed', redeem_id: 'sdk', replayed: false },
    verified: 'redeemed',
    invalid: true,
    details: [{ path: 'service_id' }],
    webhooks: ['webhook.test', 'WebhookVerificationError'],
    paying: 'function',
    refreshed: true,
  });
  expect(said.again).toEqual(said.paid);
  expect(said.listed).toEqual([said.paid.settlement_id]);
  expect(before - (await chain.balance(consumer.wallet.publicKey))).toBe(2_500_000n);
});

test('lost answers and concurrent calls never make it pay twice', async () => {
  const quote = await quoteOf(api, vendor);
  const session = await createConsumer(api, stack);
  let lost = 0;
  const client = createClient({
    baseUrl: stack.gateway_url,
    credential: session.token,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      // The gateway executed the call, and its answer is lost.
      if (lost < 6) {
        lost += 1;
        await response.arrayBuffer();
        throw new TypeError('fetch failed');
      }
      return response;
    },
  });
  const before = await chain.balance(session.wallet.publicKey);
  const answers = await atOnce(3, () => client.settlement.settle(quote));
  expect(lost).toBe(6);
  expect(new Set(answers.map((paid) => JSON.stringify(paid))).size).toBe(1);
  expect(before - (await chain.balance(session.wallet.publicKey))).toBe(BigInt(quote.quote_amount));
});

test('while the API is unavailable, a read ends in NoAnswerError and a payment names its attempt', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', credential: 'key', maxRetries: 1 });
  await expect(client.settlement.get({ settlement_id: 'stl_1' })).rejects.toThrow(NoAnswerError);
  const settle = client.settlement.settle({ quote_token: 'a.b' }, { patienceMs: 500 });
  await expect(settle).rejects.toThrow(PaymentUndecidedError);
});
