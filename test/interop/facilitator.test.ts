import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { networkOf } from '../../deploy/local/stack/networks.ts';
import { INSTALL_MS, installInterop, runInterop, startInterop } from '../support/interop.ts';
import { type InteropChain, interopChain } from '../support/interop-chain.ts';
import { probeSamePayload } from '../support/interop-probes.ts';
import { runningStack } from '../support/stack.ts';
import { waitUntil } from '../support/wait.ts';

/** Unmodified vendors and buyers of x402 over our facilitator. */
const stack = runningStack();
const { caip2: network } = networkOf('test');
const { rpc_url: rpcUrl, usdc_mint: mint } = stack.environments.test!;
const facilitatorUrl = `${stack.gateway_url}/v1/x402`;
const PRICE = 50_000n;
let chain: InteropChain;
beforeAll(() => {
  const { mintAuthority } = environmentKeys(path.dirname(process.env.STACK_FILE!), 'test');
  const authority = Keypair.fromSecretKey(bs58.decode(mintAuthority.secretKey));
  chain = interopChain({ rpcUrl, mint, mintAuthority: authority });
});

/** A vendor with a token account, and the address that it is paid to. */
const newVendor = async (): Promise<{ vendor: Vendor; payTo: string }> => {
  const payout = Keypair.generate();
  const payTo = await chain.payee(payout);
  return { vendor: await createVendor(createApi(stack.gateway_url), stack, { payout }), payTo };
};

test.each([
  ['vendor-express', undefined],
  ['vendor-express', 'upfront'],
  ['vendor-hono', undefined],
  ['vendor-hono', 'upfront'],
] as const)(
  '%s, payment flow %s: stock buyers pay and get the resource',
  async (name, paymentFlow) => {
    const { vendor, payTo } = await newVendor();
    const shop = await startInterop(name, {
      ...{ facilitatorUrl, serviceKey: vendor.apiKey, network, payTo },
      ...(paymentFlow && { paymentFlow }),
    });
    const { secretKey } = await chain.wallet(1_000_000n);
    const paid = await runInterop('buyer', { url: shop.url, rpcUrl, secretKey, times: 4, parallel: true });
    const got = { status: 200, body: { delivery: expect.any(Number) }, receipt: { success: true, network } };
    expect(paid).toMatchObject([got, got, got, got]);
    expect(new Set(paid.map(({ receipt }) => receipt?.transaction)).size).toBe(4);
    expect(await chain.balance(payTo)).toBe(4n * PRICE);
    expect(shop.delivered()).toBe(4);

    const { secretKey: poor } = await chain.wallet(PRICE - 1n);
    expect(await runInterop('buyer', { url: shop.url, rpcUrl, secretKey: poor })).toMatchObject([
      { status: 402, receipt: paymentFlow === 'upfront' ? { success: false } : null },
    ]);
    await shop.stop();
  },
  INSTALL_MS,
);

test('of the same payload twice at once, one succeeds; later ones name its transaction', async () => {
  const { vendor, payTo } = await newVendor();
  const facilitator = { url: facilitatorUrl, serviceKey: vendor.apiKey };
  const { answers, receivedMicro } = await probeSamePayload({ facilitator, chain, network, payTo });
  const { transaction } = answers.first!.body;
  const duplicate = { body: { success: false, errorReason: 'duplicate_settlement', transaction } };
  expect(answers).toMatchObject({
    first: { status: 200, body: { success: true } },
    second: duplicate,
    again: duplicate,
    verify: { body: { isValid: false, invalidReason: 'duplicate_settlement' } },
  });
  expect(receivedMicro).toBe(PRICE);
});

let folder = '';
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an example as its README describes: copied to a folder that has the packages. */
const runExample = (file: string, args: string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, [path.join(folder, file), ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const ended = new Promise<string>((resolve) => child.once('close', () => resolve(output)));
  return { output: () => output, ended, stop: () => child.kill() };
};

test(
  'examples/x402: the buyer pays the vendor',
  async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'x402-example-'));
    cpSync(path.resolve('examples/x402'), folder, { recursive: true });
    symlinkSync(path.join(await installInterop('x402'), 'node_modules'), path.join(folder, 'node_modules'));
    const { vendor, payTo } = await newVendor();
    const port = String(await createPortPicker().any());
    const shop = runExample('vendor.ts', [], {
      ...{ QUITTANCE_URL: stack.gateway_url, SERVICE_KEY: vendor.apiKey, PAY_TO: payTo, PORT: port },
    });
    await waitUntil(() => shop.output().includes('ready'), { withinMs: 30_000 });
    const { keypair } = await chain.wallet(1_000_000n);
    const buyer = { RPC_URL: rpcUrl, SECRET_KEY: bs58.encode(keypair.secretKey) };
    const printed = await runExample('buyer.ts', [`http://127.0.0.1:${port}/report?city=Ulm`], buyer).ended;
    expect(JSON.parse(printed)).toEqual({
      status: 200,
      body: { report: 'All is well in Ulm.' },
      transaction: expect.any(String),
    });
    expect(await chain.balance(payTo)).toBe(PRICE);
    shop.stop();
    await shop.ended;
  },
  INSTALL_MS,
);
