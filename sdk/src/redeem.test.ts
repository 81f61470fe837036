import { afterEach, expect, test } from '@jest/globals';
import { type Asked, type Scripted, startScripted } from '../../test/support/stand-ins/scripted-server.ts';
import { AlreadyRedeemedError, createClient } from './main.ts';

/** An API that redeems each settlement once. */
let running: Awaited<ReturnType<typeof startScripted>> | undefined;
afterEach(() => running?.stop());

const IDS = { settlement_id: 'stl_1', settlement_token: 'a.b' };
const AT = '2026-11-21T10:00:00.000Z';

const vendorOf = async (fault: (asked: Asked, n: number) => Scripted | null = () => null) => {
  let redeemed: { redeem_id: string | null } | null = null;
  running = await startScripted((asked, n) => {
    const replayed = redeemed !== null;
    redeemed ??= { redeem_id: (asked.body!.redeem_id as string | undefined) ?? null };
    const body = { settlement_id: 'stl_1', status: 'redeemed', redeemed_at: AT, ...redeemed, replayed };
    return fault(asked, n) ?? { status: 200, body };
  });
  const client = createClient({ baseUrl: running.baseUrl, credential: 'vendor_test_key' });
  return { settlement: client.settlement, asked: running.asked };
};
const idsOf = (asked: readonly Asked[]) => asked.map(({ body }) => body!.redeem_id);

test('of two calls for a settlement one returns, and the other throws without a delivery', async () => {
  const { settlement, asked } = await vendorOf();
  const outcomes = await Promise.allSettled([settlement.redeemOnce(IDS), settlement.redeemOnce(IDS)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const { reason } = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
  expect(reason).toBeInstanceOf(AlreadyRedeemedError);
  expect(reason).toMatchObject({ name: 'AlreadyRedeemedError', settlementId: 'stl_1', redeemedAt: AT });
  expect(idsOf(asked)).toContain(reason.redeemId);
  expect(new Set(idsOf(asked)).size).toBe(2);
});

test('a lost answer is repeated with the same id, and the call returns', async () => {
  const { settlement, asked } = await vendorOf((_, n) => (n === 0 ? 'lost' : null));
  expect(await settlement.redeemOnce(IDS)).toMatchObject({ status: 'redeemed', replayed: true });
  expect(new Set(idsOf(asked)).size).toBe(1);
});

test('an id of the vendor returns again, and another one throws, also after a redeem without an id', async () => {
  const { settlement } = await vendorOf();
  await settlement.redeemOnce({ ...IDS, redeem_id: 'order-1' });
  expect(await settlement.redeemOnce({ ...IDS, redeem_id: 'order-1' })).toMatchObject({ replayed: true });
  await expect(settlement.redeemOnce({ ...IDS, redeem_id: 'order-2' })).rejects.toThrow(AlreadyRedeemedError);
  await running!.stop();
  const other = await vendorOf();
  await other.settlement.redeem(IDS);
  await expect(other.settlement.redeemOnce(IDS)).rejects.toMatchObject({ redeemId: null });
});
