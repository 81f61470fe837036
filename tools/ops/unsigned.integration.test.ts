import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../shared/bus/call.ts';
import { newId } from '../../shared/lib/id.ts';
import { payOut, refusal } from '../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  database,
  held,
  operator,
  startFixture,
  stopFixture,
} from '../../test/support/fixtures/settlement/settlement.ts';
import { newPayee, signer } from '../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { consumer } from '../../test/support/fixtures/settlement/settlement-peers.ts';
import type { Operator } from './connect.ts';
import { unsignedCommands } from './unsigned.ts';

/** The commands over a running settlement service. */
beforeAll(startFixture);
afterAll(stopFixture);
afterEach(async () => {
  Object.assign(signer, { found: 'none', candidates: [] });
  await admin.query('delete from restores');
});

const connection = {
  call: (service, operation, input) => call(operator, service, operation, input),
} as Operator;
const options = {
  inspection: null,
  all: false,
  used: false,
  limit: 20,
  seconds: 0,
  account: null,
  period: null,
  since: null,
  logs: '',
  traces: null,
  known: null,
};
const [list, end] = unsignedCommands;
const show = async () => {
  if (!('show' in list!)) throw new TypeError('The list changes nothing.');
  return list.show(connection, [], options);
};
const plan = async (settlementId: string) => {
  if (!('plan' in end!)) throw new TypeError('The end is a change.');
  return end.plan(connection, [settlementId], options);
};

test('the plan names the transactions to compare, and its change ends the payment', async () => {
  const payer = consumer();
  const candidate = '4'.repeat(88);
  await admin.query(`insert into restores (taken_at) values (app_now() - interval '1 hour')`);
  Object.assign(signer, { found: 'undecided', candidates: [candidate] });
  const payment = { attempt: newId('evt'), payTo: newPayee('undecided') };
  const { settlement_id } = (await refusal(payOut(payer, payment))) as { settlement_id: string };

  expect((await show()).text).toBe('None.');
  const { text } = await database.withClock('3 minutes', show);
  for (const part of [settlement_id, payment.attempt, payment.payTo]) expect(text).toContain(part);
  const { table, notes, make } = await plan(settlement_id);
  expect(table![1]).toEqual(expect.arrayContaining([settlement_id, payer.owner, 'failed']));
  expect(notes).toContain(`  ${candidate}`);
  expect(await held(payer)).toBeGreaterThan(0n);
  const done = await make({ reason: 'ticket 1042' });
  expect(done.json).toEqual({ status: 'failed', chain_status: 'failed' });
  expect(await held(payer)).toBe(0n);
});

test('what is no settlement is refused before anything is asked', async () => {
  await expect(plan('q_1')).rejects.toThrow('not a settlement id');
});
