import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair, PublicKey } from '@solana/web3.js';
import {
  incomingPaymentsOver,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type Quote,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { referenceOf } from '../ledger/reference.ts';

/**
 * Transactions of this service under a quote's reference that are not its payment. Everybody can
 * compute the reference from the quote id.
 */
let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { ask, signed, submit } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const BALANCE = 5_000_000n;
const GROSS = 1_000_000n;
const balanceOf = ({ owner }: Payer) => fixture.outside.balance(owner.publicKey);
const referenceOfQuote = ({ quote_id }: Quote) => new PublicKey(referenceOf('test', quote_id));

/** A quote whose reference can be the owner of a token account that wallets may name. */
const quoteOnCurve = (): Quote => {
  for (;;) {
    const quote = fixture.quote({ amount: GROSS });
    if (PublicKey.isOnCurve(referenceOfQuote(quote).toBytes())) return quote;
  }
};
const listUnder = (reference: PublicKey) =>
  fixture.chain.call<{ signature: string }[]>('getSignaturesForAddress', reference.toBase58(), {
    commitment: 'confirmed',
  });
/** The payer pays the quote, whatever is under its reference. */
const expectPayable = async (quote: Quote): Promise<void> => {
  const payer = await fixture.payer(BALANCE);
  const job = await fixture.settle(payer, quote);
  await fixture.events.wait(job.settlement_id, 'confirmed');
  expect(await balanceOf(payer)).toBe(BALANCE - GROSS);
};

test('rule 12: a payment of another client that names the reference of a quote is not signed, and the quote is paid', async () => {
  const quote = fixture.quote({ amount: GROSS });
  const attacker = await fixture.payer(1n);
  const reference = referenceOfQuote(quote);
  const payment = await signed(attacker, {
    legs: [{ owner: vendor.owner.publicKey, amount: 1n }],
    reference,
  });
  expect(reasonOf(await submit(payment))).toBe('unknown_instruction');
  await expectPayable(quote);
});

test.each<[string, (reference: PublicKey) => Promise<void>]>([
  [
    'the payout address of a quote that was paid',
    async (reference) => {
      const attacker = await fixture.payer(BALANCE);
      const job = await fixture.settle(attacker, fixture.quote({ amount: GROSS, payout: reference }));
      await fixture.events.wait(job.settlement_id, 'confirmed');
    },
  ],
  [
    'a payout address whose token account was created for payments of other clients',
    async (reference) => {
      const asked = { account_id: vendor.account_id, owner: reference.toBase58() };
      await ask('createPayoutAccount', asked);
      await fixture.events.wait(asked.owner, 'confirmed');
    },
  ],
])('rule 12: a quote is paid although its reference is %s', async (_name, name) => {
  const quote = quoteOnCurve();
  await name(referenceOfQuote(quote));
  expect(await listUnder(referenceOfQuote(quote))).toHaveLength(1);
  await expectPayable(quote);
});

test.each<[string, (first: Payer) => Promise<Payer>]>([
  ['by the same wallet', async (first) => first],
  ['by another wallet', () => fixture.payer(BALANCE)],
])('rule 2: a quote that another attempt has paid is not paid again %s', async (_name, secondOf) => {
  const first = await fixture.payer(BALANCE);
  const second = await secondOf(first);
  const before = await balanceOf(second);
  const quote = fixture.quote({ amount: GROSS, payout: Keypair.generate().publicKey });
  const paid = await fixture.settle(first, quote);
  await fixture.events.wait(paid.settlement_id, 'confirmed');
  const again = await fixture.settle(second, quote);
  expect(await fixture.events.wait(again.settlement_id, 'failed')).toMatchObject({
    tx_hash: null,
    failure: { code: 'payment_failed', message: 'the quote is paid already' },
  });
  expect(await balanceOf(second)).toBe(second === first ? before - GROSS : before);
});
