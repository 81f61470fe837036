import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { settlement } from '../../../shared/contract/index.ts';
import { newId } from '../../../shared/lib/id.ts';
import { payOut, refusal, USDC } from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  database,
  held,
  operator,
  row,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { newPayee, signer } from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';

/** Outgoing payments that a restore leaves undecided, as an operator sees and ends them. */
beforeAll(startFixture);
afterAll(stopFixture);
afterEach(async () => {
  Object.assign(signer, { answers: true, found: 'none', candidates: [] });
  await admin.query('delete from restores');
});

const signed = { reason: 'ticket 1042' };
/** How the record names the change: with the name of the operator's connection. */
const by = { actor: 'jane', ...signed };
const TRANSACTION = '5'.repeat(88);
const list = () => call(operator, settlement, 'listUnsignedPayments', { limit: 20 });
const get = (settlement_id: string) => call(operator, settlement, 'getUnsignedPayment', { settlement_id });
const end = (settlement_id: string) =>
  call(operator, settlement, 'endUnsignedPayment', { settlement_id, ...signed });
const later = <T>(work: () => Promise<T>): Promise<T> => database.withClock('3 minutes', work);
const muchLater = <T>(work: () => Promise<T>): Promise<T> => database.withClock('20 minutes', work);

/** A payment of which the chain has one that may be it. */
const undecided = async () => {
  const payer = consumer();
  const payment = { attempt: newId('evt'), payTo: newPayee(newId('evt')) };
  await admin.query(`insert into restores (taken_at) values (app_now() - interval '1 hour')`);
  Object.assign(signer, { found: 'undecided', candidates: [TRANSACTION] });
  const { settlement_id } = (await refusal(payOut(payer, payment))) as { settlement_id: string };
  return { payer, payment, settlement_id };
};

test('an undecided payment is listed with what may be it, and its end releases its hold for good', async () => {
  const { payer, payment, settlement_id } = await undecided();
  expect(await list()).toEqual([]);
  const shown = {
    ...{ settlement_id, account_id: payer.account_id, payment_attempt_id: payment.attempt },
    ...{ amount: `${USDC}`, payees: [{ address: payment.payTo, amount: `${USDC}` }] },
    ...{ owner: payer.owner, created_at: expect.any(String) },
  };
  expect(await later(list)).toEqual([shown]);
  expect(await get(settlement_id)).toEqual({
    ...shown,
    ...{ found: 'undecided', transactions: [TRANSACTION] },
  });
  expect(await held(payer)).toBe(USDC);
  expect(await end(settlement_id)).toEqual({ status: 'failed', chain_status: 'failed' });
  expect(await held(payer)).toBe(0n);
  expect(await later(list)).toEqual([]);
  // The attempt stays failed when its payer repeats it.
  expect(await refusal(payOut(payer, payment))).toMatchObject({ code: 'payment_failed', money_moved: 'no' });
  expect(await refusal(end(settlement_id))).toMatchObject({ code: 'conflict' });
  const [action] = await call(operator, settlement, 'listOperatorActions', { limit: 1 });
  expect(action).toMatchObject({
    ...{ ...by, action: 'settlement.endUnsigned', target: settlement_id },
    after: { status: 'failed', transactions: [TRANSACTION] },
  });
});

test('a payment that the chain has, and one while the chain does not answer, are not ended', async () => {
  const { payer, settlement_id } = await undecided();
  signer.found = 'paid';
  expect(await refusal(end(settlement_id))).toMatchObject({
    ...{ code: 'conflict', message: expect.stringContaining(TRANSACTION) },
  });
  signer.answers = false;
  expect(await refusal(end(settlement_id))).toMatchObject({ code: 'service_unavailable' });
  expect(await row(settlement_id)).toMatchObject({ status: 'pending' });
  expect(await held(payer)).toBe(USDC);
});

test('a payment whose bytes were handed out is ended by the chain alone', async () => {
  const payer = consumer();
  const { settlement_id } = await payOut(payer, { attempt: newId('evt'), payTo: newPayee('handed out') });
  expect(await later(list)).not.toContainEqual(expect.objectContaining({ settlement_id }));
  expect(await refusal(end(settlement_id))).toMatchObject({ code: 'conflict' });
  expect(await row(settlement_id)).toMatchObject({ status: 'pending' });
});

test('a payment whose handed-out bytes are lost is listed, and an operator ends it', async () => {
  const payer = consumer();
  const attempt = newId('evt');
  const { settlement_id } = await payOut(payer, { attempt, payTo: newPayee('lost bytes') });
  signer.signed.delete(`${payer.account_id}:${attempt}`);
  expect(await later(list)).not.toContainEqual(expect.objectContaining({ settlement_id }));
  expect(await muchLater(list)).toContainEqual(expect.objectContaining({ settlement_id }));
  signer.found = 'paid';
  signer.candidates = [TRANSACTION];
  expect(await refusal(end(settlement_id))).toMatchObject({ code: 'conflict' });
  Object.assign(signer, { found: 'none', candidates: [] });
  expect(await held(payer)).toBe(USDC);
  expect(await end(settlement_id)).toEqual({ status: 'failed', chain_status: 'failed' });
  expect(await held(payer)).toBe(0n);
});
