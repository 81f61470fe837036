import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SubmitterFixture, startSubmitterFixture } from '../../test/support/submitter.ts';
import { referenceOf } from './reference.ts';

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
}, 60_000);
afterAll(() => fixture.stop());

test('rule 13: the first settle creates the vendor’s account, the next has two instructions; rule 12: found by its reference', async () => {
  const { outside, facts, keys } = fixture;
  const payer = await fixture.payer(10_000_000n);
  const feeBefore = await outside.balance(keys.feeWallet.address);
  const first = fixture.quote({ amount: 2_500_000n, fee: 12_500n });
  const job = await fixture.settle(payer, first);
  const confirmed = await facts.wait(job.settlement_id, 'confirmed');
  expect(await outside.instructions(confirmed.tx_hash!)).toEqual([
    'spl-associated-token-account:createIdempotent',
    'spl-token:transferChecked',
    'spl-token:transferChecked',
  ]);
  const feeAfter = await outside.balance(keys.feeWallet.address);
  expect([
    await outside.balance(first.payout),
    feeAfter - feeBefore,
    await outside.balance(payer.owner.publicKey),
  ]).toEqual([2_487_500n, 12_500n, 7_500_000n]);
  const under = await fixture.chain.call<{ signature: string }[]>(
    'getSignaturesForAddress',
    referenceOf('test', first.quote_id),
    { commitment: 'confirmed' },
  );
  expect(under.map(({ signature }) => signature)).toEqual([confirmed.tx_hash]);

  const second = await fixture.settle(payer, fixture.quote({ payout: first.payout }));
  const next = await facts.wait(second.settlement_id, 'confirmed');
  expect(await outside.instructions(next.tx_hash!)).toEqual([
    'spl-token:transferChecked',
    'spl-token:transferChecked',
  ]);
  await facts.wait(job.settlement_id, 'finalized');
  expect(facts.of(job.settlement_id).map(({ status }) => status)).toEqual([
    'signed',
    'confirmed',
    'finalized',
  ]);
});
