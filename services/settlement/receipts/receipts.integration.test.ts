import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { compactVerify } from 'jose';
import type { Principal } from '../../../shared/contract/principal.ts';
import { ReceiptClaims } from '../../../shared/contract/settlement/receipts.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { confirm, newKey } from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import { ANY_PAYEE, payOut } from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  callAs,
  database,
  delegateOf,
  HASH,
  outcome,
  paid,
  publishProgress,
  quote,
  serviceKey,
  startFixture,
  stopFixture,
  underWay,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  NETWORK,
  newTransaction,
  PAYER,
  txOf,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { newPayee } from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { confirmedRefunds, consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import {
  MINT,
  PAYOUT,
  publicKeys,
  vendor,
} from '../../../test/support/fixtures/settlement/settlement-quotes.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Answer = { receipt: string; receipt_url: string; claims: ReceiptClaims };
const get = (principal: Principal, settlement_id: string) =>
  callAs<Answer>({ ...principal }, 'getReceipt', { settlement_id });

/** The verified content, which is also the `claims` of the answer. */
const receiptOf = async (principal: Principal, settlementId: string): Promise<ReceiptClaims> => {
  const { receipt, receipt_url, claims } = await get(principal, settlementId);
  const { payload, protectedHeader } = await compactVerify(receipt, ({ kid }) => publicKeys.get(kid!)!.key);
  expect(protectedHeader.kid).toBe('test.settlement.1');
  expect(JSON.parse(new TextDecoder().decode(payload))).toEqual(claims);
  expect(receipt_url).toBe(`https://api.example.com/receipt#${receipt}`);
  return ReceiptClaims.parse(claims);
};

describe('the content', () => {
  test('of a native payment', async () => {
    const q = quote(2_500_000n);
    const payer = consumer();
    const { settlementId, answer } = await paid(payer, q);
    await callAs(serviceKey, 'redeem', {
      settlement_id: settlementId,
      settlement_token: answer.settlement_token,
    });
    const before = Math.floor(Date.now() / 1000) - 60;
    const claims = await receiptOf(payer, settlementId);
    expect(claims).toEqual({
      iss: 'https://api.example.com',
      env: 'test',
      iat: expect.any(Number),
      settlement_id: settlementId,
      rail: 'quittance',
      status: 'redeemed',
      chain_status: 'confirmed',
      network: NETWORK,
      quote: { quote_id: q.quote_id, issued_at: storedClaims(q.quote_token).issued_at },
      item: null,
      payment_link_id: null,
      vendor: {
        ...{ service_id: vendor.service_id, service_name: 'Weather' },
        payees: [{ address: PAYOUT, amount: '2490000' }],
      },
      payer_address: payer.owner,
      amount: { gross: '2500000', fee: '10000', net: '2490000', currency: 'USDC', mint: MINT },
      transaction: { signature: HASH[0], superseded: [] },
      confirmed_at: expect.any(String),
      redeemed_at: expect.any(String),
      refunds: [],
      refund_count: 0,
      refunded: '0',
    });
    expect(claims.iat).toBeGreaterThan(before);
    expect(JSON.stringify(claims)).not.toMatch(/acct_|del_|wal_|evt_/);
  });

  test('names the transactions that a fork replaced', async () => {
    const { settlementId, payer } = await paid();
    await publishProgress(settlementId, 'reopened');
    await untilChainStatus(settlementId, 'pending');
    await publishProgress(settlementId, 'finalized', { generation: 2, tx_hash: HASH[1] });
    await untilChainStatus(settlementId, 'finalized');
    const { chain_status, transaction } = await receiptOf(payer, settlementId);
    expect({ chain_status, transaction }).toEqual({
      chain_status: 'finalized',
      transaction: { signature: HASH[1], superseded: [HASH[0]] },
    });
  });

  test('shows a window that has elapsed', async () => {
    const { settlementId, payer } = await paid(consumer(), quote(1_000_000n, { window: 30 }));
    await database.withClock('1 minute', async () => {
      expect((await receiptOf(payer, settlementId)).status).toBe('expired');
    });
  });

  test('of a payment of MPP has no quote', async () => {
    const key = newKey();
    const transaction = newTransaction();
    const accepted = callAs(key, 'acceptForeign', {
      ...{ rail: 'mpp', quote_amount: '50000', memo: 'offer-1', transaction, redeem_id: 'd-1' },
    });
    const settlementId = await confirm(transaction);
    await accepted;
    expect(await receiptOf(key, settlementId)).toMatchObject({
      rail: 'mpp',
      quote: null,
      vendor: { service_id: key.service_id, payees: [{ address: PAYOUT, amount: '40000' }] },
      payer_address: PAYER,
      amount: { gross: '50000', fee: '10000', net: '40000' },
      transaction: { signature: txOf(transaction) },
    });
  });

  test('of an outgoing payment of x402 names the host that was paid', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, {}, null, ANY_PAYEE);
    const payTo = newPayee('receipt');
    const { settlement_id } = await payOut(delegate, { payTo });
    expect(await outcome(get(delegate, settlement_id))).toBe('conflict');
    await publishProgress(settlement_id, 'confirmed');
    await untilChainStatus(settlement_id, 'confirmed');
    expect(await receiptOf(delegate, settlement_id)).toMatchObject({
      rail: 'x402_out',
      quote: null,
      vendor: {
        ...{ service_id: null, service_name: 'api.example.com' },
        payees: [{ address: payTo, amount: expect.any(String) }],
      },
      payer_address: payer.owner,
      amount: { fee: '0' },
    });
  });
});

describe('refunds', () => {
  const refund = (amount: string): ReceiptClaims['refunds'][number] => ({
    ...{ refund_id: newId('ref'), amount, signature: HASH[1], status: 'finalized' },
    created_at: '2026-11-21T10:00:00.000Z',
  });

  test('are in the receipt with their sum', async () => {
    const { settlementId, payer } = await paid();
    const refunds = [refund('400000'), refund('1')];
    confirmedRefunds.set(settlementId, refunds);
    expect(await receiptOf(payer, settlementId)).toMatchObject({
      refunds,
      refund_count: 2,
      refunded: '400001',
    });
  });

  test('that cannot be read refuse the receipt', async () => {
    const { settlementId, payer } = await paid();
    confirmedRefunds.set(settlementId, null);
    expect(await outcome(get(payer, settlementId))).toBe('service_unavailable');
  });
});

describe('a payment has no receipt', () => {
  test('before it is confirmed, nor after it failed', async () => {
    const payer = consumer();
    const pending = await underWay(payer);
    expect(await outcome(get(payer, pending.settlementId))).toBe('conflict');
    await publishProgress(pending.settlementId, 'failed', {
      failure: { code: 'payment_failed', message: 'no' },
    });
    await untilChainStatus(pending.settlementId, 'failed');
    await expect(get(payer, pending.settlementId)).rejects.toThrow('the payment failed');
  });

  test('while a fork has removed it, and one that says so after it was reversed for good', async () => {
    const { settlementId, payer } = await paid();
    await publishProgress(settlementId, 'reopened');
    await untilChainStatus(settlementId, 'pending');
    await expect(get(payer, settlementId)).rejects.toThrow('once the payment is confirmed');
    await publishProgress(settlementId, 'failed', { failure: { code: 'payment_failed', message: 'no' } });
    await untilChainStatus(settlementId, 'failed');
    expect(await receiptOf(payer, settlementId)).toMatchObject({ status: 'failed', chain_status: 'failed' });
  });
});

test('the payer, its delegate, and the vendor get the same receipt, and nobody else gets any', async () => {
  const account = consumer();
  const delegate = await delegateOf(account);
  const { settlementId } = await paid(delegate);
  const owner: Principal = { ...account, account_id: vendor.account_id };
  const shown = await Promise.all(
    [delegate, account, serviceKey, owner].map((principal) => receiptOf(principal, settlementId)),
  );
  for (const claims of shown) expect({ ...claims, iat: 0 }).toEqual({ ...shown[0], iat: 0 });

  const other = await delegateOf(account);
  const strangers: Principal[] = [
    other,
    consumer(),
    { ...serviceKey, service_id: newServiceId() } as Principal,
    await delegateOf(consumer()),
  ];
  for (const stranger of strangers) expect(await outcome(get(stranger, settlementId))).toBe('not_found');
  expect(await outcome(get(account, newId('stl')))).toBe('not_found');
});
