import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import {
  incomingPaymentsOver,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** The hourly caps of payments of other clients, beside those of payments of quotes. */
const USDC = 1_000_000n;
const CAP = 10n * USDC;
/** What one vendor account may receive. */
const SHARE = CAP / 10n;
let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start({
    ENVIRONMENT_HOURLY_CAP_MICRO: `${CAP}`,
    INCOMING_HOURLY_CAP_MICRO: `${CAP}`,
    WALLET_HOURLY_CAP_MICRO: `${CAP / 2n}`,
  });
});
beforeEach(async () => {
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { signed, submit, withDroppedSends } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
/** A payment of the buyer's whole balance to the vendor. The fault needs buyers made before it. */
const buy = async (buyer: Payer, micro: bigint, settlementId: string = newId('stl')): Promise<string> => {
  const payment = await signed(buyer, { legs: [{ owner: vendor.owner.publicKey, amount: micro }] });
  return reasonOf(await submit(payment, settlementId));
};
const payers = (count: number, micro: bigint) =>
  Promise.all(Array.from({ length: count }, () => fixture.payer(micro)));

test('a vendor has a tenth of the cap, and a proven failure gives its amount back', async () => {
  const settlementId = newId('stl');
  const [first, second, third] = (await payers(3, SHARE)) as [Payer, Payer, Payer];
  await withDroppedSends(async () => {
    expect(await buy(first, SHARE, settlementId)).toBe('submitted');
    expect(await buy(second, 1n)).toBe('budget_exhausted');
    await fixture.chain.call('chain_advance', 220);
    await fixture.events.wait(settlementId, 'failed');
  });
  expect(await buy(third, SHARE)).toBe('submitted');
  expect(await buy(second, 1n)).toBe('budget_exhausted');
});

test('payments of other clients that use up their cap delay no payment of a quote', async () => {
  const [vendors, buyers] = await Promise.all([payers(12, 1n), payers(12, SHARE)]);
  const payer = await fixture.payer(SHARE);
  await withDroppedSends(async () => {
    const answers: string[] = [];
    for (const [index, buyer] of buyers.entries()) {
      vendor = vendors[index]!;
      answers.push(await buy(buyer, SHARE));
    }
    // The test before has used one part.
    expect(answers.filter((answer) => answer === 'submitted')).toHaveLength(9);
    expect(answers.at(-1)).toBe('budget_exhausted');
    const job = await fixture.settle(payer, fixture.quote({ amount: SHARE }));
    await fixture.events.wait(job.settlement_id, 'signed');
  });
});
