import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** Of a vendor's part: ten settles, each with its refund. */
const SHARE = 200_000n;

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start({ SETTLE_FEES_LAMPORTS_PER_DAY: String(10n * SHARE) });
});
afterAll(() => fixture.stop());

const reserved = async (scope: string): Promise<bigint> => {
  const { rows } = await fixture.admin.query<{ reserved: string }>(
    "select reserved from spending where scope = $1 and period = date_trunc('day', public.app_now(), 'UTC')",
    [scope],
  );
  return BigInt(rows[0]?.reserved ?? 0);
};

test('what a vendor has paid for does not count in its tenth, and what earned nothing does', async () => {
  const payout = (await fixture.payer(0n)).owner.publicKey;
  const pay = async (vendor: string, status: 'confirmed' | 'finalized', more = {}) => {
    const payer = await fixture.payer(5_000_000n);
    const job = await fixture.settle(payer, fixture.quote({ payout, vendor, ...more }));
    await fixture.events.wait(job.settlement_id, status);
  };
  const used = (vendor: string) => reserved(`fees_settle/vendor/${vendor}`);
  const vendor = newId('acct');
  for (let paid = 0; paid < 12; paid += 1) await pay(vendor, 'finalized');
  await until(
    () => used(vendor),
    (lamports) => lamports === 0n,
  );
  // The environment's budget counts every signature.
  expect(await reserved('fees_settle')).toBeGreaterThanOrEqual(12n * 20_000n);

  // At 200 USDC for a SOL a fee of 0.001 USDC is worth 5,000 of the 20,000 lamports.
  const cheap = newId('acct');
  await pay(cheap, 'finalized', { fee: 1000n });
  await until(
    () => used(cheap),
    (lamports) => lamports === 15_000n,
  );
  const free = newId('acct');
  for (let paid = 0; paid < 10; paid += 1) await pay(free, 'finalized', { fee: 0n });
  expect(await used(free)).toBe(SHARE);
  const waiting = await fixture.settle(
    await fixture.payer(5_000_000n),
    fixture.quote({ payout, vendor: free }),
  );
  await staysFor(
    1500,
    () => fixture.events.of(waiting.settlement_id).length,
    (events) => events === 0,
  );
  const promise = call(await fixture.quoteBus(), chainSubmitter, 'reserveTokenAccount', {
    account_id: free,
    owner: payout.toBase58(),
    until: new Date(Date.now() + 700_000).toISOString(),
  });
  await expect(promise).rejects.toMatchObject({ code: 'rate_limited' });
});
