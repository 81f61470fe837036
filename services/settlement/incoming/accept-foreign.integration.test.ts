import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { settlement } from '../../../shared/contract/index.ts';
import {
  confirm,
  type Key,
  newKey,
  owedOf,
} from '../../../test/support/fixtures/settlement/incoming-calls.ts';
import {
  callAs,
  operator,
  outcome,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  FEE_PAYER,
  hashOf,
  NETWORK,
  newTransaction,
  PAYER,
  SOURCE,
  submitter,
  txOf,
} from '../../../test/support/fixtures/settlement/settlement-incoming.ts';

/** Payments that a vendor accepts with its own offer. */
beforeAll(startFixture);
afterAll(stopFixture);

let key: Key;
beforeEach(() => {
  key = newKey();
});

describe('acceptForeign', () => {
  type Accepted = { status: string; replayed?: boolean; redeem_id?: string; fee_amount?: string };
  const accept = (transaction: string, redeem_id: string, rest: object = {}) =>
    callAs<Accepted>(key, 'acceptForeign', {
      ...{ rail: 'mpp', quote_amount: '50000', memo: 'offer-1', transaction, redeem_id },
      ...rest,
    });

  test('an MPP payment is settled and redeemed in one step, and its fee is a split', async () => {
    const transaction = newTransaction();
    const answer = accept(transaction, 'delivery-1');
    const settlement_id = await confirm(transaction);
    expect(await answer).toMatchObject({
      settlement_id,
      status: 'confirmed',
      tx_hash: txOf(transaction),
      quote_amount: '50000',
      fee_amount: '10000',
      payer_address: PAYER,
      source_account: SOURCE,
      redeem_id: 'delivery-1',
      replayed: false,
    });
    expect(await accept(transaction, 'delivery-1')).toMatchObject({
      replayed: true,
      redeem_id: 'delivery-1',
    });
    expect(await accept(transaction, 'delivery-2')).toMatchObject({
      replayed: true,
      redeem_id: 'delivery-1',
    });
    expect(await callAs(key, 'get', { settlement_id })).toMatchObject({
      rail: 'mpp',
      status: 'redeemed',
      fee_amount: '10000',
      net_amount: '40000',
    });
    // Its payer has no account. Support finds the payment by the address of the wallet.
    const found = await call(operator, settlement, 'findRecords', {
      ids: [PAYER],
      attempts: [],
      inspection: { ticket: 'ticket 7', inspection_id: crypto.randomUUID() },
    });
    const accepted = found.entries.find(
      ({ object_id, what }) => object_id === settlement_id && what === 'attempt accepted',
    );
    expect(accepted?.details).toMatchObject({ payer_address: PAYER, amount: '50000' });
    expect(await owedOf(key.account_id)).toBeUndefined();
  });

  test('30 calls at once deliver once', async () => {
    const transaction = newTransaction();
    const calls = Array.from({ length: 30 }, (_, index) => accept(transaction, `delivery-${index}`));
    await confirm(transaction);
    const answers = await Promise.all(calls);
    expect(answers.filter(({ replayed }) => replayed === false)).toHaveLength(1);
    expect(new Set(answers.map(({ redeem_id }) => redeem_id)).size).toBe(1);
  });

  test('a payment of MPP names the memo of its offer, and one of x402 may have none', async () => {
    const memo = undefined;
    expect(await outcome(accept(newTransaction(), 'd', { memo }))).toBe('validation_error');
    const transaction = newTransaction();
    const answer = accept(transaction, 'd', { rail: 'x402', memo });
    await confirm(transaction);
    expect(await answer).toMatchObject({ status: 'confirmed', replayed: false });
  });

  test('an unconfirmed payment is pending, and a refused or failed one is an error', async () => {
    const pending = newTransaction();
    expect(await accept(pending, 'd')).toMatchObject({ status: 'pending', tx_hash: txOf(pending) });
    const refused = newTransaction();
    const about = { outcome: 'refused', reason: 'memo_mismatch', message: 'another memo' } as const;
    submitter.checks.set(hashOf(refused), about);
    expect(await outcome(accept(refused, 'd'))).toBe('validation_error');
    expect(await outcome(accept(newTransaction(), 'd', { quote_amount: '10000' }))).toBe('validation_error');
    const poor = newTransaction();
    submitter.submits.set(hashOf(poor), { ...about, reason: 'insufficient_funds' });
    expect(await outcome(accept(poor, 'd'))).toBe('insufficient_funds');
  });
});

test('the terms of a 402 name network, fee payer, payee and fee', async () => {
  expect(await callAs(key, 'foreignTerms', {})).toMatchObject({
    network: NETWORK,
    mpp_network: 'devnet',
    fee_payer: FEE_PAYER,
    fee: { bps: 50, min: '10000' },
  });
});
