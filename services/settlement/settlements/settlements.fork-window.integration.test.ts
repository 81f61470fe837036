import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  admin,
  callAs,
  deps,
  HASH,
  outcome,
  paid,
  pay,
  publishProgress,
  quote,
  row,
  serviceKey,
  startFixture,
  stopFixture,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { expireSettlements } from '../delivering/expire-settlements.ts';

/**
 * Tests a fork that is longer than the redeem window. The window is extended by the duration of the
 * fork.
 */
beforeAll(startFixture);
afterAll(stopFixture);

/** Moves the clock forward for this settlement only. */
const pass = (settlementId: string, seconds: number) =>
  admin.query(
    `update settlements set issued_at = issued_at - $2 * interval '1 second',
       redeem_expires_at = redeem_expires_at - $2 * interval '1 second',
       expires_from = expires_from - $2 * interval '1 second',
       forked_at = forked_at - $2 * interval '1 second' where settlement_id = $1`,
    [settlementId, seconds],
  );
const tokenOf = ({ settlementId, answer }: Awaited<ReturnType<typeof paid>>) => ({
  settlement_id: settlementId,
  settlement_token: answer.settlement_token,
});

test('rule 14: a window does not elapse while a fork removes the payment, and continues when it is confirmed again', async () => {
  const payer = consumer();
  const q = quote();
  const p = await paid(payer, q, 'outlived');
  const { settlementId } = p;
  await pass(settlementId, 600);
  await publishProgress(settlementId, 'reopened');
  await untilChainStatus(settlementId, 'pending');
  // The window has 15 minutes, of which 5 are left.
  await pass(settlementId, 3600);
  await expireSettlements(deps)();
  expect((await row(settlementId)).status).toBe('issued');
  expect(await outcome(callAs(serviceKey, 'redeem', tokenOf(p)))).toBe('conflict');
  expect(await callAs(serviceKey, 'verify', { settlement_id: settlementId })).toMatchObject({
    status: 'issued',
  });

  await publishProgress(settlementId, 'confirmed', { generation: 2, tx_hash: HASH[1], slot: 140 });
  await untilChainStatus(settlementId, 'confirmed');
  await expireSettlements(deps)();
  expect(await callAs(serviceKey, 'verify', { settlement_id: settlementId })).toMatchObject({
    status: 'issued',
  });
  expect(await callAs(serviceKey, 'list', { status: 'issued' })).toMatchObject({
    data: expect.arrayContaining([expect.objectContaining({ settlement_id: settlementId })]),
  });
  expect(await callAs(serviceKey, 'redeem', tokenOf(p))).toMatchObject({
    status: 'redeemed',
    replayed: false,
  });
});

test('the five minutes that were left elapse after the fork, and the answer of settle stays the same', async () => {
  const payer = consumer();
  const q = quote();
  const p = await paid(payer, q, 'lapsed');
  const { settlementId } = p;
  await pass(settlementId, 600);
  await publishProgress(settlementId, 'reopened');
  await untilChainStatus(settlementId, 'pending');
  await pass(settlementId, 3600);
  const before = await pay(payer, q, 'lapsed');
  await publishProgress(settlementId, 'confirmed', { generation: 2, tx_hash: HASH[1], slot: 140 });
  await untilChainStatus(settlementId, 'confirmed');
  // Only the hashes in the answer change, as after each fork.
  const changed = { tx_hash: HASH[1], superseded_tx_hashes: [HASH[0]] };
  expect(await pay(payer, q, 'lapsed')).toEqual({ ...before, ...changed });
  await pass(settlementId, 240);
  await expireSettlements(deps)();
  expect((await row(settlementId)).status).toBe('issued');
  await pass(settlementId, 70);
  expect(await outcome(callAs(serviceKey, 'redeem', tokenOf(p)))).toBe('settlement_expired');
  await expireSettlements(deps)();
  expect((await row(settlementId)).status).toBe('expired');
});

test('units of a prepaid settlement can be consumed after a fork that was longer than the window', async () => {
  const p = await paid(consumer(), quote(1_000_000n, { scope: { units: 5 } }));
  await publishProgress(p.settlementId, 'reopened');
  await untilChainStatus(p.settlementId, 'pending');
  await pass(p.settlementId, 3600);
  await publishProgress(p.settlementId, 'confirmed', { generation: 2, tx_hash: HASH[1], slot: 140 });
  await untilChainStatus(p.settlementId, 'confirmed');
  await expireSettlements(deps)();
  expect(await callAs(serviceKey, 'consume', { ...tokenOf(p), units: 1, request_id: 'r' })).toMatchObject({
    units_remaining: 4,
  });
});
