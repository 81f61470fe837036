import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Principal } from '../../../shared/contract/principal.ts';
import { authorize, voidIt } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  callAs,
  paid,
  publishProgress,
  serviceKey,
  startFixture,
  stopFixture,
  underWay,
  untilChainStatus,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';

beforeAll(startFixture);
afterAll(stopFixture);

type Shown = { settlement_id: string; payer_address?: string };

/** The payer that list, get and receipt show. All of them agree. */
const payerOf = async (settlementId: string, principal: Principal = serviceKey) => {
  const { data } = await callAs<{ data: Shown[] }>(principal, 'list', { limit: '100' });
  const listed = data.find(({ settlement_id }) => settlement_id === settlementId)!;
  const one = await callAs<Shown>(principal, 'get', { settlement_id: settlementId });
  const receipt = await callAs<{ claims: Shown }>(principal, 'getReceipt', {
    settlement_id: settlementId,
  }).catch(() => null);
  expect([one.payer_address, receipt?.claims.payer_address]).toEqual([
    listed.payer_address,
    listed.payer_address,
  ]);
  return listed.payer_address;
};

test('a vendor sees who has paid once the receipt exists, as the receipt names it', async () => {
  const [first, second] = [consumer(), consumer()];
  const { settlementId } = await paid(first);
  const other = await paid(second);
  expect(await payerOf(settlementId)).toBe(first.owner);
  expect(await payerOf(other.settlementId)).toBe(second.owner);
  expect(await payerOf(settlementId, first)).toBe(first.owner);
});

test('a vendor does not see who has not paid', async () => {
  const pending = await underWay(consumer());
  expect(await payerOf(pending.settlementId)).toBeUndefined();
  await publishProgress(pending.settlementId, 'failed', {
    failure: { code: 'payment_failed', message: 'no' },
  });
  await untilChainStatus(pending.settlementId, 'failed');
  expect(await payerOf(pending.settlementId)).toBeUndefined();
  const held = await authorize();
  expect(await payerOf(held.id)).toBeUndefined();
  await voidIt(held);
  expect(await payerOf(held.id)).toBeUndefined();
});
