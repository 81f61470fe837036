import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import {
  ANY_PAYEE,
  payOut,
  refusal,
  USDC,
} from '../../../test/support/fixtures/settlement/outgoing-calls.ts';
import {
  admin,
  database,
  delegateOf,
  deps,
  held,
  row,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { newPayee, signer } from '../../../test/support/fixtures/settlement/settlement-outgoing.ts';
import { chainCondition, consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { resumeOutgoing } from './resume-outgoing.ts';

beforeAll(startFixture);
afterAll(stopFixture);
afterEach(async () => {
  Object.assign(signer, { answers: true, found: 'none' });
  chainCondition.readable = true;
  await admin.query('delete from restores');
});

/** A backup of an hour ago was restored now. */
const restore = () => admin.query(`insert into restores (taken_at) values (app_now() - interval '1 hour')`);
const unknown = {
  code: 'service_unavailable',
  money_moved: 'unknown',
  safe_action: 'retry_same_attempt',
};

test.each(['paid', 'undecided'] as const)(
  'after a restore an attempt that the chain calls %s is not denied by a limit',
  async (found) => {
    const payer = consumer();
    const delegate = await delegateOf(payer, { total: 1n }, null, ANY_PAYEE);
    const call = { attempt: newId('evt') };
    await restore();
    signer.found = found;
    expect(await refusal(payOut(delegate, call))).toMatchObject(unknown);
    signer.found = 'none';
    expect(await refusal(payOut(delegate, call))).toMatchObject({
      code: 'limit_exceeded',
      money_moved: 'no',
    });
    signer.answers = false;
    expect(await refusal(payOut(delegate, call))).toMatchObject(unknown);
  },
);

test('after a restore an unreadable chain proves of no attempt that it moved nothing', async () => {
  const payer = consumer();
  const call = { attempt: newId('evt') };
  chainCondition.readable = false;
  expect(await refusal(payOut(payer, call))).toMatchObject({ ...unknown, money_moved: 'no' });
  await restore();
  expect(await refusal(payOut(payer, call))).toMatchObject(unknown);
});

test('without a restore a refusal does not ask the chain', async () => {
  const delegate = await delegateOf(consumer(), { total: 1n }, null, ANY_PAYEE);
  signer.found = 'paid';
  expect(await refusal(payOut(delegate))).toMatchObject({ code: 'limit_exceeded', money_moved: 'no' });
});

test('an attempt that may be paid holds its amount and is neither signed nor closed without the chain', async () => {
  const payer = consumer();
  const call = { attempt: newId('evt'), payTo: newPayee('may be paid') };
  await restore();
  signer.found = 'undecided';
  const refused = (await refusal(payOut(payer, call))) as { settlement_id: string };
  expect(refused).toMatchObject(unknown);
  const { settlement_id } = refused;
  expect(await row(settlement_id)).toMatchObject({ status: 'pending' });
  expect(await held(payer)).toBe(USDC);
  const asked: unknown[] = [];
  await database.shiftClock('1 minute');
  await resumeOutgoing({
    ...deps,
    applyProgress: async () => {},
    closeOutgoing: async (payment) => {
      asked.push(payment);
      throw new Error('undecided');
    },
  })();
  await database.shiftClock('0');
  const lost = { since: expect.any(String), until: expect.any(String), owners: [payer.owner] };
  expect(asked).toMatchObject([
    {
      settlement_id,
      lost: { ...lost, owner: payer.owner, pay_to: call.payTo, amount: `${USDC}`, memo: null },
    },
  ]);
  // The chain has shown that it was not paid.
  signer.found = 'none';
  expect(await payOut(payer, call)).toMatchObject({ settlement_id, status: 'pending' });
});

test('while chain-submitter does not answer after a restore, a first call may be the repeat of a lost one', async () => {
  await restore();
  signer.answers = false;
  expect(await refusal(payOut(consumer()))).toMatchObject(unknown);
});
