import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { PublicKey } from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import {
  type IncomingPayment,
  incomingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';

/** What payments of MPP may cost for a vendor account: nothing accrues for one that fails. */
let fixture: SubmitterFixture;
let vendor: Payer;
const FIRST = 2;
const FEE = 500n;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start({ INCOMING_FIRST_FAILURES_PER_DAY: `${FIRST}` });
});
beforeEach(async () => {
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { signed, submit, submitAndEmpty, withDroppedSends } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const ofMpp = (buyer: Payer): Promise<IncomingPayment> =>
  signed(buyer, {
    legs: [
      { owner: vendor.owner.publicKey, amount: PRICE - FEE },
      { owner: new PublicKey(fixture.keys.feeWallet.address), amount: FEE },
    ],
  });
/** A payment of each of so many new buyers. */
const payments = async (count: number, sign = ofMpp): Promise<IncomingPayment[]> => {
  const buyers = await Promise.all(Array.from({ length: count }, () => fixture.payer(PRICE)));
  return Promise.all(buyers.map((buyer) => sign(buyer)));
};
/** Submits payments at once. @returns how many were signed, and the reasons of the others */
const submitted = async (all: readonly IncomingPayment[]) => {
  const answers = await Promise.all(all.map((payment) => submit(payment)));
  const reasons = answers.map(reasonOf);
  const refused = [...new Set(reasons.filter((reason) => reason !== 'submitted'))];
  return { signed: reasons.filter((reason) => reason === 'submitted').length, refused };
};

test('a vendor that has received nothing has as many payments under way as may fail, and more with each that it received', async () => {
  const [first, others] = [await payments(FIRST + 1), await payments(1, (buyer) => signed(buyer))];
  await withDroppedSends(async () => {
    expect(await submitted(first)).toEqual({ signed: FIRST, refused: ['budget_exhausted'] });
    // The fee of a payment of x402 accrues, and is kept when it fails.
    expect(await submitted(others)).toEqual({ signed: 1, refused: [] });
  });
  const settled = async () =>
    (
      await fixture.admin.query(
        "select from intents where request ->> 'account_id' = $1 and status = 'finalized'",
        [vendor.account_id],
      )
    ).rowCount;
  await until(settled, (count) => count === FIRST + 1);
  const more = await payments(2 * FIRST + 1);
  await withDroppedSends(async () => {
    expect(await submitted(more)).toEqual({ signed: 2 * FIRST, refused: ['budget_exhausted'] });
  });
});

test('after as many failures it receives only from buyers that have paid before', async () => {
  const [buyer, safe] = [await fixture.payer(BigInt(FIRST) * PRICE), await fixture.payer(1n)];
  const both = await Promise.all(Array.from({ length: FIRST }, () => ofMpp(buyer)));
  await submitAndEmpty(buyer, both, safe.owner.publicKey);
  expect(await submitted(await payments(1))).toEqual({ signed: 0, refused: ['budget_exhausted'] });
  expect(await submitted(await payments(1, (other) => signed(other)))).toEqual({ signed: 1, refused: [] });
});

/** The amount of an intent that another replica inserts, and what it has locked before. */
const asOtherReplica = async (
  { name, request }: { name: string; request: object },
  payment: IncomingPayment,
): Promise<string> => {
  const replica = await fixture.admin.connect();
  try {
    await replica.query('begin');
    await replica.query("select pg_advisory_xact_lock(hashtextextended('incoming/' || $1, 0))", [name]);
    await replica.query(
      `insert into intents (intent_id, kind, object_id, request, status, next_at)
       values ($1, 'incoming', $1, $2, 'accepted', app_now() + interval '1 day')`,
      [newId('stl'), request],
    );
    const answer = submit(payment);
    await until(
      () => waitingForLocks(fixture.admin),
      (statements) => statements > 0,
    );
    await replica.query('commit');
    return reasonOf(await answer);
  } finally {
    replica.release(true);
  }
};

test('a payment waits for one of its source that another replica commits, and may not use the same balance', async () => {
  const buyer = await fixture.payer(PRICE);
  const source = fixture.outside.tokenAccount(buyer.owner.publicKey).toBase58();
  const request = { source_account: source, amount: `${PRICE}` };
  expect(await asOtherReplica({ name: source, request }, await signed(buyer))).toBe('insufficient_funds');
});

test('a payment of MPP waits for one to its vendor that another replica commits, and may be one too many', async () => {
  const { account_id } = vendor;
  const [payment, another] = (await payments(2)) as [IncomingPayment, IncomingPayment];
  await withDroppedSends(async () => {
    expect(await submitted([another])).toEqual({ signed: 1, refused: [] });
    const request = { account_id, source_account: 'of another buyer', amount: '1', legs: [{}, {}] };
    expect(await asOtherReplica({ name: account_id, request }, payment)).toBe('budget_exhausted');
  });
});
