import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { captureTerms } from '../../../test/support/settlement-quotes.ts';
import { type SubmitterFixture, startSubmitterFixture } from '../../../test/support/submitter.ts';

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
}, 60_000);
afterAll(() => fixture.stop());

/** A quote whose ceiling is 500,000 micro-units. */
const ceiling = (expiresInMs?: number) =>
  fixture.quote({
    amount: 500_000n,
    capture: captureTerms(),
    ...(expiresInMs !== undefined && { expiresInMs }),
  });

test('rule 21: a capture pays the named part with the fee of the signed rule, once per attempt', async () => {
  const { outside, events, keys } = fixture;
  const payer = await fixture.payer(10_000_000n);
  const feeBefore = await outside.balance(keys.feeWallet.address);
  const q = ceiling();
  const job = await fixture.settle(payer, q, { capture_amount: '120000' });
  await events.wait(job.settlement_id, 'confirmed');
  const balances = async () => [
    await outside.balance(q.payout),
    (await outside.balance(keys.feeWallet.address)) - feeBefore,
    await outside.balance(payer.owner.publicKey),
  ];
  expect(await balances()).toEqual([110_000n, 10_000n, 9_880_000n]);
  const { payment_attempt_id, settlement_id } = job;
  await fixture.settle(payer, q, { payment_attempt_id, settlement_id, capture_amount: '500000' });
  await events.wait(job.settlement_id, 'finalized');
  expect(await balances()).toEqual([110_000n, 10_000n, 9_880_000n]);
});

test('rule 21: a capture is signed after the expiry of its quote, within its window', async () => {
  const payer = await fixture.payer(10_000_000n);
  const job = await fixture.settle(payer, ceiling(-600_000), { capture_amount: '500000' });
  await fixture.events.wait(job.settlement_id, 'confirmed');
});

test.each<[string, string | undefined, string]>([
  ['beyond the ceiling', '500001', 'the capture exceeds the ceiling of the quote'],
  ['of its fee', '10000', 'the fee leaves the vendor nothing'],
  ['without an amount', undefined, 'the quote is a ceiling, and no capture is named'],
])('rule 7: the signer refuses a capture %s', async (_name, amount, message) => {
  const payer = await fixture.payer(10_000_000n);
  const job = await fixture.settle(payer, ceiling(), {
    ...(amount !== undefined && { capture_amount: amount }),
  });
  const failed = await fixture.events.wait(job.settlement_id, 'failed');
  expect(failed.failure).toEqual({ code: 'payment_failed', message });
});

test('rule 7: the signer pays no part of a quote that has no ceiling', async () => {
  const payer = await fixture.payer(10_000_000n);
  const job = await fixture.settle(payer, fixture.quote(), {
    settlement_id: newId('stl'),
    capture_amount: '400000',
  });
  const failed = await fixture.events.wait(job.settlement_id, 'failed');
  expect(failed.failure?.message).toBe('the quote has no ceiling, so no part of it is paid');
});
