import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** Budgets and caps of payments of other clients. */
let fixture: SubmitterFixture;
const FEES_LAMPORTS = 100_000_000n;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start({
    INCOMING_FEES_LAMPORTS_PER_DAY: `${FEES_LAMPORTS}`,
    WALLET_HOURLY_CAP_MICRO: `${2n * PRICE}`,
  });
});
afterAll(() => fixture.stop());

/** A new vendor, and what becomes of a payment to it: `submitted`, or why not. */
const newVendor = async () => {
  const vendor = await fixture.payer(1n);
  const { signed, submit } = incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  return { vendor, pay: async (buyer: Payer) => reasonOf(await submit(await signed(buyer))) };
};

test('a paying token account has an hourly cap', async () => {
  const { pay } = await newVendor();
  const [buyer, other] = [await fixture.payer(5n * PRICE), await fixture.payer(PRICE)];
  expect([await pay(buyer), await pay(buyer)]).toEqual(['submitted', 'submitted']);
  expect(await pay(buyer)).toBe('budget_exhausted');
  expect(await pay(other)).toBe('submitted');
});

test('a source is refused after three of its transactions failed on chain within a day', async () => {
  const { pay } = await newVendor();
  const buyer = await fixture.payer(2n * PRICE);
  const source = fixture.outside.tokenAccount(buyer.owner.publicKey).toBase58();
  const fail = (number: number, age: string, status: 'failed' | 'expired') =>
    fixture.admin.query(
      `with failed as (
         insert into intents (intent_id, kind, object_id, request, status, generation, signature, failure_code,
           failure_message, next_at, created_at)
         values ($1, 'incoming', $1, $2, 'failed', 1, $1, 'payment_failed', 'x', app_now(), app_now() - $3::interval)
         returning intent_id
       )
       insert into transactions (signature, intent_id, generation, wire, last_valid_block_height, status)
       select intent_id, intent_id, 1, '', 1, $4 from failed`,
      [`${source}-${number}`, { source_account: source }, age, status],
    );
  await fail(1, '1 hour', 'failed');
  await fail(2, '23 hours', 'failed');
  await fail(3, '25 hours', 'failed');
  await fail(4, '1 minute', 'expired');
  expect(await pay(buyer)).toBe('submitted');
  await fail(5, '1 minute', 'failed');
  expect(await pay(buyer)).toBe('source_blocked');
});

test('a vendor uses at most a tenth of the environment’s lamports, and a refused payment reserves nothing of its cap', async () => {
  const { vendor, pay } = await newVendor();
  const buyer = await fixture.payer(2n * PRICE);
  await fixture.admin.query(
    `insert into spending (scope, period, reserved)
     values ($1, date_trunc('day', app_now(), 'UTC'), $2)`,
    [`fees_incoming/vendor/${vendor.account_id}`, `${FEES_LAMPORTS / 10n}`],
  );
  expect(await pay(buyer)).toBe('budget_exhausted');
  const other = await newVendor();
  expect([await other.pay(buyer), await other.pay(buyer)]).toEqual(['submitted', 'submitted']);
});

test('payments of other clients that use up their lamports leave settles theirs', async () => {
  const { pay } = await newVendor();
  await fixture.admin.query(
    `insert into spending as s (scope, period, reserved)
     values ('fees_incoming', date_trunc('day', app_now(), 'UTC'), $1)
     on conflict (scope, period) do update set reserved = excluded.reserved`,
    [`${FEES_LAMPORTS}`],
  );
  // What the process has reserved ahead is left to it.
  const buyers = await Promise.all(Array.from({ length: 60 }, () => fixture.payer(PRICE)));
  const answers: string[] = [];
  for (const buyer of buyers) {
    answers.push(await pay(buyer));
    if (answers.at(-1) !== 'submitted') break;
  }
  expect(answers.at(-1)).toBe('budget_exhausted');
  const job = await fixture.settle(await fixture.payer(PRICE), fixture.quote({ amount: PRICE }));
  await fixture.events.wait(job.settlement_id, 'confirmed');
});
