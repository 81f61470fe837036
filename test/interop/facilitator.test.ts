import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import bs58 from 'bs58';
import { createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { environmentKeys } from '../../deploy/local/stack/keys.ts';
import { networkOf } from '../../deploy/local/stack/networks.ts';
import { type RunningStack, startStack } from '../../deploy/local/stack/stack.ts';
import { INSTALL_MS, runInterop, startInterop } from '../support/interop.ts';
import { type InteropChain, interopChain } from '../support/interop-chain.ts';
import { probeLostAnswer, probeRestart, probeSamePayload } from '../support/interop-probes.ts';
import { killProcess, processNames } from '../support/killed-process.ts';
import { testStateDir } from '../support/test-state.ts';
import { waitFor } from '../support/wait.ts';
import { createX402Buyer, createX402Facilitator } from '../support/x402.ts';

/** Our facilitator with vendors, buyers and clients that nobody here wrote. */
const { caip2: network } = networkOf('test');
const PRICE = 50_000n;
const stateDir = testStateDir('interop');
let running: RunningStack;
let chain: InteropChain;
let vendor: Vendor;
let payTo: string;
let facilitatorUrl: string;
const api = () => createApi(running.stack.gateway_url);

beforeAll(async () => {
  running = await startStack({
    ...{ stateDir, ports: 'any', chainSlotMs: 50, chainControl: true, rateLimitScale: 100, durable: false },
  });
  const { rpc_url: rpcUrl, usdc_mint: mint } = running.stack.environments.test!;
  const { mintAuthority } = environmentKeys(stateDir, 'test');
  const authority = Keypair.fromSecretKey(bs58.decode(mintAuthority.secretKey));
  chain = interopChain({ rpcUrl, mint, mintAuthority: authority });
  const payout = Keypair.generate();
  payTo = await chain.payee(payout);
  vendor = await createVendor(api(), running.stack, { payout, price: PRICE });
  facilitatorUrl = `${running.stack.gateway_url}/v1/x402`;
}, INSTALL_MS);
afterAll(() => running?.stop());

type Listed = { settlement_id: string; status: string; rail: string; tx_hash: string | null };
const listed = async (by: Vendor = vendor): Promise<Listed[]> =>
  (
    await must(
      api()<{ data: Listed[] }>('GET /v1/settlements?rail=x402&limit=100', { token: by.apiKey }),
      'list',
    )
  ).data;

test.each([
  ['vendor-express', undefined],
  ['vendor-express', 'upfront'],
  ['vendor-hono', undefined],
  ['vendor-hono', 'upfront'],
] as const)(
  '%s, payment flow %s: a stock buyer pays $0.05 and gets the resource',
  async (name, paymentFlow) => {
    const shop = await startInterop(name, {
      ...{ facilitatorUrl, serviceKey: vendor.apiKey, network, payTo },
      ...(paymentFlow && { paymentFlow }),
    });
    const before = await chain.balance(payTo);
    const { secretKey, address } = await chain.wallet(1_000_000n);
    const buyer = { url: shop.url, rpcUrl: chain.rpcUrl, secretKey };
    const paid = await runInterop('buyer', { ...buyer, times: 2 });
    const receipt = { success: true, network, payer: address };
    expect(paid).toMatchObject([
      { status: 200, body: { delivery: 1 }, receipt },
      { status: 200, body: { delivery: 2 }, receipt },
    ]);
    expect(await chain.balance(payTo)).toBe(before + 2n * PRICE);
    const hashes = paid.map(({ receipt: shown }) => shown!.transaction);
    await waitFor(listed, (rows) =>
      hashes.every((hash) => rows.some((row) => row.tx_hash === hash && row.status === 'redeemed')),
    );

    const { secretKey: poor } = await chain.wallet(PRICE - 1n);
    expect(await runInterop('buyer', { ...buyer, secretKey: poor })).toMatchObject([{ status: 402 }]);
    expect(shop.delivered()).toBe(2);
    await shop.stop();
  },
);

const subject = () => ({
  facilitator: { url: facilitatorUrl, serviceKey: vendor.apiKey },
  ...{ chain, network, payTo },
});
const duplicate = {
  status: 200,
  body: {
    success: false,
    errorReason: 'duplicate_settlement',
    transaction: expect.stringMatching(/^.{80,90}$/),
  },
};

describe('what the reference facilitator answers wrongly', () => {
  test('the same payload twice at once, and again: one success, and duplicates that name it', async () => {
    const { answers, receivedMicro } = await probeSamePayload(subject());
    const { transaction } = answers.first!.body;
    expect(answers).toMatchObject({
      first: { status: 200, body: { success: true } },
      second: { ...duplicate, body: { ...duplicate.body, transaction } },
      again: { ...duplicate, body: { ...duplicate.body, transaction } },
      verify: { status: 200, body: { isValid: false, invalidReason: 'duplicate_settlement' } },
    });
    expect(receivedMicro).toBe(PRICE);
  });

  test('the chain loses the answer of a broadcast: the payment succeeds', async () => {
    const { answers, receivedMicro } = await probeLostAnswer(subject());
    expect(answers).toMatchObject({ settle: { status: 200, body: { success: true } }, again: duplicate });
    expect(receivedMicro).toBe(PRICE);
  });

  test('after every service was killed, the payment is known', async () => {
    const { answers, receivedMicro } = await probeRestart(subject(), async () => {
      for (const name of processNames(stateDir, /^test-(settlement|chain-submitter)/))
        killProcess(stateDir, name);
      return subject().facilitator;
    });
    expect(answers).toMatchObject({
      settle: { status: 200, body: { success: true } },
      verify: { status: 200, body: { isValid: false, invalidReason: 'duplicate_settlement' } },
      again: duplicate,
    });
    expect(receivedMicro).toBe(PRICE);
  });
});

test('64 payloads on a balance for ten: ten are paid, and none fails on chain', async () => {
  const { keypair, address } = await chain.wallet(10n * PRICE);
  const buy = await createX402Buyer(keypair, chain.rpcUrl);
  const facilitator = createX402Facilitator(running.stack.gateway_url, vendor.apiKey);
  const { kinds } = await facilitator.supported();
  const requirements: PaymentRequirements = {
    scheme: 'exact',
    network: network as PaymentRequirements['network'],
    ...{ asset: chain.mint, amount: `${PRICE}`, payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer: kinds[0]!.extra.feePayer },
  };
  const before = await chain.balance(payTo);
  const payloads = await Promise.all(Array.from({ length: 64 }, () => buy(requirements)));
  const answers = await Promise.all(payloads.map((payload) => facilitator.settle(payload)));
  const reasons = answers.map(({ body }) => (body.success ? 'success' : body.errorReason));
  expect(reasons.filter((reason) => reason === 'success')).toHaveLength(10);
  // Fees of payments under way count, so the credit of a new vendor refuses some of them.
  const refusals = new Set(reasons.filter((reason) => reason !== 'success'));
  expect([...refusals].sort()).toEqual(['facilitator_credit_exhausted', 'insufficient_funds']);
  expect(await chain.balance(payTo)).toBe(before + 10n * PRICE);
  expect(await chain.failedTransactions(address)).toEqual([]);
});
