import { beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { chainOf } from '../support/chain.ts';
import { atOnce, runningStack } from '../support/stack.ts';
import { waitFor } from '../support/wait.ts';
import { createX402Buyer, createX402Facilitator } from '../support/x402.ts';

/** The facilitator through the gateway, with the unmodified client scheme of x402. */
const stack = runningStack();
const { rpc_url, usdc_mint } = stack.environments.test!;
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

let vendor: Vendor;
let consumer: Consumer;
let facilitator: ReturnType<typeof createX402Facilitator>;
let requirements: PaymentRequirements;
let buy: Awaited<ReturnType<typeof createX402Buyer>>;
beforeAll(async () => {
  const payout = Keypair.generate();
  [vendor, consumer] = await Promise.all([
    createVendor(api, stack, { payout, price: 50_000n }),
    createConsumer(api, stack, { allowance: 0n }),
    // The payout address needs a token account.
    createConsumer(api, stack, { wallet: payout, balance: 1_000_000n, allowance: 0n }),
  ]);
  facilitator = createX402Facilitator(stack.gateway_url, vendor.apiKey);
  const { kinds } = await facilitator.supported();
  requirements = {
    scheme: 'exact',
    network: NETWORK,
    asset: usdc_mint,
    amount: '50000',
    payTo: payout.publicKey.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: kinds[0]!.extra.feePayer },
  };
  buy = await createX402Buyer(consumer.wallet, rpc_url);
}, 120_000);

test('a payment is verified, settled once and listed with its rail', async () => {
  const payload = await buy(requirements);
  const before = await chain.balance(vendor.payout.publicKey);
  expect((await facilitator.verify(payload)).body).toEqual({
    isValid: true,
    payer: consumer.wallet.publicKey.toBase58(),
  });
  const { status, body } = await facilitator.settle(payload);
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { success: true, network: NETWORK, payer: consumer.wallet.publicKey.toBase58(), amount: '50000' },
  });
  expect(await chain.balance(vendor.payout.publicKey)).toBe(before + 50_000n);
  const settlement = await waitFor(
    () =>
      must(
        api<{ data: { status: string; rail: string; tx_hash: string; accrued_fee: string }[] }>(
          'GET /v1/settlements?rail=x402',
          { token: vendor.apiKey },
        ),
        'list',
      ).then(({ data }) => data[0]),
    (found) => found?.status === 'redeemed',
  );
  expect(settlement).toMatchObject({ rail: 'x402', tx_hash: body.transaction });
  const again = await facilitator.settle(payload);
  expect(again.body).toMatchObject({
    success: false,
    errorReason: 'duplicate_settlement',
    transaction: body.transaction,
  });
  expect((await facilitator.verify(payload)).body).toMatchObject({ invalidReason: 'duplicate_settlement' });
});

test('the same payload 50 times at once is paid once and succeeds once', async () => {
  const payload = await buy(requirements);
  const before = await chain.balance(vendor.payout.publicKey);
  const answers = await atOnce(50, () => facilitator.settle(payload));
  const reasons = answers.map(({ body }) => (body.success ? 'success' : String(body.errorReason)));
  expect(reasons.filter((reason) => reason === 'success')).toHaveLength(1);
  expect(new Set(reasons)).toEqual(new Set(['success', 'duplicate_settlement']));
  expect(await chain.balance(vendor.payout.publicKey)).toBe(before + 50_000n);
});
