import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** Settles on a chain whose blocks take only what offers enough for compute. */
let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  // What is offered depends on recent blocks, so blocks come also while nothing is paid.
  await fixture.chain.call('chain_clock', { onDemand: false });
});
afterEach(async () => {
  await fixture.chain.call('chain_fees', 0);
  await fixture.chain.call('chain_fault');
});
afterAll(() => fixture.stop());

const FLOOR = 40_000;
const isPaid = async (quote: { payout: { toBase58: () => string } }) =>
  (await fixture.outside.balance(quote.payout as never)) > 0n;

/** What a transaction paid, lamports. Two signatures cost 10,000. */
const feeOf = async (signature: string): Promise<number> =>
  (
    await fixture.chain.call<{ meta: { fee: number } }>('getTransaction', signature, {
      commitment: 'confirmed',
    })
  ).meta.fee;

/** Blocks take no less than the floor from now on. The recent fees of 150 blocks show it. */
const raiseFees = async (floor: number): Promise<void> => {
  await fixture.chain.call('chain_fees', floor);
  await fixture.chain.call('chain_advance', 150);
};

test('COMPUTE_BUDGET=auto offers what recent blocks took, and is included', async () => {
  const service = await fixture.start({ COMPUTE_BUDGET: 'auto' });
  const quiet = await fixture.settle(await fixture.payer(10_000_000n), fixture.quote());
  const cheap = await fixture.events.wait(quiet.settlement_id, 'confirmed');
  expect(await feeOf(cheap.tx_hash!)).toBe(10_000);

  await fixture.payer(10_000_000n);
  const payer = await fixture.payer(10_000_000n);
  await raiseFees(FLOOR);
  const paid = await fixture.settle(payer, fixture.quote());
  const dear = await fixture.events.wait(paid.settlement_id, 'confirmed');
  expect(await feeOf(dear.tx_hash!)).toBe(10_000 + (80_000 * FLOOR) / 1_000_000);
  await service.stop();
});

test('the cap holds: a payment waits while blocks take more, and is paid when they take less', async () => {
  const service = await fixture.start({ COMPUTE_BUDGET: 'auto:80000:30000' });
  const payer = await fixture.payer(10_000_000n);
  await raiseFees(FLOOR);
  const quote = fixture.quote();
  const { settlement_id } = await fixture.settle(payer, quote);
  await staysFor(
    1500,
    () => isPaid(quote),
    (paid) => !paid,
  );
  await fixture.chain.call('chain_fees', 0);
  const paid = await fixture.events.wait(settlement_id, 'confirmed');
  expect(await feeOf(paid.tx_hash!)).toBe(10_000 + (80_000 * 30_000) / 1_000_000);
  await service.stop();
});

test('without an answer about recent fees, the highest configured price is offered', async () => {
  const service = await fixture.start({ COMPUTE_BUDGET: 'auto:80000:50000' });
  const payer = await fixture.payer(10_000_000n);
  await fixture.chain.call('chain_fault', { method: 'getRecentPrioritizationFees', kind: 'drop' });
  const { settlement_id } = await fixture.settle(payer, fixture.quote());
  const paid = await fixture.events.wait(settlement_id, 'confirmed');
  expect(await feeOf(paid.tx_hash!)).toBe(14_000);
  await service.stop();
});
