import { beforeAll, expect, test } from '@jest/globals';
import { compactVerify, createLocalJWKSet } from 'jose';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import { createClient, verifyReceipt } from '../../sdk/src/main.ts';
import { ReceiptClaims } from '../../shared/contract/settlement/receipts.ts';
import { waitFor } from '../support/base/wait.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Receipts by the public API, verified with the published keys and nothing else. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let vendor: Vendor;
let consumer: Consumer;
beforeAll(async () => {
  [vendor, consumer] = await Promise.all([createVendor(api, stack), createConsumer(api, stack)]);
});

type Answer = { receipt: string; receipt_url: string; claims: ReceiptClaims };
const receiptOf = (settlementId: string, token: string) =>
  must(api<Answer>(`GET /v1/settlements/${settlementId}/receipt`, { token }), 'receipt');

test('a receipt is verified offline with the published keys, by a JOSE library and by the SDK', async () => {
  const robot = await createDelegate(api, consumer, {});
  const quote = await quoteOf(api, vendor);
  const paid = await must(settleWith(api, robot.api_key, quote), 'settle');
  const { receipt, receipt_url, claims } = await receiptOf(paid.settlement_id, robot.api_key);
  expect(receipt_url).toBe(`${stack.gateway_url}/receipt#${receipt}`);

  const { body: jwks } = await api<{ keys: Parameters<typeof createLocalJWKSet>[0]['keys'] }>(
    'GET /.well-known/jwks.json?all=true',
  );
  const { payload } = await compactVerify(receipt, createLocalJWKSet(jwks), { algorithms: ['EdDSA'] });
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(claims);
  expect(ReceiptClaims.parse(claims)).toMatchObject({
    iss: stack.gateway_url,
    env: 'test',
    settlement_id: paid.settlement_id,
    quote: { quote_id: quote.quote_id },
    vendor: {
      service_id: vendor.serviceId,
      payees: [{ address: vendor.payout.publicKey.toBase58(), amount: '2487500' }],
    },
    payer_address: consumer.wallet.publicKey.toBase58(),
    amount: { gross: '2500000', fee: '12500', net: '2487500', mint: stack.environments.test!.usdc_mint },
    transaction: { signature: paid.tx_hash },
  });
  const options = { baseUrl: stack.gateway_url, environment: 'test' } as const;
  expect(await verifyReceipt(receipt, options)).toEqual(claims);
  await expect(verifyReceipt(receipt, { ...options, environment: 'live' })).rejects.toThrow('live');
});

test('the receipt after a refund has the refund, and the one before it stays valid', async () => {
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
  const before = await receiptOf(paid.settlement_id, vendor.apiKey);
  const { refund_id, tx_hash } = await refund(api, vendor, paid.settlement_id, 1_000_000n);
  const { claims } = await waitFor(
    () => receiptOf(paid.settlement_id, vendor.apiKey),
    ({ claims: now }) => now.refund_count === 1,
  );
  expect(claims).toMatchObject({
    refunds: [{ refund_id, amount: '1000000', signature: tx_hash }],
    refunded: '1000000',
  });
  const options = { baseUrl: stack.gateway_url, environment: 'test' } as const;
  expect((await verifyReceipt(before.receipt, options)).refunds).toEqual([]);
});

test('the client has the operation, and the page needs no credential', async () => {
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
  const client = createClient({ baseUrl: stack.gateway_url, credential: vendor.apiKey });
  const { claims } = await client.settlement.getReceipt({ settlement_id: paid.settlement_id });
  expect(claims.settlement_id).toBe(paid.settlement_id);
  const page = await fetch(`${stack.gateway_url}/receipt`);
  expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'self'; .* trusted-types 'none'$/,
  );
});
