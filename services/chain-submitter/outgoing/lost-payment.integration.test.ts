import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Lost } from '../../../shared/contract/chain-submitter.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  bytesOf,
  outgoingPaymentsOver,
  PRICE,
} from '../../../test/support/fixtures/chain-submitter/outgoing-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf } from '../../../test/support/fixtures/chain-submitter/transfers.ts';

let fixture: SubmitterFixture;
let vendor: Payer;
const payments = outgoingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { sign, submit, close, findLost, lose, inputOf, intentOf } = payments;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  vendor = await fixture.payer(1n);
  await payments.fundFacilitator();
  await fixture.start();
});
afterEach(() => fixture.chain.call('chain_fault'));
afterAll(() => fixture.stop());

const balanceOf = ({ owner }: Payer) => fixture.outside.balance(owner.publicKey);
const HOUR_MS = 3_600_000;
/** A backup of an hour ago was restored now. */
const lostOf = (...payers: Payer[]): Lost => ({
  since: isoTime(Date.now() - HOUR_MS),
  until: isoTime(Date.now()),
  owners: payers.map(({ owner }) => owner.publicKey.toBase58()),
});

const hashOf = (answer: Awaited<ReturnType<typeof sign>>): string => {
  if (answer.outcome !== 'signed') throw new Error(JSON.stringify(answer));
  return answer.message_hash;
};

/** A payment that is on the chain, and has no record. */
const lostPayment = async (buyer: Payer, changes: Parameters<typeof inputOf>[1] = {}) => {
  const input = inputOf(buyer, changes);
  const answer = await sign(input);
  const tx_hash = await submit(answer);
  await fixture.events.wait(input.settlement_id, 'finalized');
  await lose(input);
  return { input, answer, tx_hash, again: { ...input, settlement_id: newId('stl'), lost: lostOf(buyer) } };
};

describe('after a restore', () => {
  test('an attempt that is on the chain is adopted: the same bytes, and no second transfer', async () => {
    const buyer = await fixture.payer(3n * PRICE);
    const { again, answer, tx_hash } = await lostPayment(buyer);
    expect(await findLost(again, again.lost)).toEqual({ found: 'paid', transactions: [tx_hash] });
    const answers = await Promise.all([sign(again), sign(again), sign(again)]);
    expect(new Set(answers.map(bytesOf))).toEqual(new Set([bytesOf(answer)]));
    expect(await fixture.events.wait(again.settlement_id, 'finalized')).toMatchObject({ tx_hash });
    expect(await balanceOf(buyer)).toBe(2n * PRICE);
  });

  test('a payment that is on the chain is not closed', async () => {
    const buyer = await fixture.payer(PRICE);
    const { again, tx_hash } = await lostPayment(buyer);
    expect(await close(again)).toMatchObject({ status: 'signed', failure: null });
    expect(await fixture.events.wait(again.settlement_id, 'finalized')).toMatchObject({ tx_hash });
  });

  test('an attempt that was never paid is signed, and one that is closed ends', async () => {
    const buyer = await fixture.payer(3n * PRICE);
    await lostPayment(buyer);
    const lost = lostOf(buyer);
    const [unpaid, closed] = [inputOf(buyer, { lost }), inputOf(buyer, { lost })];
    expect(await findLost(unpaid, lost)).toEqual({ found: 'none', transactions: [] });
    expect(await sign(unpaid)).toMatchObject({ outcome: 'signed' });
    expect(await close(closed)).toMatchObject({ status: 'failed' });
  });

  test('a payment with the memo of its vendor may be this one: nothing is signed or closed', async () => {
    const buyer = await fixture.payer(3n * PRICE);
    const { again, tx_hash } = await lostPayment(buyer, { memo: 'invoice 7' });
    const undecided = { found: 'undecided', transactions: [tx_hash] };
    expect(await findLost(again, again.lost)).toEqual(undecided);
    expect(await sign(again)).toEqual({ outcome: 'undecided' });
    expect(await codeOf(close(again))).toBe('conflict');
    expect(await intentOf(again)).toBeUndefined();
    expect(await sign(inputOf(buyer, { memo: 'invoice 8', lost: again.lost }))).toMatchObject({
      outcome: 'signed',
    });
  });

  test('a payment whose bytes were answered is adopted by their message, whatever its memo is', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const acts = [
      async ({ lost: _, ...input }: Parameters<typeof sign>[0]) =>
        expect(await sign(input)).toMatchObject({ outcome: 'signed' }),
      async (input: Parameters<typeof sign>[0]) =>
        expect(await close(input)).toMatchObject({ status: 'signed', failure: null }),
    ];
    for (const [index, act] of acts.entries()) {
      const { again, answer, tx_hash } = await lostPayment(buyer, { memo: `invoice ${index}` });
      await act({ ...again, message_hash: hashOf(answer) });
      expect(await fixture.events.wait(again.settlement_id, 'finalized')).toMatchObject({ tx_hash });
    }
    expect(await balanceOf(buyer)).toBe(0n);
  });

  test('one that no provider has is neither signed nor closed, until an operator ends it', async () => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    const message_hash = hashOf(await sign(input));
    await lose(input);
    expect(await codeOf(sign({ ...input, message_hash }))).toBe('conflict');
    expect(await codeOf(close({ ...input, message_hash, lost: lostOf(buyer) }))).toBe('conflict');
    expect(await intentOf(input)).toBeUndefined();
    expect(await close(input)).toMatchObject({ status: 'failed' });
  });

  test.each<[string, (buyer: Payer) => Promise<Parameters<typeof inputOf>[1]>]>([
    ['another amount', async () => ({ amount: '1' })],
    ['another wallet', async () => ({ owner: (await fixture.payer(PRICE)).owner.publicKey.toBase58() })],
  ])('a paid attempt that is repeated with %s is undecided', async (_name, changesOf) => {
    const buyer = await fixture.payer(3n * PRICE);
    const { again } = await lostPayment(buyer);
    expect(await sign({ ...again, ...(await changesOf(buyer)) })).toEqual({ outcome: 'undecided' });
    expect(await intentOf(again)).toBeUndefined();
  });

  test('while a provider does not list the source, no answer says that nothing moved', async () => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer, { lost: lostOf(buyer) });
    await fixture.chain.call('chain_fault', { method: 'getSignaturesForAddress', kind: 'drop' });
    for (const work of [() => sign(input), () => close(input), () => findLost(input, lostOf(buyer))]) {
      const refused = await work().then(
        () => null,
        ({ code, extras }: ServiceError) => [code, extras.money_moved],
      );
      expect(refused).toEqual(['service_unavailable', 'unknown']);
    }
    expect(await intentOf(input)).toBeUndefined();
  });
});
