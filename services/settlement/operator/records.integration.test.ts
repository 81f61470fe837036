import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { settlement } from '../../../shared/contract/index.ts';
import { newId } from '../../../shared/lib/id.ts';
import { authorize, extensionOf } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  base,
  delegateOf,
  funding,
  operator,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  row,
  startFixture,
  stopFixture,
  underWay,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';

const inspection = { ticket: 'ticket 7', inspection_id: crypto.randomUUID() };

/** Tests what an operator gets about a payment by findRecords. */
beforeAll(startFixture);
afterAll(stopFixture);

type Attempt = { account_id: string; payment_attempt_id: string };
const find = (ids: string[], attempts: Attempt[] = []) =>
  call(operator, settlement, 'findRecords', { ids, attempts, inspection });
const detailsOf = ({ entries }: Awaited<ReturnType<typeof find>>, what: string) =>
  entries.find((entry) => entry.what === what)?.details;

test('a payment is found by its settlement, quote and attempt, with what it holds, until it ends', async () => {
  const payer = consumer();
  const { settlementId, answer } = await underWay(payer);
  const open = await find([settlementId]);
  expect(detailsOf(open, 'recorded state')).toMatchObject({ status: 'pending', holds: '1000000' });
  const { quote_id, payment_attempt_id } = (
    await admin.query('select quote_id, payment_attempt_id from settlements where settlement_id = $1', [
      settlementId,
    ])
  ).rows[0] as { quote_id: string; payment_attempt_id: string };
  const attempt = { account_id: payer.account_id, payment_attempt_id };
  expect(open.related).toEqual({ ids: [settlementId, quote_id], attempts: [attempt] });
  expect((await find([quote_id])).related).toEqual(open.related);
  expect((await find([], [attempt])).related).toEqual(open.related);
  expect((await find([], [{ ...attempt, account_id: newId('acct') }])).entries).toEqual([]);

  await publishProgress(settlementId, 'confirmed');
  await answer;
  await publishProgress(settlementId, 'reopened');
  await until(
    () => find([settlementId]),
    (found) => found.entries.some(({ what }) => what.startsWith('transaction removed by a fork')),
  );
  await publishProgress(settlementId, 'failed', {
    failure: { code: 'payment_failed', message: 'the deadline has passed' },
  });
  const ended = await until(
    () => find([settlementId]),
    (found) => detailsOf(found, 'recorded state')?.chain_status === 'failed',
  );
  const state = detailsOf(ended, 'recorded state');
  expect(state).toMatchObject({ failure: 'payment_failed: the deadline has passed' });
  expect(state).not.toHaveProperty('holds');
  expect(JSON.stringify(ended)).not.toContain((await row(settlementId)).quote_token);
});

test('an extension leads to its authorization, and the authorization to its extensions', async () => {
  const one = await authorize();
  const q = extensionOf(one, 300_000n);
  const { extension_id } = (await pay(one.payer, q, newId('evt'))) as unknown as { extension_id: string };
  const byExtension = await find([extension_id]);
  expect(byExtension.related.ids).toContain(one.id);
  expect(detailsOf(byExtension, 'authorization extended')).toMatchObject({ amount: '300000', extension_id });
  expect((await find([q.quote_id])).related.ids).toContain(one.id);
  expect((await find([one.id])).related.ids).toEqual(
    expect.arrayContaining([one.id, extension_id, q.quote_id]),
  );
});

test('a payment that waits for its approval has no settlement, and is found by the approval', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, {}, null, { approval_above: '1' });
  const q = quote();
  const attempt = { account_id: payer.account_id, payment_attempt_id: newId('evt') };
  expect(await outcome(pay(delegate, q, attempt.payment_attempt_id))).toBe('approval_required');
  const found = await find([], [attempt]);
  expect(found.entries.map(({ what }) => what)).toEqual(['approval requested', 'approval expires']);
  const approvalId = found.entries[0]!.object_id;
  expect((await find([approvalId])).related).toEqual({ ids: [approvalId, q.quote_id], attempts: [attempt] });
});

test('a payment that was only declined is found by its decline, its quote and its attempt', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, { per_payment: 1n });
  const q = quote();
  const attempt = { account_id: payer.account_id, payment_attempt_id: newId('evt') };
  expect(await outcome(pay(delegate, q, attempt.payment_attempt_id))).toBe('limit_exceeded');
  const found = await until(
    () => find([q.quote_id]),
    ({ entries }) => entries.length > 0,
  );
  const expected = { quote_id: q.quote_id, reason: 'per_payment', limit: '1', left: '1' };
  expect(detailsOf(found, 'payment declined')).toMatchObject(expected);
  const declineId = found.entries[0]!.object_id;
  expect(found.related).toEqual({ ids: [declineId, q.quote_id], attempts: [attempt] });
  expect(await find([declineId])).toEqual(found);
  expect(await find([], [attempt])).toEqual(found);
});

test('a refund is found by its id, and its reservation is shown with the payment', async () => {
  const settled = await paid(consumer());
  const refund_id = newId('ref');
  await call(funding, settlement, 'reserveRefund', {
    refund_id,
    settlement_id: settled.settlementId,
    account_id: vendor.account_id,
    service_id: null,
    amount: '1000',
  });
  const found = await find([refund_id]);
  expect(found.related.ids).toContain(settled.settlementId);
  expect(detailsOf(found, 'amount reserved for a refund')).toEqual({ amount: '1000' });
  expect(detailsOf(found, 'recorded state')).toMatchObject({ refund_reserved: '1000' });
});

test('a message that waits in quarantine or in the outbox is shown with the payment that it names', async () => {
  const id = newId('stl');
  const other = newId('stl');
  const body = Buffer.from(JSON.stringify({ object_id: id, status: 'odd' }));
  await base.quarantine({ subject: 'evt.chain-submitter.settleProgressed', body, reason: 'not parsed' });
  await admin.query(
    `insert into outbox (subject, msg_id, payload, created_at, next_at)
     values ('evt.settlement.issued', $1, $2, public.app_now() - interval '1 minute', public.app_now() + interval '1 hour')`,
    [newId('evt'), JSON.stringify({ settlement_id: id })],
  );
  const found = await find([id]);
  expect(found.entries.map(({ what, details }) => [what, details.subject])).toEqual([
    ['message waits in the outbox', 'evt.settlement.issued'],
    ['message waits in quarantine', 'evt.chain-submitter.settleProgressed'],
  ]);
  expect((await find([other])).entries).toEqual([]);
});

test('an account has its payments and declines, its vendor the sales, and since when and how many is the question', async () => {
  const payer = consumer();
  const delegate = await delegateOf(payer, { per_payment: 1n });
  const list = (account_id: string, since: string | null = null, limit = 100) =>
    call(operator, settlement, 'listAccountRecords', { account_id, since, limit, inspection });
  const idsOf = (entries: Awaited<ReturnType<typeof list>>) => [
    ...new Set(entries.map(({ object_id }) => object_id)),
  ];
  const first = await paid(payer);
  const second = await paid(payer);
  expect(await outcome(pay(delegate, quote(), newId('evt')))).toBe('limit_exceeded');
  const all = await until(
    () => list(payer.account_id),
    (entries) => entries.some(({ what }) => what === 'payment declined'),
  );
  const declineId = all.find(({ what }) => what === 'payment declined')!.object_id;
  expect(new Set(idsOf(all))).toEqual(new Set([first.settlementId, second.settlementId, declineId]));
  expect(idsOf(await list(payer.account_id, null, 1)).sort()).toEqual(
    [declineId, second.settlementId].sort(),
  );
  const later = new Date(Date.now() + 3_600_000).toISOString();
  expect(await list(payer.account_id, later)).toEqual([]);
  expect(idsOf(await list(vendor.account_id))).toEqual(
    expect.arrayContaining([second.settlementId, declineId]),
  );
  expect(await list(newId('acct'))).toEqual([]);
});

test('a look at a payment needs a ticket, and is one at its payer and at its vendor, once for each command', async () => {
  const payer = consumer();
  const { settlementId } = await paid(payer);
  const refused = call(operator, settlement, 'findRecords', { ids: [settlementId], attempts: [] });
  expect(await outcome(refused)).toBe('validation_error');
  const inspectionsOf = (target: string) =>
    call(operator, settlement, 'listOperatorActions', { limit: 200, target });
  expect(await inspectionsOf(payer.account_id)).toEqual([]);
  const [before] = await inspectionsOf(vendor.account_id);

  const own = { ticket: 'ticket 9', inspection_id: crypto.randomUUID() };
  for (const ids of [[settlementId], [newId('stl')], [settlementId]])
    await call(operator, settlement, 'findRecords', { ids, attempts: [], inspection: own });
  const seen = [{ action: 'account.inspect', reason: 'ticket 9', after: { what: 'records of an object' } }];
  expect(await inspectionsOf(payer.account_id)).toMatchObject(seen);
  const [newest] = await inspectionsOf(vendor.account_id);
  expect(newest).toMatchObject(seen[0]!);
  expect(newest!.action_id).not.toBe(before?.action_id);
  expect(await call(operator, settlement, 'verifyOperatorActions', { known: null })).toMatchObject({
    broken_at: null,
  });
});

test('a payment that expired without a redeem has a time and a state of then', async () => {
  const { settlementId } = await paid(consumer());
  await admin.query(
    `update settlements set status = 'expired', expires_from = null,
       redeem_expires_at = progressed_at + interval '15 minutes'
     where settlement_id = $1`,
    [settlementId],
  );
  const { entries } = await find([settlementId]);
  const timeOf = (what: string) => entries.find((each) => each.what === what)?.at;
  expect(timeOf('recorded state')).toBe(timeOf('settlement expired'));
  expect(timeOf('settlement expired')! > timeOf('settlement issued')!).toBe(true);
});
