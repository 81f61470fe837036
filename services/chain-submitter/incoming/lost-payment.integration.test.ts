import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  incomingPaymentsOver,
  PRICE,
  reasonOf,
  txHashOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
  vendor = await fixture.payer(1n);
});
afterEach(async () => {
  await fixture.chain.call('chain_fault');
  await fixture.admin.query('update settings set paused = false');
});
afterAll(() => fixture.stop());

const { ask, signed, submit, submitAndEmpty, hashOf } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const balanceOf = (payer: Payer) => fixture.outside.balance(payer.owner.publicKey);
/** More blocks than a blockhash is valid for. A restore waits for them. */
const EXPIRY_BLOCKS = 200;
const lost_since = () => isoTime(Date.now() - 3_600_000);
type Payment = Awaited<ReturnType<typeof signed>>;

/** Signs a payment, and lets it expire before or after it is submitted. */
const expired = async (buyer: Payer, { paid }: { paid: boolean }) => {
  const payment = await signed(buyer);
  const hash = await hashOf(payment);
  let tx_hash: string | null = null;
  if (paid) {
    const settlementId = newId('stl');
    tx_hash = txHashOf(await submit(payment, settlementId));
    await fixture.events.wait(settlementId, 'finalized');
    for (const table of ['transactions', 'intents'])
      await fixture.admin.query(`delete from ${table} where intent_id = $1`, [`incoming:${hash}`]);
  }
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  return { payment, hash, tx_hash };
};
const checkLost = (payment: Payment) =>
  ask('checkIncoming', { ...payment, lost_since: lost_since(), simulate: true });
const findLost = ({ transaction }: Pick<Payment, 'transaction'>) =>
  ask('findLostIncoming', { transaction, since: lost_since() });
/** A payment whose source was emptied before it was included, without its record. */
const failedOnChain = async (buyer: Payer): Promise<Payment> => {
  const payment = await signed(buyer);
  await submitAndEmpty(buyer, [payment], vendor.owner.publicKey);
  return payment;
};
const submitLost = (payment: Payment, settlement_id = newId('stl')) =>
  ask('submitIncoming', {
    ...{ ...payment, lost_since: lost_since() },
    ...{ settlement_id, account_id: vendor.account_id },
  });
const closeLost = (buyer: Payer, message_hash: string, settlement_id = newId('stl')) =>
  ask('closeIncoming', {
    ...{ message_hash, settlement_id },
    lost: {
      since: lost_since(),
      source_account: fixture.outside.tokenAccount(buyer.owner.publicKey).toBase58(),
      account_id: vendor.account_id,
    },
  });

describe('after a restore', () => {
  test('a payment that is on the chain is accepted and adopted, also while signing is paused', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const { payment, tx_hash } = await expired(buyer, { paid: true });
    await fixture.admin.query('update settings set paused = true');
    expect(await checkLost(payment)).toMatchObject({ outcome: 'accepted' });
    const settlementId = newId('stl');
    const answers = await Promise.all([1, 2, 3].map(() => submitLost(payment, settlementId)));
    expect(answers).toEqual([1, 2, 3].map(() => ({ outcome: 'submitted', tx_hash })));
    expect(await fixture.events.wait(settlementId, 'finalized')).toMatchObject({ tx_hash });
    expect(await balanceOf(buyer)).toBe(PRICE);
  });

  test('a payment that is on the chain is not closed', async () => {
    const buyer = await fixture.payer(PRICE);
    const { hash, tx_hash } = await expired(buyer, { paid: true });
    const settlementId = newId('stl');
    expect(await closeLost(buyer, hash, settlementId)).toMatchObject({ tx_hash, failure: null });
    expect(await fixture.events.wait(settlementId, 'finalized')).toMatchObject({ tx_hash });
  });

  test('a payment that the terms of today refuse is found, unless it was never made or failed on chain', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const { payment } = await expired(buyer, { paid: true });
    const [leg] = payment.legs;
    const other = { ...payment, legs: [{ ...leg!, amount: '1' }] };
    expect(reasonOf(await checkLost(other))).toBe('amount_mismatch');
    expect(await findLost(payment)).toEqual({ paid: true });
    expect(await findLost((await expired(buyer, { paid: false })).payment)).toEqual({ paid: false });
    const { transaction } = await failedOnChain(buyer);
    expect(await findLost({ transaction })).toEqual({ paid: false });
    expect(await findLost({ transaction: Buffer.from('no transaction').toString('base64') })).toEqual({
      paid: false,
    });
  });

  test('a payment that was never made is refused, and closed', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const { payment } = await expired(buyer, { paid: false });
    expect(reasonOf(await checkLost(payment))).toBe('blockhash_expired');
    expect(reasonOf(await submitLost(payment))).toBe('blockhash_expired');
    const { hash } = await expired(buyer, { paid: false });
    expect(await closeLost(buyer, hash)).toMatchObject({ status: 'failed', tx_hash: null });
    expect(await balanceOf(buyer)).toBe(2n * PRICE);
  });

  test('while a provider does not list the source, no answer says that nothing moved', async () => {
    const buyer = await fixture.payer(PRICE);
    const { payment, hash } = await expired(buyer, { paid: true });
    await fixture.chain.call('chain_fault', { method: 'getSignaturesForAddress', kind: 'drop' });
    for (const work of [
      () => checkLost(payment),
      () => submitLost(payment),
      () => closeLost(buyer, hash),
      () => findLost(payment),
    ] as (() => Promise<unknown>)[]) {
      const refused = await work().then(
        (answer) => answer,
        ({ code, extras }: ServiceError) => [code, extras.money_moved],
      );
      expect(refused).toEqual(['service_unavailable', 'unknown']);
    }
    const { rows } = await fixture.admin.query('select from intents where intent_id = $1', [
      `incoming:${hash}`,
    ]);
    expect(rows).toEqual([]);
  });
});
