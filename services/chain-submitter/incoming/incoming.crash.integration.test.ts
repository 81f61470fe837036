import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair, SystemProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor, waitFor } from '../../../test/support/base/wait.ts';
import {
  type IncomingPayment,
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
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';

/** Restarts of the service while clients of x402 and MPP pay. */
let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { ask, signed, submit, hashOf, countSigned } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);

/** Submits a payment that kills the service. Its call may be answered before, or never. */
const killedBy = async (
  dying: ServiceProcess,
  payment: IncomingPayment,
  settlementId: string,
): Promise<void> => {
  void submit(payment, settlementId).catch(() => {});
  await dying.exited;
};

test.each(['afterSign', 'afterCommit', 'afterSend', 'afterConfirm'])(
  'rule 8: after a kill at %s the repeated submission completes the payment once',
  async (arrow) => {
    const buyer = await fixture.payer(2n * PRICE);
    const settlementId = newId('stl');
    const dying = await fixture.start({}, `submitter.${arrow}=crash`);
    const payment = await signed(buyer);
    await killedBy(dying, payment, settlementId);
    expect(await countSigned(settlementId)).toBe(arrow === 'afterSign' ? 0 : 1);

    const next = await fixture.start();
    const tx_hash = txHashOf(await submit(payment, settlementId));
    expect((await fixture.events.wait(settlementId, 'finalized')).tx_hash).toBe(tx_hash);
    expect(await countSigned(settlementId)).toBe(1);
    expect(await fixture.outside.balance(buyer.owner.publicKey)).toBe(PRICE);
    await next.stop();
  },
);

test('rule 16: bytes that a killed worker committed are broadcast by the next one, without a call', async () => {
  const settlementId = newId('stl');
  const dying = await fixture.start({}, 'submitter.afterCommit=crash');
  const payment = await signed(await fixture.payer(PRICE));
  await killedBy(dying, payment, settlementId);
  const next = await fixture.start();
  const { tx_hash } = await fixture.events.wait(settlementId, 'finalized');
  expect(txHashOf(await submit(payment, settlementId))).toBe(tx_hash);
  await next.stop();
});

test('a payment that was signed and not committed can be closed, and is never sent', async () => {
  const buyer = await fixture.payer(PRICE);
  const settlement_id = newId('stl');
  const dying = await fixture.start({}, 'submitter.afterSign=crash');
  const payment = await signed(buyer);
  await killedBy(dying, payment, settlement_id);
  const next = await fixture.start();
  const message_hash = await hashOf(payment);
  expect((await ask('closeIncoming', { message_hash, settlement_id })).status).toBe('failed');
  expect(reasonOf(await submit(payment, settlement_id))).toBe('closed');
  expect(await fixture.outside.balance(buyer.owner.publicKey)).toBe(PRICE);
  await next.stop();
});

test('rule 11: providers that deny an included payment past its expiry do not make it fail', async () => {
  const service = await fixture.start();
  const { chain } = fixture;
  const buyer = await fixture.payer(PRICE);
  const settlement_id = newId('stl');
  const payment = await signed(buyer);
  await chain.call('chain_fault', { method: 'getSignatureStatuses', kind: 'lie_null' });
  const tx_hash = txHashOf(await submit(payment, settlement_id));
  await waitFor(
    () => fixture.outside.balance(buyer.owner.publicKey),
    (balance) => balance === 0n,
  );
  await chain.call('chain_advance', 183);
  const message_hash = await hashOf(payment);
  const progress = () => ask('closeIncoming', { message_hash, settlement_id });
  await staysFor(4000, progress, ({ status }) => status === 'signed');
  await chain.call('chain_fault');
  expect((await fixture.events.wait(settlement_id, 'finalized')).tx_hash).toBe(tx_hash);
  await service.stop();
});

test('a fee payer that was replaced signs the payments that name it', async () => {
  const { keys } = fixture;
  const current = Keypair.generate();
  const from = keypairOf(keys.feePayer.secretKey);
  const lamports = 1_000_000_000;
  const funding = { fromPubkey: from.publicKey, toPubkey: current.publicKey, lamports };
  await fixture.include([SystemProgram.transfer(funding)], [from]);
  const FEE_PAYER_KEYS = `2:${bs58.encode(current.secretKey)},1:${keys.feePayer.secretKey}`;
  const service = await fixture.start({ FEE_PAYER_KEYS });
  const addresses = [current.publicKey.toBase58(), keys.feePayer.address];
  expect((await ask('getFeePayers', {})).fee_payers).toEqual(addresses);
  for (const feePayer of addresses) {
    const settlementId = newId('stl');
    const tx_hash = txHashOf(
      await submit(await signed(await fixture.payer(PRICE), { feePayer }), settlementId),
    );
    expect((await fixture.events.wait(settlementId, 'confirmed')).tx_hash).toBe(tx_hash);
  }
  await service.stop();
});

test('a fee payer without lamports blames nobody, and the payment succeeds once it has some', async () => {
  const { keys } = fixture;
  const poor = Keypair.generate();
  const service = await fixture.start({ FEE_PAYER_KEYS: `3:${bs58.encode(poor.secretKey)}` });
  const payment = await signed(await fixture.payer(PRICE), { feePayer: poor.publicKey.toBase58() });
  await expect(submit(payment)).rejects.toMatchObject({ code: 'service_unavailable' });
  const from = keypairOf(keys.feePayer.secretKey);
  const funding = { fromPubkey: from.publicKey, toPubkey: poor.publicKey, lamports: 1_000_000_000 };
  await fixture.include([SystemProgram.transfer(funding)], [from]);
  expect(reasonOf(await submit(payment))).toBe('submitted');
  await service.stop();
});
