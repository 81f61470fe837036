import { beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { PaymentRequirements } from '@x402/core/types';
import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import { waitFor } from '../support/base/wait.ts';
import { createX402Buyer, createX402Facilitator } from '../support/others/x402.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

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
  ]);
  facilitator = createX402Facilitator(stack.gateway_url, vendor.apiKey);
  const { kinds } = await facilitator.supported();
  // A vendor that reads the supported kinds gets the token account of its payout address.
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(payout.publicKey)),
    (account) => account !== null,
  );
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
});

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

test('a refund goes back to the token account that paid', async () => {
  const { body } = await facilitator.settle(await buy(requirements));
  expect(body.success).toBe(true);
  const { settlement_id } = (body.extra as { quittance: { settlement_id: string } }).quittance;
  const before = await chain.balance(consumer.wallet.publicKey);
  const refunded = await refund(api, vendor, settlement_id);
  await waitFor(
    () =>
      must(
        api<{ status: string }>(`GET /v1/refunds/${refunded.refund_id}`, { token: vendor.apiKey }),
        'refund',
      ),
    ({ status }) => status === 'confirmed' || status === 'finalized',
  );
  expect(await chain.balance(consumer.wallet.publicKey)).toBe(before + 50_000n);
});

test('accrued fees are shown, and paid by a quote of the platform, from a wallet of any account', async () => {
  const owner = { token: vendor.signIn.access_token };
  type Fees = { accrued: string; paid: string; owed: string; credit: string };
  const fees = () => must(api<Fees>('GET /v1/accounts/me/fees', owner), 'fees');
  const before = await fees();
  expect(BigInt(before.owed)).toBeGreaterThan(0n);
  expect(before).toMatchObject({ paid: '0', credit: '100000' });
  const payer = await createConsumer(api, stack);
  const balance = await chain.balance(payer.wallet.publicKey);
  const quote = await must(
    api<{ quote_token: string; quote_amount: string; fee_amount: string }>(
      'POST /v1/accounts/me/fee-quote',
      owner,
    ),
    'quote',
  );
  expect(quote).toMatchObject({ quote_amount: before.owed, fee_amount: '0' });
  const paid = await must(
    api<{ status: string; settlement_id: string; tx_hash: string }>('POST /v1/settle', {
      token: payer.token,
      body: { quote_token: quote.quote_token, payment_attempt_id: `fees-${crypto.randomUUID()}` },
    }),
    'settle',
  );
  expect(paid.status).toBe('confirmed');
  const { fee_wallet } = stack.environments.test!;
  expect(await chain.received(fee_wallet, paid.tx_hash)).toBe(BigInt(before.owed));
  expect(await chain.balance(payer.wallet.publicKey)).toBe(balance - BigInt(before.owed));
  // Four times what was paid is less than the first credit.
  expect(await fees()).toEqual({ ...before, paid: before.accrued, owed: '0' });
  expect((await api('POST /v1/accounts/me/fee-quote', owner)).status).toBe(409);
  await waitFor(
    () => must(api<{ status: string }>(`GET /v1/settlements/${paid.settlement_id}`, payer), 'settlement'),
    ({ status }) => status === 'redeemed',
  );
});
