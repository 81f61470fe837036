import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { repeatUntilAnswered } from '../../../test/support/base/repeat-until-answered.ts';
import {
  ANY_PAYEE,
  type PaidOut,
  payOut,
  RESOURCE,
  refusal,
  USDC,
} from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  callAs,
  delegateOf,
  HASH,
  held,
  outcome,
  pay,
  publishProgress,
  quote,
  row,
  spendingOf,
  startFixture,
  stopFixture,
  until,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import {
  newPayee,
  requirementOf,
  signer,
} from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';

beforeAll(startFixture);
afterAll(stopFixture);
beforeEach(() => {
  signer.answers = true;
});

const payloadOf = ({ payment_signature }: PaidOut) =>
  JSON.parse(Buffer.from(payment_signature, 'base64').toString());

describe('a payment', () => {
  test('is signed, held, and spent when it is seen; a repeat returns the same bytes in every state', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: 5n * USDC }, null, ANY_PAYEE);
    const call = { attempt: 'first', payTo: newPayee('first') };
    const first = await payOut(delegate, call);
    expect(first).toMatchObject({ status: 'pending', tx_hash: null });
    expect(payloadOf(first)).toEqual({
      x402Version: 2,
      resource: { url: RESOURCE },
      accepted: requirementOf(call.payTo),
      payload: { transaction: first.transaction },
    });
    expect(await payOut(delegate, call)).toEqual(first);
    expect(await payOut(payer, call)).toEqual(first);
    expect(await held(payer)).toBe(USDC);
    expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '1000000', spent: '0' });

    await publishProgress(first.settlement_id, 'confirmed');
    await untilChainStatus(first.settlement_id, 'confirmed');
    expect(await held(payer)).toBe(0n);
    expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '0', spent: '1000000' });
    expect(await payOut(delegate, call)).toEqual({ ...first, status: 'confirmed', tx_hash: HASH[0] });
    expect(await row(first.settlement_id)).toMatchObject({ status: 'issued', tx_hash: HASH[0] });
  });

  test('version 1 has its own payload, and the payment shows its payee to the payer alone', async () => {
    const payer = consumer();
    const { amount, ...rest } = requirementOf(newPayee('v1'));
    const requirement = { ...rest, network: 'solana-devnet', maxAmountRequired: amount };
    const paid = await payOut(payer, { version: 1, requirement });
    expect(payloadOf(paid)).toEqual({
      x402Version: 1,
      scheme: 'exact',
      network: 'solana-devnet',
      payload: { transaction: paid.transaction },
    });
    const shown = await callAs<object>(payer, 'get', { settlement_id: paid.settlement_id });
    expect(shown).toMatchObject({
      rail: 'x402_out',
      status: 'pending',
      quote_id: null,
      service_id: null,
      service_name: 'api.example.com',
      quote_amount: '1000000',
      fee_amount: '0',
      net_amount: '1000000',
      scope: null,
      redeem_expires_at: null,
      payees: [{ address: newPayee('v1'), amount: '1000000' }],
      resource: RESOURCE,
      delegate_id: null,
    });
    expect(shown).not.toHaveProperty('quote_token');
    const lists = await callAs<{ data: object[] }>(payer, 'list', { rail: 'x402_out' });
    expect(lists.data).toEqual([shown]);
    expect((await callAs<{ data: object[] }>(payer, 'list', { rail: 'quittance' })).data).toEqual([]);
    expect(await outcome(callAs(consumer(), 'get', { settlement_id: paid.settlement_id }))).toBe('not_found');
    expect((await callAs<{ data: object[] }>(payer, 'list', { role: 'vendor' })).data).toEqual([]);
  });

  test('another payment, another delegate and another kind of payment cannot use its attempt id', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, {}, null, ANY_PAYEE);
    const other = await delegateOf(payer, {}, null, ANY_PAYEE);
    const attempt = 'taken';
    const payTo = newPayee('taken');
    const { settlement_id } = await payOut(delegate, { attempt, payTo });
    const named = { money_moved: 'unknown', safe_action: 'read_settlement', settlement_id };
    for (const change of [
      { resource: 'https://api.example.com/other' },
      { amount: 2n * USDC },
      { payTo: newPayee('another') },
      { requirement: requirementOf(payTo, USDC, { extra: { feePayer: newPayee('fee payer') } }) },
    ])
      expect(await refusal(payOut(delegate, { attempt, payTo, ...change }))).toMatchObject({
        code: 'conflict',
        ...named,
      });
    expect(await refusal(payOut(other, { attempt, payTo }))).toMatchObject({
      code: 'conflict',
      message: 'this payment_attempt_id belongs to another delegate',
      ...named,
    });
    expect(await refusal(pay(delegate, quote(), attempt))).toMatchObject({ code: 'conflict', ...named });
    expect(await held(payer)).toBe(USDC);

    const settled = pay(delegate, quote(), 'of-settle');
    settled.catch(() => {});
    await until(
      () => held(payer),
      (micro) => micro === 2n * USDC,
    );
    expect(await refusal(payOut(delegate, { attempt: 'of-settle', payTo }))).toMatchObject({
      code: 'conflict',
      message: 'this payment_attempt_id was used for another payment',
      safe_action: 'read_settlement',
    });
  });

  test('64 calls of one attempt sign one payment', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { per_payment: USDC, daily: USDC }, null, ANY_PAYEE);
    const call = { attempt: 'at-once', payTo: newPayee('at once') };
    const answers = await atOnce(64, () => repeatUntilAnswered(() => payOut(delegate, call)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(await held(payer)).toBe(USDC);
    expect((await spendingOf(delegate)).usage.total.held).toBe('1000000');
  });

  test.each([
    ['insufficient_funds', 'insufficient_funds', 'top_up'],
    ['delegation_inactive', 'delegation_inactive', 'raise_limit'],
    ['payee_without_token_account', 'payment_failed', 'new_quote'],
    ['fee_payer_not_allowed', 'payment_failed', 'new_quote'],
    ['signing_paused', 'payment_failed', 'new_quote'],
  ] as const)('a refusal of chain-submitter (%s) releases its hold for good', async (reason, code, safe) => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: USDC }, null, ANY_PAYEE);
    const call = { attempt: newId('evt'), payTo: newPayee(`refused ${reason}`) };
    signer.refusals.set(call.payTo, reason);
    const refused = await refusal(payOut(delegate, call));
    expect(refused).toMatchObject({ code, money_moved: 'no', safe_action: safe });
    expect(await held(payer)).toBe(0n);
    expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '0', spent: '0' });
    signer.refusals.delete(call.payTo);
    expect(await refusal(payOut(delegate, call))).toEqual(refused);
    expect((await payOut(delegate, { payTo: call.payTo })).status).toBe('pending');
  });

  test('an attempt id whose lost record has signed another payment holds nothing', async () => {
    const payer = consumer();
    const call = { attempt: newId('evt'), payTo: newPayee('lost record') };
    signer.conflicts.add(call.attempt);
    expect(await refusal(payOut(payer, call))).toMatchObject({
      code: 'payment_failed',
      money_moved: 'no',
      message: 'the payment_attempt_id has signed another payment',
    });
    expect(await held(payer)).toBe(0n);
  });

  test('while chain-submitter does not answer, nothing has moved, and the repeat goes on', async () => {
    const payer = consumer();
    const call = { attempt: newId('evt'), payTo: newPayee('unavailable') };
    signer.answers = false;
    expect(await refusal(payOut(payer, call))).toMatchObject({
      code: 'service_unavailable',
      money_moved: 'no',
      safe_action: 'retry_same_attempt',
    });
    expect(await held(payer)).toBe(USDC);
    signer.answers = true;
    const paid = await payOut(payer, call);
    expect(paid.status).toBe('pending');
    expect(await held(payer)).toBe(USDC);
    signer.answers = false;
    expect(await refusal(payOut(payer, call))).toMatchObject({
      code: 'service_unavailable',
      money_moved: 'unknown',
    });
  });

  test('a copy that chain-submitter does not answer knows that another one has handed out the bytes', async () => {
    const payer = consumer();
    const call = { attempt: newId('evt'), payTo: newPayee('copies') };
    signer.answers = false;
    const before = signer.unanswered;
    const copy = refusal(payOut(payer, call));
    await until(
      async () => signer.unanswered,
      (unanswered) => unanswered > before,
    );
    signer.answers = true;
    expect((await payOut(payer, call)).status).toBe('pending');
    expect(await copy).toMatchObject({ code: 'service_unavailable', money_moved: 'unknown' });
  });

  test('an expired payment failed for good, and releases what it held', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: USDC }, null, ANY_PAYEE);
    const call = { attempt: newId('evt'), payTo: newPayee('expired') };
    const { settlement_id } = await payOut(delegate, call);
    await publishProgress(settlement_id, 'failed', {
      tx_hash: null,
      slot: null,
      failure: { code: 'payment_failed', message: 'it can no longer be included' },
    });
    await untilChainStatus(settlement_id, 'failed');
    expect(await refusal(payOut(delegate, call))).toMatchObject({
      code: 'payment_failed',
      message: 'it can no longer be included',
      money_moved: 'no',
      settlement_id,
    });
    expect(await held(payer)).toBe(0n);
    expect((await spendingOf(delegate)).usage.daily).toMatchObject({ held: '0', spent: '0' });
  });

  test('a fork holds its amount again, until it is confirmed again or proven dead', async () => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { daily: 2n * USDC }, null, ANY_PAYEE);
    const usage = async () => {
      const { held: now, spent } = (await spendingOf(delegate)).usage.daily;
      return `${now}/${spent}`;
    };
    const call = { attempt: newId('evt'), payTo: newPayee('forked') };
    const { settlement_id } = await payOut(delegate, call);
    await publishProgress(settlement_id, 'confirmed');
    await untilChainStatus(settlement_id, 'confirmed');
    await publishProgress(settlement_id, 'reopened');
    await untilChainStatus(settlement_id, 'pending');
    expect([await held(payer), await usage()]).toEqual([USDC, '1000000/0']);
    expect((await payOut(delegate, call)).status).toBe('pending');
    await publishProgress(settlement_id, 'confirmed', { tx_hash: HASH[1] });
    await untilChainStatus(settlement_id, 'confirmed');
    expect([await held(payer), await usage()]).toEqual([0n, '0/1000000']);
    await publishProgress(settlement_id, 'reopened');
    await untilChainStatus(settlement_id, 'pending');
    await publishProgress(settlement_id, 'failed', {
      failure: { code: 'payment_failed', message: 'it can no longer be included' },
    });
    await untilChainStatus(settlement_id, 'failed');
    expect([await held(payer), await usage()]).toEqual([0n, '0/0']);
    expect(await row(settlement_id)).toMatchObject({ status: 'failed' });
  });
});
