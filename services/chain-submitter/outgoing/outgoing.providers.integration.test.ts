import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type SecondProvider, startSecondProvider } from '../../../test/faults/second-provider.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
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

/**
 * Outgoing payments over two providers of one chain, of which the first one queried is at fault. It
 * never makes a payment fail whose bytes may be included.
 */
let fixture: SubmitterFixture;
let first: SecondProvider;
let vendor: Payer;
const payments = outgoingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { sign, submit, inputOf } = payments;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  first = await startSecondProvider();
  vendor = await fixture.payer(1n);
  await payments.fundFacilitator();
  await fixture.start({ SOLANA_RPC_URLS: `${first.urlOf(fixture.chain.url)},${fixture.chain.url}` });
});
afterEach(async () => {
  first.behave('honest');
  await fixture.chain.call('chain_fault');
  await fixture.chain.call('chain_clock', { paused: false });
});
afterAll(async () => {
  await fixture.stop();
  first.stop();
});

const balanceOf = (payer: Payer) => fixture.outside.balance(payer.owner.publicKey);
const states = (id: string) => fixture.events.of(id).map(({ status }) => status);
const isNotFailed = (all: readonly string[]) => !all.includes('failed');
/** Longer than several searches of the watcher. */
const SEVERAL_POLLS_MS = 5000;
/** More blocks than bytes are valid for, the proof's margin included. */
const EXPIRY_BLOCKS = 260;

/** A payment whose bytes are out, on a chain that stands still. */
const signedPayment = async () => {
  const buyer = await fixture.payer(PRICE);
  await fixture.chain.call('chain_clock', { paused: true });
  const input = inputOf(buyer);
  return { buyer, input, id: input.settlement_id, answer: await sign(input) };
};

test('a provider that denies everything does not make open bytes fail, and does not hide their transaction', async () => {
  const { buyer, id, answer } = await signedPayment();
  first.behave('denies');
  await fixture.chain.call('chain_advance', 100);
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  const tx_hash = await submit(answer);
  // The other provider has the transaction when the bytes are past their last block.
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  first.behave('honest');
  expect(await fixture.events.wait(id, 'finalized')).toMatchObject({ tx_hash });
  expect([await balanceOf(buyer), states(id).includes('failed')]).toEqual([0n, false]);
});

test('an included transaction that the denying provider hides until its expiry is found by the proof', async () => {
  const { id, answer } = await signedPayment();
  await fixture.chain.call('chain_fault', { method: 'getSignaturesForAddress', kind: 'drop' });
  const tx_hash = await submit(answer);
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  first.behave('denies');
  await fixture.chain.call('chain_fault');
  expect(await fixture.events.wait(id, 'signed')).toMatchObject({ tx_hash });
  first.behave('honest');
  await fixture.events.wait(id, 'finalized');
  expect(states(id)).not.toContain('failed');
});

test('a provider that lags proves no expiry', async () => {
  const { buyer, id } = await signedPayment();
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  first.behave({ lagSlots: EXPIRY_BLOCKS });
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  first.behave('honest');
  await fixture.events.wait(id, 'failed');
  expect(await balanceOf(buyer)).toBe(PRICE);
});

test.each(['getBlockHeight', 'isBlockhashValid', 'getSignaturesForAddress'])(
  'without answers to %s no expiry is proven',
  async (method) => {
    const { id } = await signedPayment();
    await fixture.chain.call('chain_fault', { method, kind: 'drop' });
    await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
    await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
    await fixture.chain.call('chain_fault');
    await fixture.events.wait(id, 'failed');
  },
);

test('a listed transaction that no provider returns proves no expiry', async () => {
  const { buyer, id, answer } = await signedPayment();
  await fixture.chain.call('chain_fault', { method: 'getTransaction', kind: 'lie_null' });
  const tx_hash = await submit(answer);
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  await fixture.chain.call('chain_fault');
  expect(await fixture.events.wait(id, 'finalized')).toMatchObject({ tx_hash });
  expect(await balanceOf(buyer)).toBe(0n);
});

test('a last valid block that a provider named too low fails nothing while the blockhash is valid', async () => {
  const { id, answer } = await signedPayment();
  await fixture.admin.query('update outgoing_messages set last_valid_block_height = 0');
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  const tx_hash = await submit(answer);
  await fixture.chain.call('chain_clock', { paused: false });
  expect(await fixture.events.wait(id, 'finalized')).toMatchObject({ tx_hash });
});

test('a last valid block that a provider named far too high is corrected when the bytes are old', async () => {
  const { buyer, id } = await signedPayment();
  await fixture.admin.query('update outgoing_messages set last_valid_block_height = 1000000000');
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  await fixture.admin.query(
    `update intents set created_at = created_at - interval '11 minutes' where object_id = $1`,
    [id],
  );
  // No bytes of before are valid after the newest blockhash of now.
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await fixture.events.wait(id, 'failed');
  expect(await balanceOf(buyer)).toBe(PRICE);
});

test('a height that one provider names too low while bytes are signed does not shorten their time', async () => {
  const buyer = await fixture.payer(PRICE);
  const input = inputOf(buyer);
  first.behave({ lagSlots: 100 });
  const answer = await sign(input);
  first.behave('honest');
  const { rows } = await fixture.admin.query(
    'select last_valid_block_height::int as height from outgoing_messages where intent_id = $1',
    [`out:${input.account_id}:${input.payment_attempt_id}`],
  );
  const height = await fixture.chain.call<number>('getBlockHeight', { commitment: 'confirmed' });
  expect(rows[0].height).toBeGreaterThan(height + 50);
  expect(bytesOf(answer)).not.toBe('');
});

test('a failure on chain that one provider invents fails nothing', async () => {
  const { buyer, id, answer } = await signedPayment();
  first.behave({ lies: 'error' });
  await fixture.chain.call('chain_clock', { paused: false });
  const tx_hash = await submit(answer);
  await fixture.events.wait(id, 'signed');
  await staysFor(SEVERAL_POLLS_MS, () => states(id), isNotFailed);
  first.behave('honest');
  expect(await fixture.events.wait(id, 'finalized')).toMatchObject({ tx_hash });
  expect(await balanceOf(buyer)).toBe(0n);
});
