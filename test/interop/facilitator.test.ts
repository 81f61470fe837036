import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import type { PaymentRequirements } from '@x402/core/types';
import bs58 from 'bs58';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { inherited } from '../support/base/inherited.ts';
import { waitUntil } from '../support/base/wait.ts';
import { INSTALL_MS, installInterop, runInterop, startInterop } from '../support/others/interop.ts';
import { probeSamePayload } from '../support/others/interop-probes.ts';
import { interopStack } from '../support/others/interop-stack.ts';
import { createX402Buyer, createX402Facilitator } from '../support/others/x402.ts';
import { runningStack, tally } from '../support/servers/stack.ts';

/** Unmodified vendors and buyers of x402 over our facilitator. */
const stack = runningStack();
const { chain, newVendor } = interopStack(stack, path.dirname(process.env.STACK_FILE!));
const { rpcUrl } = chain;
const PRICE = 50_000n;

test.each([
  ['vendor-express', undefined],
  ['vendor-express', 'upfront'],
  ['vendor-hono', undefined],
  ['vendor-hono', 'upfront'],
] as const)(
  '%s, payment flow %s: stock buyers pay and get the resource',
  async (name, paymentFlow) => {
    const { facilitator, network, payTo } = await newVendor();
    const shop = await startInterop(name, {
      ...{ facilitatorUrl: facilitator.url, serviceKey: facilitator.serviceKey, network, payTo },
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
  const { answers, receivedMicro } = await probeSamePayload(await newVendor());
  const { transaction } = answers.first!.body;
  const duplicate = { body: { success: false, errorReason: 'duplicate_settlement', transaction } };
  expect(answers).toMatchObject({
    first: { status: 200, body: { success: true } },
    second: duplicate,
    again: duplicate,
    altered: duplicate,
    verify: { body: { isValid: false, invalidReason: 'duplicate_settlement' } },
  });
  expect(receivedMicro).toBe(PRICE);
});

test('64 payloads on a balance for ten: ten are paid, and none fails on chain', async () => {
  const { facilitator: by, network, payTo } = await newVendor();
  const { keypair, address } = await chain.wallet(10n * PRICE);
  const buy = await createX402Buyer(keypair, rpcUrl);
  const facilitator = createX402Facilitator(stack.gateway_url, by.serviceKey);
  const { kinds } = await facilitator.supported();
  const requirements: PaymentRequirements = {
    scheme: 'exact',
    network: network as PaymentRequirements['network'],
    ...{ asset: chain.mint, amount: `${PRICE}`, payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer: kinds[0]!.extra.feePayer },
  };
  const payloads = await Promise.all(Array.from({ length: 64 }, () => buy(requirements)));
  /** Again while payments under way, which a slow chain confirms late, block the source. */
  const settle = async (payload: (typeof payloads)[0]): Promise<string> => {
    for (;;) {
      const { body } = await facilitator.settle(payload);
      const reason = body.success ? 'success' : String(body.errorReason);
      if (reason !== 'facilitator_source_blocked') return reason;
    }
  };
  const reasons = await Promise.all(payloads.map(settle));
  expect(tally(reasons)).toMatchObject({ success: 10 });
  // Fees of payments under way count, so the credit of a new vendor refuses some of them.
  const refusals = new Set(reasons.filter((reason) => reason !== 'success'));
  expect(['facilitator_credit_exhausted', 'insufficient_funds']).toEqual(
    expect.arrayContaining([...refusals]),
  );
  expect(await chain.balance(payTo)).toBe(10n * PRICE);
  expect(await chain.failedTransactions(address)).toEqual([]);
});

let folder = '';
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an example as its README describes: copied to a folder that has the packages. */
const runExample = (file: string, args: string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, [path.join(folder, file), ...args], {
    env: { ...inherited, ...env },
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
    const { facilitator, payTo } = await newVendor();
    const port = String(await createPortPicker().any());
    const shop = runExample('vendor.ts', [], {
      ...{ QUITTANCE_URL: stack.gateway_url, SERVICE_KEY: facilitator.serviceKey, PAY_TO: payTo, PORT: port },
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
