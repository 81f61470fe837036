import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createRevokeInstruction } from '@solana/spl-token';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  type IncomingPayment,
  incomingPaymentsOver,
  reasonOf as incomingReasonOf,
  txHashOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  bytesOf,
  outgoingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/outgoing-payments.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf } from '../../../test/support/fixtures/chain-submitter/transfers.ts';

let fixture: SubmitterFixture;
let vendor: Payer;
const payments = outgoingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { sign, submit, close, observe, inputOf, intentOf, cosigned } = payments;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  vendor = await fixture.payer(1n);
  await payments.fundFacilitator();
  await fixture.start();
});
afterEach(async () => {
  await fixture.chain.call('chain_fault');
  await fixture.chain.call('chain_clock', { paused: false, onDemand: true });
});
afterAll(() => fixture.stop());

const balanceOf = (payer: Payer) => fixture.outside.balance(payer.owner.publicKey);
const states = (id: string) => fixture.events.of(id).map(({ status }) => status);
/** More blocks than bytes are valid for, the proof's margin included. */
const EXPIRY_BLOCKS = 260;

describe('signOutgoing', () => {
  test('the vendor’s facilitator submits the bytes, and the payment is found, confirmed and finalized', async () => {
    const buyer = await fixture.payer(3n * PRICE);
    const before = await balanceOf(vendor);
    const input = inputOf(buyer, { memo: 'invoice 7' });
    const answer = await sign(input);
    expect(answer).toEqual({
      outcome: 'signed',
      transaction: expect.any(String),
      message_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      source_account: fixture.outside.tokenAccount(buyer.owner.publicKey).toBase58(),
      tx_hash: null,
    });
    const { signatures, message } = VersionedTransaction.deserialize(Buffer.from(bytesOf(answer), 'base64'));
    expect(message.version).toBe(0);
    expect(signatures.map((signature) => signature.every((byte) => byte === 0))).toEqual([true, false]);
    const tx_hash = await submit(answer);
    await fixture.events.wait(input.settlement_id, 'finalized');
    expect(fixture.events.of(input.settlement_id)).toMatchObject([
      { status: 'signed', generation: 1, tx_hash },
      { status: 'confirmed', generation: 1, tx_hash },
      { status: 'finalized', generation: 1, tx_hash },
    ]);
    expect([await balanceOf(buyer), (await balanceOf(vendor)) - before]).toEqual([2n * PRICE, PRICE]);
    expect(await sign(input)).toEqual({ ...answer, tx_hash });
    expect(await close(input)).toMatchObject({ status: 'finalized', tx_hash });
  });

  test('20 concurrent calls and later ones get the same bytes, and another payment none', async () => {
    const buyer = await fixture.payer(3n * PRICE);
    const input = inputOf(buyer);
    const answers = await Promise.all(Array.from({ length: 20 }, () => sign(input)));
    answers.push(await sign(input));
    expect(new Set(answers.map(bytesOf)).size).toBe(1);
    expect(await codeOf(sign({ ...input, amount: '1' }))).toBe('conflict');
    const renamed = await sign({ ...input, settlement_id: newId('stl') });
    expect(bytesOf(renamed)).toBe(bytesOf(answers[0]!));
    const next = await sign(inputOf(buyer));
    expect(bytesOf(next)).not.toBe(bytesOf(answers[0]!));
  });

  test('equal payments with the memo of the vendor are different transactions', async () => {
    const buyer = await fixture.payer(3n * PRICE);
    const inputs = [1, 2, 3].map(() => inputOf(buyer, { memo: 'one memo for all' }));
    // The second and the third are signed with later blockhashes, so slots must pass meanwhile.
    await fixture.chain.call('chain_clock', { onDemand: false });
    const answers = await Promise.all(inputs.map(sign));
    expect(new Set(answers.map(bytesOf)).size).toBe(3);
    await Promise.all(answers.map(submit));
    await Promise.all(inputs.map(({ settlement_id }) => fixture.events.wait(settlement_id, 'finalized')));
    expect(await balanceOf(buyer)).toBe(0n);
  });

  test('bytes whose record is lost are not replaced, and their payment is not closed', async () => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    const answer = await sign(input);
    const message_hash = 'message_hash' in answer ? answer.message_hash : '';
    expect(await sign({ ...input, message_hash })).toEqual(answer);
    for (const table of ['outgoing_messages', 'intents'])
      await fixture.admin.query(`delete from ${table} where intent_id = $1`, [
        `out:${input.account_id}:${input.payment_attempt_id}`,
      ]);
    expect(await codeOf(sign({ ...input, message_hash }))).toBe('conflict');
    expect(await codeOf(close({ ...input, message_hash }))).toBe('conflict');
    expect(await intentOf(input)).toBeUndefined();
  });

  test.each<[string, () => Promise<Partial<Parameters<typeof sign>[0]>>, string]>([
    ['a payee without a token account', async () => ({ pay_to: someone() }), 'payee_without_token_account'],
    [
      'a payee of the platform',
      async () => ({ pay_to: fixture.keys.feeWallet.address }),
      'payee_not_allowed',
    ],
    ['a balance that is too small', async () => ({ amount: `${PRICE + 1n}` }), 'insufficient_funds'],
    ['a wallet without a token account', async () => ({ owner: someone() }), 'insufficient_funds'],
    ['a retired authority', async () => ({ authority: someone() }), 'delegation_inactive'],
    [
      'a wallet that has revoked',
      async () => {
        const { owner } = await fixture.payer(PRICE);
        const account = fixture.outside.tokenAccount(owner.publicKey);
        await fixture.include([createRevokeInstruction(account, owner.publicKey)], [minter(), owner]);
        return { owner: owner.publicKey.toBase58() };
      },
      'delegation_inactive',
    ],
    [
      'an allowance that is too small',
      async () => ({ owner: (await fixture.payer(PRICE, PRICE - 1n)).owner.publicKey.toBase58() }),
      'delegation_inactive',
    ],
    [
      'the source as the fee payer',
      async () => {
        const { owner } = await fixture.payer(PRICE);
        const fee_payer = fixture.outside.tokenAccount(owner.publicKey).toBase58();
        return { owner: owner.publicKey.toBase58(), fee_payer };
      },
      'fee_payer_not_allowed',
    ],
  ])('refuses %s for ever', async (_name, changesOf, reason) => {
    const input = inputOf(await fixture.payer(PRICE), await changesOf());
    const refused = await sign(input);
    expect([reasonOf(refused), reasonOf(await sign(input))]).toEqual([reason, reason]);
    expect(await intentOf(input)).toEqual({ status: 'failed', generation: 0, signature: null });
  });

  test('while signing is paused it refuses, and the refusal is final', async () => {
    const input = inputOf(await fixture.payer(PRICE));
    await fixture.admin.query('update settings set paused = true');
    const refused = reasonOf(await sign(input));
    await fixture.admin.query('update settings set paused = false');
    expect([refused, reasonOf(await sign(input))]).toEqual(['signing_paused', 'signing_paused']);
    expect(await close(input)).toMatchObject({ status: 'failed', failure: { code: 'payment_failed' } });
  });

  test('without a provider nothing is signed, and a repeat signs', async () => {
    const input = inputOf(await fixture.payer(PRICE));
    await fixture.chain.call('chain_fault', { method: 'getLatestBlockhash', kind: 'drop' });
    expect(await codeOf(sign(input))).toBe('service_unavailable');
    expect(await intentOf(input)).toBeUndefined();
    await fixture.chain.call('chain_fault');
    expect(reasonOf(await sign(input))).toBe('signed');
  });
});
const someone = () => Keypair.generate().publicKey.toBase58();
const minter = () => keypairOf(fixture.keys.mintAuthority.secretKey);

describe('the watcher', () => {
  test('bytes that nobody submits fail after the proof, and not before', async () => {
    const buyer = await fixture.payer(PRICE);
    await fixture.chain.call('chain_clock', { paused: true });
    const input = inputOf(buyer);
    const answer = await sign(input);
    // The bytes are valid for 150 blocks after the height that was confirmed when they were signed.
    await fixture.chain.call('chain_advance', 150);
    await staysFor(
      3000,
      () => states(input.settlement_id),
      (all) => all.length === 0,
    );
    await fixture.chain.call('chain_advance', 120);
    const failed = await fixture.events.wait(input.settlement_id, 'failed');
    expect(failed).toMatchObject({ generation: 0, tx_hash: null, failure: { code: 'payment_failed' } });
    expect(states(input.settlement_id)).toEqual(['failed']);
    // The chain refuses the bytes from now on.
    await submit(answer).catch(() => {});
    await fixture.chain.call('chain_advance', 5);
    expect(await balanceOf(buyer)).toBe(PRICE);
    expect(bytesOf(await sign(input))).toBe(bytesOf(answer));
    expect(await observe(input)).toMatchObject({ status: 'failed' });
  });

  test('bytes that are submitted just before their expiry are found', async () => {
    const buyer = await fixture.payer(PRICE);
    await fixture.chain.call('chain_clock', { paused: true });
    const input = inputOf(buyer);
    const answer = await sign(input);
    // A finalized blockhash is some 32 blocks old.
    await fixture.chain.call('chain_advance', 115);
    const tx_hash = await fixture.executes(async () => {
      const signature = await submit(answer);
      await fixture.chain.call('chain_advance', 1);
      return signature;
    });
    await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
    expect(await fixture.events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
    expect(states(input.settlement_id)).toEqual(['signed', 'confirmed', 'finalized']);
    expect(await balanceOf(buyer)).toBe(0n);
  });

  test('bytes that the vendor submits after it has refused the payment are found', async () => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    const answer = await sign(input);
    // The vendor has answered 402 again: nothing is on the chain, and nothing is released.
    expect(await observe(input)).toMatchObject({ status: 'signed', generation: 0, tx_hash: null });
    expect(await close(input)).toMatchObject({ status: 'signed' });
    const tx_hash = await submit(answer);
    expect(await fixture.events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
  });

  test('a hint hurries the search, and a wrong hint changes nothing', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const [wanted, other] = [inputOf(buyer), inputOf(buyer)];
    const [answer, otherAnswer] = [await sign(wanted), await sign(other)];
    const wrong = await submit(otherAnswer);
    await fixture.events.wait(other.settlement_id, 'confirmed');
    for (const hint of [wrong, 'x'.repeat(88), cosigned(bytesOf(answer)).signature]) {
      const observed = await observe(wanted, hint).catch((error: { code: string }) => error.code);
      expect([{ status: 'signed', tx_hash: null }, 'validation_error']).toContainEqual(
        typeof observed === 'string' ? observed : { status: observed.status, tx_hash: observed.tx_hash },
      );
    }
    const tx_hash = await submit(answer);
    await until(
      () => observe(wanted, tx_hash),
      (progress) => progress.tx_hash === tx_hash,
    );
    await fixture.events.wait(wanted.settlement_id, 'finalized');
    expect(await balanceOf(buyer)).toBe(0n);
  });

  test('a transaction that fails on chain fails the payment', async () => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    const answer = await sign(input);
    const account = fixture.outside.tokenAccount(buyer.owner.publicKey);
    await fixture.include([createRevokeInstruction(account, buyer.owner.publicKey)], [minter(), buyer.owner]);
    const tx_hash = await submit(answer);
    const failed = await fixture.events.wait(input.settlement_id, 'failed');
    expect(failed).toMatchObject({ tx_hash, failure: { code: 'payment_failed' } });
    expect(await balanceOf(buyer)).toBe(PRICE);
  });

  test.each([
    ['a transaction', false],
    ['a transaction, named by the vendor,', true],
  ])('%s that a fork drops waits for its expiry, and fails only then', async (_, isNamed) => {
    const { chain, events } = fixture;
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    await chain.call('chain_clock', { paused: true });
    await chain.call('chain_advance', 3);
    const answer = await sign(input);
    const tx_hash = await fixture.executes(async () => {
      const signature = await submit(answer);
      await chain.call('chain_advance', 3);
      return signature;
    });
    await events.wait(input.settlement_id, 'confirmed');
    if (isNamed) await observe(input, tx_hash);
    await chain.call('chain_fork', 4);
    await chain.call('chain_advance', 5);
    await events.wait(input.settlement_id, 'reopened');
    expect(await close(input)).toMatchObject({ status: 'reopened', tx_hash });
    await chain.call('chain_advance', EXPIRY_BLOCKS);
    await events.wait(input.settlement_id, 'failed');
    expect(await balanceOf(buyer)).toBe(PRICE);
  });

  test('a transaction that a fork drops, and that the vendor submits again, is finalized', async () => {
    const { chain, events } = fixture;
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    await chain.call('chain_clock', { paused: true });
    await chain.call('chain_advance', 3);
    const answer = await sign(input);
    await submit(answer);
    await chain.call('chain_advance', 3);
    await events.wait(input.settlement_id, 'confirmed');
    await chain.call('chain_fork', 4);
    await chain.call('chain_advance', 5);
    await events.wait(input.settlement_id, 'reopened');
    const tx_hash = await submit(answer);
    await chain.call('chain_clock', { paused: false });
    expect(await events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
    expect(await balanceOf(buyer)).toBe(0n);
  });
});

describe('closeOutgoing', () => {
  const CLOSED = { status: 'failed', generation: 0, tx_hash: null, failure: { code: 'payment_failed' } };

  test('before the bytes are signed it ends the payment for ever', async () => {
    const input = inputOf(await fixture.payer(PRICE));
    const first = await close(input);
    expect(first).toMatchObject({ ...CLOSED, object_id: input.settlement_id });
    expect(await close(input)).toEqual(first);
    expect(reasonOf(await sign(input))).toBe('closed');
    expect(await codeOf(observe({ ...input, payment_attempt_id: newId('evt') }))).toBe('not_found');
  });

  test('of a concurrent close and signature exactly one wins', async () => {
    for (let round = 0; round < 12; round += 1) {
      const input = inputOf(await fixture.payer(PRICE));
      const signing = sign(input);
      for (let calls = 0; calls < round; calls += 1) await intentOf(input);
      const progress = await close(input);
      expect(reasonOf(await signing)).toBe(progress.status === 'failed' ? 'closed' : 'signed');
      expect((await intentOf(input))?.status).toBe(progress.status);
    }
  });
});

describe('a payer of this deployment at its own facilitator', () => {
  const incoming = incomingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  const ofSigned = (transaction: string, memo: string): IncomingPayment => ({
    transaction,
    legs: [{ owner: vendor.owner.publicKey.toBase58(), amount: `${PRICE}` }],
    memos: [memo],
  });

  test('both intents have the same transaction', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const input = inputOf(buyer, { fee_payer: fixture.keys.feePayer.address, memo: 'offer-1' });
    const answer = await sign(input);
    const payment = ofSigned(bytesOf(answer), 'offer-1');
    expect(await incoming.check(payment)).toMatchObject({
      outcome: 'accepted',
      payer: fixture.authority,
      message_hash: 'message_hash' in answer ? answer.message_hash : '',
    });
    const received = newId('stl');
    const tx_hash = txHashOf(await incoming.submit(payment, received));
    for (const id of [received, input.settlement_id])
      expect(await fixture.events.wait(id, 'finalized')).toMatchObject({ tx_hash });
    const { rows } = await fixture.admin.query(
      'select i.kind from transactions t join intents i using (intent_id) where t.signature = $1 order by 1',
      [tx_hash],
    );
    expect(rows).toEqual([{ kind: 'incoming' }, { kind: 'outgoing' }]);
    expect(await balanceOf(buyer)).toBe(PRICE);
  });

  test('a message that the platform’s authority has signed, without an outgoing payment, is refused', async () => {
    const buyer = await fixture.payer(2n * PRICE);
    const delegate = keypairOf(fixture.keys.delegateAuthorities[0]!.secretKey);
    const payment = await incoming.signed(buyer, { delegate });
    expect(incomingReasonOf(await incoming.check(payment))).toBe('transaction_fee_payer_transferring_funds');
    expect(incomingReasonOf(await incoming.submit(payment))).toBe('transaction_fee_payer_transferring_funds');
  });

  test('neither intent ends while the bytes may be included, and both fail after the proof', async () => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer, { fee_payer: fixture.keys.feePayer.address, memo: 'offer-2' });
    await fixture.chain.call('chain_clock', { paused: true });
    const payment = ofSigned(bytesOf(await sign(input)), 'offer-2');
    const received = newId('stl');
    await incoming.withDroppedSends(async () => {
      txHashOf(await incoming.submit(payment, received));
      await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
      for (const id of [received, input.settlement_id]) await fixture.events.wait(id, 'failed');
    });
    expect(await balanceOf(buyer)).toBe(PRICE);
  });
});
