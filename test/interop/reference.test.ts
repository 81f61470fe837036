import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import bs58 from 'bs58';
import { networkOf } from '../../deploy/local/stack/networks.ts';
import { INSTALL_MS, type InteropServer, runInterop, startInterop } from '../support/others/interop.ts';
import { type InteropChain, interopChain } from '../support/others/interop-chain.ts';
import { probeLostAnswer, probeRestart, probeSamePayload } from '../support/others/interop-probes.ts';
import { startVendorV1, V1_NETWORK } from '../support/others/vendor-v1.ts';
import { startChain, type TestChain } from '../support/servers/local-chain.ts';

/**
 * Unmodified vendors, buyers and facilitators of others with each other, on the local chain. They
 * are the baseline: a test of ours that fails while these pass is a fault of ours. The probes
 * record what the reference facilitator answers where ours must answer better.
 */
const { caip2: network, usdcMint: mint } = networkOf('test');
const PRICE = 50_000n;
let local: TestChain;
let chain: InteropChain;
let settings: { rpcUrl: string; network: string; secretKey: string };
let facilitator: InteropServer;
beforeAll(async () => {
  const mintAuthority = Keypair.generate();
  local = await startChain({ slotMs: 50, genesisMint: `${mint}:${mintAuthority.publicKey.toBase58()}` });
  chain = interopChain({ rpcUrl: local.url, mint, mintAuthority });
  settings = { rpcUrl: chain.rpcUrl, network, secretKey: await chain.feePayer() };
  facilitator = await startInterop('reference-facilitator', settings);
}, INSTALL_MS);
afterAll(async () => {
  await facilitator?.stop();
  await local?.stop();
  local?.remove();
});

const delivery = (number: number, network: string) => ({
  status: 200,
  body: { delivery: number },
  receipt: { success: true, network, transaction: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,90}$/) },
});

test.each([
  ['vendor-express', undefined],
  ['vendor-express', 'upfront'],
  ['vendor-hono', undefined],
  ['vendor-hono', 'upfront'],
] as const)('%s, payment flow %s: a stock buyer pays and gets the resource', async (name, paymentFlow) => {
  const payTo = await chain.payee();
  const vendor = await startInterop(name, {
    ...{ facilitatorUrl: facilitator.url, network, payTo },
    ...(paymentFlow && { paymentFlow }),
  });
  const { secretKey } = await chain.wallet(1_000_000n);
  const buyer = { url: vendor.url, rpcUrl: chain.rpcUrl, secretKey };
  const paid = await runInterop('buyer', { ...buyer, times: 2 });
  expect(paid).toMatchObject([delivery(1, network), delivery(2, network)]);
  expect(await chain.balance(payTo)).toBe(2n * PRICE);

  const { secretKey: poor } = await chain.wallet(PRICE - 1n);
  expect(await runInterop('buyer', { ...buyer, secretKey: poor })).toMatchObject([
    { status: 402, receipt: paymentFlow === 'upfront' ? { success: false } : null },
  ]);
  expect(vendor.delivered()).toBe(2);
  await vendor.stop();
});

test(
  'a stock buyer of version 1 pays',
  async () => {
    const payTo = await chain.payee();
    const vendor = await startVendorV1({
      ...{ facilitatorUrl: facilitator.url, payTo, mint, amount: PRICE },
      feePayer: Keypair.fromSecretKey(Buffer.from(settings.secretKey, 'base64')).publicKey.toBase58(),
    });
    const { secretKey } = await chain.wallet(1_000_000n);
    const key = bs58.encode(Buffer.from(secretKey, 'base64'));
    const buyer = { url: vendor.url, rpcUrl: chain.rpcUrl, network: V1_NETWORK, secretKey: key };
    expect(await runInterop('buyer-v1', buyer)).toMatchObject([delivery(1, V1_NETWORK)]);
    expect(await chain.balance(payTo)).toBe(PRICE);
    vendor.stop();
  },
  INSTALL_MS,
);

test(
  'a stock buyer of MPP pays a vendor and its split',
  async () => {
    const [payTo, feeOwner] = [await chain.payee(), await chain.payee()];
    const secretKey = await chain.feePayer();
    const splits = [{ recipient: feeOwner, amount: '2000' }];
    const vendor = await startInterop('vendor-mpp', {
      ...{ rpcUrl: chain.rpcUrl, mint, payTo, secretKey, amount: PRICE.toString(), splits },
    });
    const buyer = await chain.wallet(1_000_000n);
    const paid = await runInterop('buyer-mpp', {
      ...{ url: vendor.url, rpcUrl: chain.rpcUrl, secretKey: buyer.secretKey },
    });
    expect(paid).toMatchObject([{ status: 200, body: { delivery: 1 }, receipt: { status: 'success' } }]);
    expect([await chain.balance(payTo), await chain.balance(feeOwner)]).toEqual([PRICE - 2_000n, 2_000n]);
    await vendor.stop();
  },
  INSTALL_MS,
);

/** The transaction was included, and the reference denies the payment without naming it. */
const DENIED = { status: 200, body: { success: false, transaction: '' } };
const PROCESSED = 'invalid_exact_svm_transaction_simulation_failed';

test('reference: of the same payload twice at once, one succeeds; later ones are duplicates', async () => {
  const subject = { facilitator, chain, network, payTo: await chain.payee() };
  const { answers, receivedMicro } = await probeSamePayload(subject);
  const duplicate = { ...DENIED, body: { ...DENIED.body, errorReason: 'duplicate_settlement' } };
  expect(answers).toMatchObject({
    first: { status: 200, body: { success: true } },
    second: duplicate,
    again: duplicate,
    altered: duplicate,
    verify: { status: 200, body: { isValid: false, invalidReason: PROCESSED } },
  });
  expect(receivedMicro).toBe(PRICE);
});

test('reference: when the answer of the chain is lost, a payment that was made is denied for ever', async () => {
  const subject = { facilitator, chain, network, payTo: await chain.payee() };
  const { answers, receivedMicro } = await probeLostAnswer(subject);
  expect(answers).toMatchObject({
    settle: { ...DENIED, body: { ...DENIED.body, errorReason: 'invalid_exact_svm_transaction_failed' } },
    again: { ...DENIED, body: { ...DENIED.body, errorReason: PROCESSED } },
  });
  expect(receivedMicro).toBe(PRICE);
});

test('reference: after a restart, a payment that was made is denied', async () => {
  const subject = { facilitator, chain, network, payTo: await chain.payee() };
  const { answers, receivedMicro } = await probeRestart(subject, async () => {
    await facilitator.stop('SIGKILL');
    facilitator = await startInterop('reference-facilitator', settings);
    return facilitator;
  });
  expect(answers).toMatchObject({
    settle: { status: 200, body: { success: true } },
    verify: { status: 200, body: { isValid: false, invalidReason: PROCESSED } },
    again: { ...DENIED, body: { ...DENIED.body, errorReason: PROCESSED } },
  });
  expect(receivedMicro).toBe(PRICE);
});
