import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createApi } from '../../deploy/local/people/api.ts';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  type Vendor,
} from '../../deploy/local/people/people.ts';
import { createClient, NoAnswerError, PaymentUndecidedError } from '../../sdk/src/main.ts';
import { chainOf } from '../support/chain.ts';
import { atOnce, runningStack } from '../support/stack.ts';

const root = path.resolve(import.meta.dirname, '../..');
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const run = promisify(execFile);

let vendor: Vendor;
let consumer: Consumer;
let project: string;

beforeAll(async () => {
  project = mkdtempSync(path.join(tmpdir(), 'quittance-sdk-'));
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

const npm = (args: string[]) => run('npm', [...args, '--no-audit', '--no-fund'], { cwd: project });

test('packed and installed without a network into an empty project, it pays: quote, settle, redeem', async () => {
  await npm(['pack', path.join(root, 'sdk'), '--pack-destination', project]);
  const tarball = readdirSync(project).find((name) => name.endsWith('.tgz'))!;
  writeFileSync(path.join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  await npm(['install', '--offline', `./${tarball}`]);
  // Alone: nothing came with it, and nothing of the sources or their tests is in it.
  expect(readdirSync(path.join(project, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    '@quittance',
  ]);
  const installed = path.join(project, 'node_modules/@quittance/sdk');
  expect(readdirSync(installed).sort()).toEqual(['README.md', 'dist', 'package.json']);
  expect(readFileSync(path.join(installed, 'dist/main.js'), 'utf8')).not.toContain('.ts');

  cpSync(path.join(root, 'test/support/sdk-payment.mjs'), path.join(project, 'pay.mjs'));
  const settings = {
    baseUrl: stack.gateway_url,
    apiKey: vendor.apiKey,
    serviceId: vendor.serviceId,
    // As after a quarter of an hour: what the gateway refuses, the refresh token replaces.
    tokens: { access_token: `${consumer.token}x`, refresh_token: consumer.signIn.refresh_token },
  };
  const before = await chain.balance(consumer.wallet.publicKey);
  const { stdout } = await run(process.execPath, ['pay.mjs', JSON.stringify(settings)], { cwd: project });
  const said = JSON.parse(stdout);
  expect(said).toMatchObject({
    paid: { status: 'confirmed', payment_attempt_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    redeemed: { status: 'redeemed', redeem_id: 'sdk', replayed: false },
    verified: 'redeemed',
    invalid: true,
    details: [{ path: 'service_id' }],
    paying: 'function',
    refreshed: true,
  });
  expect(said.again).toEqual(said.paid);
  expect(said.listed).toEqual([said.paid.settlement_id]);
  expect(before - (await chain.balance(consumer.wallet.publicKey))).toBe(2_500_000n);
}, 60_000);

test('answers that get lost on the way back never make it pay twice, nor do calls at once', async () => {
  const quote = await quoteOf(api, vendor);
  const session = await createConsumer(api, stack);
  let lost = 0;
  const client = createClient({
    baseUrl: stack.gateway_url,
    credential: session.token,
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      // The gateway did what it was asked, and nobody hears of it.
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

test('an API that is away: a read ends in NoAnswerError, a payment in the name of its attempt', async () => {
  const client = createClient({ baseUrl: 'http://127.0.0.1:1', credential: 'key', maxRetries: 1 });
  await expect(client.settlement.get({ settlement_id: 'stl_1' })).rejects.toThrow(NoAnswerError);
  const settle = client.settlement.settle({ quote_token: 'a.b' }, { patienceMs: 500 });
  await expect(settle).rejects.toThrow(PaymentUndecidedError);
});
