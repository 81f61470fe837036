import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  authorize,
  CEILING,
  capture,
  record,
  use,
  voidIt,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  deps,
  held,
  outcome,
  publishProgress,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { lostCaptures } from '../../../test/support/fixtures/settlement/settlement-peers.ts';

/** A restore has lost captures. The rows of their authorizations are as before them. */
beforeAll(startFixture);
afterAll(stopFixture);

const CAPTURED = '120000';
const dueNow = (...ids: string[]) =>
  admin.query('update authorizations set due_at = app_now() where settlement_id = any($1)', [ids]);
const restore = () => admin.query('insert into restores (taken_at) values (app_now())');
const jobsOf = async (id: string): Promise<string[]> => {
  const { rows } = await admin.query<{ amount: string }>(
    `select payload ->> 'capture_amount' as amount from outbox where payload ->> 'settlement_id' = $1
       and payload ? 'capture_amount'`,
    [id],
  );
  return rows.map(({ amount }) => amount);
};
/** An authorization whose capture is lost. @param found what the chain has */
const afterRestore = async (found: string | null | 'none', used: string | null = null) => {
  const one = await authorize();
  if (used !== null) await use(one, { usage_id: 'a', amount: used });
  if (found !== 'none') lostCaptures.set(one.q.quote_token, found);
  await restore();
  return one;
};
const amountOf = async (id: string) => {
  const { status, amount } = await record(id);
  return [status, amount];
};

beforeEach(() => admin.query('delete from restores'));
afterEach(() => lostCaptures.clear());

test.each([
  ['none is left of the record', null],
  ['less is left of the record', '60000'],
  ['more was used since then', '300000'],
])(
  'rule 21: a capture that the chain has is recorded once and not voided, if of its use %s',
  async (_, used) => {
    const { id, payer, token } = await afterRestore(CAPTURED, used);
    await dueNow(id);
    await Promise.all([deps.endDue(), deps.endDue(), deps.endDue()]);
    expect(await amountOf(id)).toEqual(['capturing', CAPTURED]);
    expect(await held(payer)).toBe(BigInt(CAPTURED));
    expect(await outcome(use({ id, token }, { usage_id: 'late', amount: '1' }))).toBe('authorization_closed');
    await publishProgress(id, 'confirmed');
    expect(await capture({ id })).toMatchObject({ status: 'confirmed', captured_amount: CAPTURED });
    await deps.endDue();
    expect(await held(payer)).toBe(0n);
  },
);

test('rule 21: without an answer of the chain the authorization stays, and its payer keeps its hold', async () => {
  const { id, payer, q } = await afterRestore(null);
  await dueNow(id);
  await deps.endDue();
  expect(await amountOf(id)).toEqual(['authorized', String(CEILING)]);
  const refusal = { code: 'service_unavailable', extras: { money_moved: 'unknown', settlement_id: id } };
  await expect(voidIt({ id })).rejects.toMatchObject(refusal);
  await expect(capture({ id })).rejects.toMatchObject(refusal);
  expect(await held(payer)).toBe(CEILING);
  lostCaptures.set(q.quote_token, CAPTURED);
  await deps.endDue();
  expect(await amountOf(id)).toEqual(['capturing', CAPTURED]);
});

test('rule 22: one that was proven not to be captured ends as any other', async () => {
  const [unused, used] = [await afterRestore('none'), await afterRestore('none', '50000')];
  await dueNow(unused.id, used.id);
  await deps.endDue();
  expect((await amountOf(unused.id))[0]).toBe('voided');
  expect(await amountOf(used.id)).toEqual(['capturing', '50000']);
  expect(await held(unused.payer)).toBe(0n);
});

test('a vendor captures what was captured, not another amount, and cannot void it', async () => {
  const [one, other, voided] = [
    await afterRestore(CAPTURED, '60000'),
    await afterRestore(CAPTURED),
    await afterRestore(CAPTURED),
  ];
  const confirmedLater = capture(one);
  const { id, token } = other;
  expect(await outcome(capture(other, { amount: '200000', settlement_token: token }))).toBe('conflict');
  expect(await outcome(voidIt(voided))).toBe('conflict');
  for (const each of [id, voided.id]) expect(await amountOf(each)).toEqual(['capturing', CAPTURED]);
  await publishProgress(one.id, 'confirmed');
  expect(await confirmedLater).toMatchObject({ captured_amount: CAPTURED });
});

test('the chain is not asked about an authorization that is newer than the restore', async () => {
  await restore();
  const one = await authorize();
  lostCaptures.set(one.q.quote_token, CAPTURED);
  await dueNow(one.id);
  await deps.endDue();
  expect((await amountOf(one.id))[0]).toBe('voided');
  expect(await jobsOf(one.id)).toEqual([]);
});

test('those that wait for the chain keep no other authorization waiting', async () => {
  const waiting = await Promise.all(Array.from({ length: 201 }, () => authorize()));
  for (const { q } of waiting) lostCaptures.set(q.quote_token, null);
  await restore();
  await admin.query(
    "update restores set restored_at = app_now() - interval '1 minute', taken_at = app_now() - interval '1 hour'",
  );
  for (const table of ['settlements', 'authorizations'])
    await admin.query(
      `update ${table} set created_at = created_at - interval '2 minutes' where settlement_id = any($1)`,
      [waiting.map(({ id }) => id)],
    );
  await dueNow(...waiting.map(({ id }) => id));
  const other = await authorize();
  await dueNow(other.id);
  await deps.endDue();
  expect(await record(other.id)).toMatchObject({ status: 'voided' });
  expect(await record(waiting[0]!.id)).toMatchObject({ status: 'authorized' });
});

test('after a restore nothing is used before the chain was asked, and a capture that it has is recorded', async () => {
  const [open, captured, unanswered] = [
    await afterRestore('none', '50000'),
    await afterRestore(CAPTURED, '50000'),
    await afterRestore(null, '50000'),
  ];
  const all = [open, captured, unanswered];
  const lateUse = (one: (typeof all)[number]) => outcome(use(one, { usage_id: 'late', amount: '1' }));
  for (const one of all) expect(await lateUse(one)).toBe('authorization_closed');
  await deps.endDue();
  expect(await lateUse(open)).toBe('ok');
  expect(await amountOf(captured.id)).toEqual(['capturing', CAPTURED]);
  expect(await lateUse(unanswered)).toBe('authorization_closed');
  lostCaptures.delete(unanswered.q.quote_token);
  await deps.endDue();
  expect(await lateUse(unanswered)).toBe('ok');
  // Another restore may have lost a capture, too.
  await restore();
  expect(await outcome(use(open, { usage_id: 'later', amount: '1' }))).toBe('authorization_closed');
});

test('a payment of an authorization that is void is quarantined and changes nothing', async () => {
  const one = await authorize();
  await voidIt(one);
  const quarantined = async () =>
    (await admin.query<{ reason: string }>('select reason from quarantine order by quarantine_id')).rows;
  await publishProgress(one.id, 'finalized');
  await waitUntil(async () => (await quarantined()).length === 1);
  expect((await quarantined())[0]!.reason).toMatch(/voided.*finalized/);
  expect(await record(one.id)).toMatchObject({ status: 'voided' });
  await admin.query('delete from quarantine');
});
