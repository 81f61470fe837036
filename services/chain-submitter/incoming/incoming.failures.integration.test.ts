import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { Transaction } from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
  txHashOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** Payments whose source is emptied after they were checked: we pay for their failure. */
let fixture: SubmitterFixture;
let vendor: Payer;
const FAILURES = 3;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start({ INCOMING_FAILURES_PER_DAY: `${FAILURES}` });
});
beforeEach(async () => {
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { check, signed, submit, submitAndEmpty, withDroppedSends } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const PAYMENTS = 12;
/** Two signatures, and the highest priority fee. */
const MOST_LAMPORTS = 30_000;
const costly = (buyer: Payer) => signed(buyer, { microLamports: 1_000_000 });
const many = <T>(count: number, make: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, make));
const lamports = () =>
  fixture.outside.connection.getBalance(keypairOf(fixture.keys.feePayer.secretKey).publicKey);

const paidBy = async (buyer: Payer): Promise<void> => {
  const settlementId = newId('stl');
  txHashOf(await submit(await signed(buyer), settlementId));
  await fixture.events.wait(settlementId, 'confirmed');
};

test('a source that is emptied makes three payments fail, then its vendor receives only from buyers that have paid', async () => {
  const [buyer, other, customer, safe] = (await many(4, () => fixture.payer(BigInt(PAYMENTS) * PRICE))) as [
    Payer,
    Payer,
    Payer,
    Payer,
  ];
  await paidBy(customer);
  const payments = await many(PAYMENTS, () => costly(buyer));
  const before = await lamports();
  const answers = (await submitAndEmpty(buyer, payments, safe.owner.publicKey)).map(reasonOf);
  expect(answers.filter((answer) => answer === 'submitted')).toHaveLength(3);
  expect(answers.filter((answer) => answer === 'source_blocked')).toHaveLength(PAYMENTS - 3);
  expect(before - (await lamports())).toBeLessThanOrEqual(3 * MOST_LAMPORTS);
  // The source is blocked also with money, and so is every source that pays this vendor.
  const { mint, tokenAccount } = fixture.outside;
  const [from, to] = [safe, buyer].map(({ owner }) => tokenAccount(owner.publicKey));
  const back = createTransferCheckedInstruction(from!, mint, to!, safe.owner.publicKey, PRICE, 6);
  await fixture.include([back], [keypairOf(fixture.keys.mintAuthority.secretKey), safe.owner]);
  expect(reasonOf(await submit(await signed(buyer)))).toBe('source_blocked');
  expect(reasonOf(await submit(await signed(other)))).toBe('budget_exhausted');
  // One that has paid goes on, with one payment at a time.
  const two = await many(2, () => signed(customer));
  await withDroppedSends(async () => {
    const both = await Promise.all(two.map((payment) => submit(payment)));
    expect(both.map(reasonOf).toSorted()).toEqual(['source_blocked', 'submitted']);
  });
  vendor = await fixture.payer(1n);
  expect(reasonOf(await submit(await signed(other)))).toBe('submitted');
});

test('each payment of a source that is confirmed lets it have one more under way', async () => {
  const buyer = await fixture.payer(20n * PRICE);
  for (let paid = 0; paid < 2; paid += 1) await paidBy(buyer);
  const payments = await many(PAYMENTS, () => signed(buyer));
  await withDroppedSends(async () => {
    const answers = await Promise.all(payments.map((payment) => submit(payment)));
    expect(answers.map(reasonOf).filter((answer) => answer === 'submitted')).toHaveLength(5);
  });
});

test('a source that was emptied after the check is refused before its emptying is confirmed', async () => {
  const { chain, keys, outside } = fixture;
  const [buyer, safe] = [await fixture.payer(PRICE), await fixture.payer(1n)];
  const payment = await signed(buyer);
  expect(reasonOf(await check(payment))).toBe('accepted');
  await chain.call('chain_clock', { paused: true });
  try {
    const { mint, tokenAccount } = outside;
    const { publicKey } = buyer.owner;
    const minter = keypairOf(keys.mintAuthority.secretKey);
    const { value } = await chain.call<{ value: { blockhash: string } }>('getLatestBlockhash', {
      commitment: 'confirmed',
    });
    const emptying = new Transaction({ feePayer: minter.publicKey, recentBlockhash: value.blockhash });
    const [from, to] = [tokenAccount(publicKey), tokenAccount(safe.owner.publicKey)];
    emptying.add(createTransferCheckedInstruction(from, mint, to, publicKey, PRICE, 6));
    emptying.sign(minter, buyer.owner);
    const wire = emptying.serialize().toString('base64');
    await chain.call('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
    expect(reasonOf(await submit(payment))).toBe('insufficient_funds');
  } finally {
    await chain.call('chain_clock', { paused: false });
  }
});
