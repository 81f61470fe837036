import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { forward } from '../../../shared/bus/call.ts';
import type { Bus } from '../../../shared/bus/connect.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { settlement } from '../../../shared/contract/index.ts';
import { assemble, messageOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  callsOf,
  changeService,
  confirm,
  type Key,
  newKey,
  pendingRow,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import {
  admin,
  callAs,
  deps,
  outcome,
  paid,
  pay,
  quote,
  startFixture,
  stopFixture,
  testBus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  hashOf,
  newTransaction,
  submitter,
  txOf,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { redeemLinkPayment } from './redeem-link-payment.ts';

/**
 * Payments of payment links by wallets, over a real database and bus, with chain-submitter as a
 * stand-in. Rule 2: one paying settlement per quote, whoever pays and however.
 */
let gateway: Bus;
beforeAll(async () => {
  await startFixture();
  gateway = await testBus.as('gateway');
});
afterAll(stopFixture);

let key: Key;
beforeEach(() => {
  key = newKey();
});

const PAYMENT_LINK = newId('pl');
const MEMO = '0.05 USDC to Weather (q)';
const linkQuote = (options: Parameters<typeof quote>[1] = {}) => {
  const payment_link = { payment_link_id: PAYMENT_LINK, title: 'Tour', success_url: null, memo: MEMO };
  return quote(50_000n, {
    of: key,
    scope: { resource: 'https://api.example.com/pay', payment_link },
    ...options,
  });
};
type Answer = { settlement_id: string; status: string; tx_hash: string | null; receipt_url?: string | null };
const SECRET = 'A'.repeat(43);
const payLink = (quote_token: string, transaction: string, secret = SECRET) =>
  forward(
    gateway,
    settlement,
    'payLink',
    { environment: 'test', quote_token, secret, transaction },
    { kind: 'none' },
    { timeoutMs: 20_000, headers: {} },
  ) as Promise<Answer>;
const paidBy = async ({ quote_token }: { quote_token: string }, transaction = newTransaction()) => {
  const answer = payLink(quote_token, transaction);
  await confirm(transaction);
  return answer;
};
const settlementsOf = async ({ quote_id }: { quote_id: string }) =>
  (await admin.query('select rail, status from settlements where quote_id = $1', [quote_id])).rows;

test('a payment is recorded with quote and scope, confirmed with a receipt, and redeemed once', async () => {
  const q = linkQuote();
  const transaction = newTransaction();
  const answer = await paidBy(q, transaction);
  expect(answer).toEqual({
    settlement_id: expect.any(String),
    status: 'confirmed',
    tx_hash: txOf(transaction),
    receipt_url: expect.stringMatching(/^https:\/\/api\.example\.com\/receipt#/),
  });
  const { settlement_id } = answer;
  const receipt = await callAs<{ claims: object }>(key, 'getReceipt', { settlement_id });
  expect(receipt.claims).toMatchObject({ settlement_id, payment_link_id: PAYMENT_LINK });
  const own = await callAs(key, 'get', { settlement_id });
  expect(own).toMatchObject({
    ...{ rail: 'x402', status: 'issued', quote_id: q.quote_id, quote_amount: '50000', accrued_fee: '2001' },
    scope: { payment_link: { title: 'Tour' } },
  });
  // A repeat is the same payment.
  expect(await payLink(q.quote_token, transaction)).toMatchObject({ settlement_id, status: 'confirmed' });
  const redeem = redeemLinkPayment(deps);
  const payment = { settlement_id, quote_id: q.quote_id };
  expect(await redeem(payment)).toEqual({ done: true });
  expect(await redeem(payment)).toEqual({ done: true });
  expect(await callAs(key, 'get', { settlement_id })).toMatchObject({ status: 'redeemed' });
  expect(await redeem({ ...payment, quote_id: linkQuote().quote_id })).toEqual({ done: true });
});

test('only the page that has paid is told of its payment, and not who has opened the link too', async () => {
  const q = linkQuote();
  const earlier = linkQuote({ quote_id: q.quote_id, expiresInMs: -3_000_000 });
  const transaction = newTransaction();
  const answer = payLink(q.quote_token, transaction);
  await pendingRow(transaction);
  // The message is public on the chain, and needs no signature.
  const bare = Buffer.from(assemble(messageOf(transaction)!, [null, null])).toString('base64');
  const strange = 'B'.repeat(43);
  const asked = [q, earlier].flatMap(({ quote_token }) =>
    [transaction, bare].map((bytes) => outcome(payLink(quote_token, bytes, strange))),
  );
  await confirm(transaction);
  const own = await answer;
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 4 }).fill('quote_already_settled'));
  const later = payLink(earlier.quote_token, bare, strange);
  await expect(later).rejects.toMatchObject({
    code: 'quote_already_settled',
    extras: { money_moved: 'yes' },
  });
  expect(JSON.stringify(await later.catch((error: ServiceError) => error.extras))).not.toContain(
    own.settlement_id,
  );
  expect(await payLink(earlier.quote_token, bare)).toEqual(own);
});

/** Of many transactions for one quote, the one that is recorded. */
const firstRecordedOf = (transactions: readonly string[]): Promise<string> =>
  Promise.race(
    transactions.map(async (one) => {
      await pendingRow(one);
      return one;
    }),
  );

describe('one quote is paid once (rule 2)', () => {
  test('of many wallets at once one is recorded, and no other transaction is signed', async () => {
    const q = linkQuote();
    const transactions = Array.from({ length: 64 }, newTransaction);
    const before = submitter.submitted;
    const answers = transactions.map((transaction) => outcome(payLink(q.quote_token, transaction)));
    await confirm(await firstRecordedOf(transactions));
    const outcomes = await Promise.all(answers);
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(1);
    expect(outcomes.filter((each) => each === 'quote_already_settled')).toHaveLength(63);
    expect(submitter.submitted).toBe(before + 1);
    expect(await settlementsOf(q)).toHaveLength(1);
  });

  test('a wallet and an account pay it once, whoever is first', async () => {
    const byWallet = linkQuote();
    await paidBy(byWallet);
    expect(await outcome(pay(consumer(), byWallet))).toBe('quote_already_settled');

    const byAccount = linkQuote();
    await paid(consumer(), byAccount);
    expect(await outcome(payLink(byAccount.quote_token, newTransaction()))).toBe('quote_already_settled');
    expect(await settlementsOf(byAccount)).toHaveLength(1);
  });

  test('a payment that fails frees the quote', async () => {
    const q = linkQuote();
    const failing = newTransaction();
    const refusal = { outcome: 'refused', reason: 'simulation_failed', message: 'no' } as const;
    submitter.submits.set(hashOf(failing), refusal);
    expect(await outcome(payLink(q.quote_token, failing))).toBe('payment_failed');
    expect(await paidBy(q)).toMatchObject({ status: 'confirmed' });
    expect(new Set((await settlementsOf(q)).map(({ status }) => status))).toEqual(
      new Set(['failed', 'issued']),
    );
  });
});

describe('what is refused', () => {
  test('a quote that is of no link, expired, or of another signer', async () => {
    const plain = quote(50_000n, { of: key });
    expect(await outcome(payLink(plain.quote_token, newTransaction()))).toBe('validation_error');
    const old = linkQuote({ expiresInMs: -1000 });
    expect(await outcome(payLink(old.quote_token, newTransaction()))).toBe('quote_expired');
    const [payload, signature] = linkQuote().quote_token.split('.') as [string, string];
    const altered = `${payload}.${signature.slice(0, -4)}AAAA`;
    expect(await outcome(payLink(altered, newTransaction()))).toBe('validation_error');
  });

  test('a transaction that paid a link buys nothing else, and none that paid an offer pays a link', async () => {
    const q = linkQuote();
    const transaction = newTransaction();
    await paidBy(q, transaction);
    const { settle, settled } = callsOf(() => key);
    expect(await settle(transaction)).toMatchObject({ success: false, error: { code: 'validation_error' } });
    expect(await outcome(payLink(linkQuote().quote_token, transaction))).toBe('validation_error');

    const offered = newTransaction();
    await settled(offered);
    expect(await outcome(payLink(linkQuote().quote_token, offered))).toBe('validation_error');
  });

  test('the link of a closing service', async () => {
    const q = linkQuote();
    changeService(key, { status: 'closing' });
    expect(await outcome(payLink(q.quote_token, newTransaction()))).toBe('conflict');
    expect(await settlementsOf(q)).toEqual([]);
  });
});
