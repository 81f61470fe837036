import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApproveCheckedInstruction, createCloseAccountInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { newId } from '../../../shared/lib/id.ts';
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
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf } from '../../../test/support/fixtures/chain-submitter/transfers.ts';

let fixture: SubmitterFixture;
let vendor: Payer;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
  vendor = await fixture.payer(1n);
});
afterAll(() => fixture.stop());

const { ask, signed, check, submit, hashOf, addPaid, countSigned, withDroppedSends } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const balanceOf = (payer: Payer) => fixture.outside.balance(payer.owner.publicKey);
const failedOnChain = async (): Promise<number> =>
  (await fixture.chain.call<{ failed: number }>('chain_stats')).failed;
const minter = () => keypairOf(fixture.keys.mintAuthority.secretKey);

describe('checkIncoming', () => {
  test('reports what the bytes do, writes nothing, and returns no signature', async () => {
    const buyer = await fixture.payer(PRICE);
    const checked = await check(await signed(buyer));
    expect(checked).toEqual({
      outcome: 'accepted',
      message_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      payer: buyer.owner.publicKey.toBase58(),
      source_account: fixture.outside.tokenAccount(buyer.owner.publicKey).toBase58(),
      fee_payer: fixture.keys.feePayer.address,
      lamports: 10_001,
    });
    const { rows } = await fixture.admin.query("select from intents where kind = 'incoming'");
    expect(rows).toEqual([]);
    expect((await ask('getFeePayers', {})).fee_payers).toEqual([fixture.keys.feePayer.address]);
  });

  test.each<[string, () => Promise<IncomingPayment>, string]>([
    [
      'another memo',
      async () => ({ ...(await signed(await fixture.payer(PRICE))), memos: ['x'] }),
      'memo_mismatch',
    ],
    [
      'a payee without a token account',
      async () =>
        signed(await fixture.payer(PRICE), {
          legs: [{ owner: Keypair.generate().publicKey, amount: PRICE }],
        }),
      'payee_not_ready',
    ],
    [
      'a balance that is too small',
      async () => signed(await fixture.payer(PRICE - 1n)),
      'insufficient_funds',
    ],
    [
      'a blockhash that the chain does not know',
      async () => signed(await fixture.payer(PRICE), { blockhash: Keypair.generate().publicKey.toBase58() }),
      'blockhash_expired',
    ],
    [
      'a source that was closed',
      async () => {
        const buyer = await fixture.payer(0n, 0n);
        const payment = await signed(buyer);
        const { publicKey } = buyer.owner;
        const close = createCloseAccountInstruction(
          fixture.outside.tokenAccount(publicKey),
          publicKey,
          publicKey,
        );
        await fixture.include([close], [minter(), buyer.owner]);
        return payment;
      },
      'insufficient_funds',
    ],
    [
      'bytes that are no transaction',
      async () => ({ ...(await signed(await fixture.payer(1n))), transaction: 'AAAA' }),
      'transaction_could_not_be_decoded',
    ],
  ])('refuses %s, and submitIncoming refuses it too', async (_name, paymentOf, reason) => {
    const payment = await paymentOf();
    const settlementId = newId('stl');
    expect([reasonOf(await check(payment)), reasonOf(await submit(payment, settlementId))]).toEqual([
      reason,
      reason,
    ]);
    expect(await countSigned(settlementId)).toBe(0);
  });

  test('a provider that does not answer is no refusal', async () => {
    const payment = await signed(await fixture.payer(PRICE));
    await fixture.chain.call('chain_fault', { method: 'simulateTransaction', kind: 'drop' });
    try {
      expect(await codeOf(check(payment))).toBe('service_unavailable');
    } finally {
      await fixture.chain.call('chain_fault');
    }
  });
});

describe('submitIncoming', () => {
  test('a payment of the stock client is confirmed and finalized', async () => {
    const buyer = await fixture.payer(PRICE);
    const before = await balanceOf(vendor);
    const settlementId = newId('stl');
    const payment = await signed(buyer);
    expect(reasonOf(await check(payment))).toBe('accepted');
    const tx_hash = txHashOf(await submit(payment, settlementId));
    await fixture.events.wait(settlementId, 'finalized');
    expect(fixture.events.names(settlementId)).toEqual(['settleProgressed', 'settleProgressed']);
    expect(fixture.events.of(settlementId)).toMatchObject([
      { status: 'confirmed', generation: 1, tx_hash },
      { status: 'finalized', generation: 1, tx_hash },
    ]);
    expect([await balanceOf(buyer), (await balanceOf(vendor)) - before]).toEqual([0n, PRICE]);
    // A simulation is refused now, and that is no reason to refuse the payment.
    expect(reasonOf(await check(payment))).toBe('accepted');
  });

  test('a payment with a split pays both', async () => {
    const buyer = await fixture.payer(PRICE);
    const feeWallet = new PublicKey(fixture.keys.feeWallet.address);
    const before = await fixture.outside.balance(feeWallet);
    const settlementId = newId('stl');
    const legs = [
      { owner: vendor.owner.publicKey, amount: PRICE - 500n },
      { owner: feeWallet, amount: 500n },
    ];
    await submit(await signed(buyer, { legs }), settlementId);
    await fixture.events.wait(settlementId, 'finalized');
    expect([await balanceOf(buyer), (await fixture.outside.balance(feeWallet)) - before]).toEqual([0n, 500n]);
  });

  test('the same payload twice, 20 times at once, and with other bytes in our slot is one transaction', async () => {
    const buyer = await fixture.payer(10n * PRICE);
    const payment = await signed(buyer);
    const settlementId = newId('stl');
    const wire = Buffer.from(payment.transaction, 'base64');
    wire.fill(7, 1, 65);
    const altered = { ...payment, transaction: wire.toString('base64') };
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => submit(index % 2 === 0 ? payment : altered, settlementId)),
    );
    answers.push(await submit(altered, settlementId));
    await fixture.events.wait(settlementId, 'finalized');
    answers.push(await submit(payment, settlementId));
    expect(new Set(answers.map(txHashOf)).size).toBe(1);
    expect(await countSigned(settlementId)).toBe(1);
    expect(await balanceOf(buyer)).toBe(9n * PRICE);
    // Another settlement of the message: the record of the first one was lost.
    expect(reasonOf(await submit(payment))).toBe('submitted');
    expect(await balanceOf(buyer)).toBe(9n * PRICE);
  });

  test('20 equal submissions of all of a balance are one transaction', async () => {
    const payment = await signed(await fixture.payer(PRICE));
    const settlementId = newId('stl');
    const answers = await Promise.all(Array.from({ length: 20 }, () => submit(payment, settlementId)));
    expect(new Set(answers.map(txHashOf)).size).toBe(1);
  });

  test('of 64 payloads on a balance for ten, ten are submitted and none fails on chain', async () => {
    const buyer = await fixture.payer(10n * PRICE);
    await addPaid(buyer, 10);
    const failed = await failedOnChain();
    const payments = await Promise.all(
      Array.from({ length: 64 }, async () => ({ payment: await signed(buyer), id: newId('stl') })),
    );
    const answers = await Promise.all(
      payments.map(async ({ payment, id }) => ({ id, reason: reasonOf(await submit(payment, id)) })),
    );
    const paid = answers.filter(({ reason }) => reason === 'submitted');
    expect(paid).toHaveLength(10);
    expect(answers.filter(({ reason }) => reason === 'insufficient_funds')).toHaveLength(54);
    await Promise.all(paid.map(({ id }) => fixture.events.wait(id, 'finalized')));
    expect([await balanceOf(buyer), (await failedOnChain()) - failed]).toEqual([0n, 0]);
  });

  test('payments one after the other use a balance up to its end', async () => {
    const buyer = await fixture.payer(5n * PRICE);
    await addPaid(buyer, 2);
    for (let count = 0; count < 5; count += 1) txHashOf(await submit(await signed(buyer)));
    expect(reasonOf(await submit(await signed(buyer)))).toBe('insufficient_funds');
  });

  test('a payment that the balance contains already is not held of it again', async () => {
    const { admin, events } = fixture;
    const buyer = await fixture.payer(2n * PRICE);
    const ids = [newId('stl'), newId('stl')] as const;
    await admin.query(`
      create function refuse() returns trigger language plpgsql as
        $$ begin raise exception 'refused'; end $$;
      create trigger refuse before update on intents for each row when (new.status = 'confirmed')
        execute function refuse()`);
    try {
      txHashOf(await submit(await signed(buyer), ids[0]));
      await until(
        () => balanceOf(buyer),
        (balance) => balance === PRICE,
      );
      // The first payment is on the chain, and its confirmation cannot be recorded.
      expect(reasonOf(await submit(await signed(buyer), ids[1]))).toBe('submitted');
    } finally {
      await admin.query('drop trigger refuse on intents; drop function refuse');
    }
    await Promise.all(ids.map((id) => events.wait(id, 'finalized')));
  });

  test('bytes that are not confirmed hold the balance', async () => {
    const buyer = await fixture.payer(PRICE);
    const [first, second] = [await signed(buyer), await signed(buyer)];
    await withDroppedSends(async () => {
      txHashOf(await submit(first));
      expect(reasonOf(await submit(second))).toBe('insufficient_funds');
      const signing = await call(await fixture.operatorBus(), chainSubmitter, 'getSigning', {});
      expect(signing.fee_payers[0]?.live).toBeGreaterThan(0);
    });
  });

  test('a delegate pays within its allowance', async () => {
    const buyer = await fixture.payer(5n * PRICE, 0n);
    const delegate = Keypair.generate();
    const { mint, tokenAccount } = fixture.outside;
    const { publicKey: owner } = buyer.owner;
    const approve = createApproveCheckedInstruction(
      ...([tokenAccount(owner), mint, delegate.publicKey, owner, 2n * PRICE, 6] as const),
    );
    await fixture.include([approve], [minter(), buyer.owner]);
    const payments = await Promise.all([1, 2, 3].map(() => signed(buyer, { delegate })));
    const answers = await Promise.all(payments.map((payment) => submit(payment)));
    expect(answers.map(reasonOf).sort()).toEqual(['insufficient_funds', 'submitted', 'submitted']);
  });

  test('a refusal is final', async () => {
    const buyer = await fixture.payer(PRICE);
    const [payment, settlementId] = [await signed(buyer), newId('stl')];
    await fixture.admin.query('update settings set paused = true');
    expect(reasonOf(await submit(payment, settlementId))).toBe('signing_paused');
    await fixture.admin.query('update settings set paused = false');
    expect(reasonOf(await submit(payment, settlementId))).toBe('signing_paused');
    const message_hash = await hashOf(payment);
    expect(await ask('closeIncoming', { message_hash, settlement_id: settlementId })).toMatchObject({
      status: 'failed',
      failure: { code: 'payment_failed' },
    });
    expect(await countSigned(settlementId)).toBe(0);
    txHashOf(await submit(await signed(buyer)));
  });

  test('bytes that the provider accepts without an answer are confirmed', async () => {
    const settlementId = newId('stl');
    const payment = await signed(await fixture.payer(PRICE));
    await fixture.chain.call('chain_fault', {
      method: 'sendTransaction',
      kind: 'timeout_after_accept',
      count: 1,
    });
    const tx_hash = txHashOf(await submit(payment, settlementId));
    expect((await fixture.events.wait(settlementId, 'confirmed')).tx_hash).toBe(tx_hash);
  });

  test('rule 11: bytes that never reach the chain fail after the proof of their expiry, and are not signed again', async () => {
    const buyer = await fixture.payer(PRICE);
    const settlementId = newId('stl');
    const payment = await signed(buyer);
    await withDroppedSends(async () => {
      const tx_hash = txHashOf(await submit(payment, settlementId));
      expect(await fixture.events.wait(settlementId, 'signed')).toMatchObject({ tx_hash });
      await fixture.chain.call('chain_advance', 220);
      const failed = await fixture.events.wait(settlementId, 'failed');
      // Without a slot: its lamports are not spent.
      expect(failed).toMatchObject({
        ...{ generation: 1, tx_hash, slot: null },
        failure: { code: 'payment_failed' },
      });
    });
    expect(await countSigned(settlementId)).toBe(1);
    expect(await balanceOf(buyer)).toBe(PRICE);
    // Its hold has ended with it.
    txHashOf(await submit(await signed(buyer)));
  });

  test('rule 14: a payment that a fork removes is reopened and included again with the same bytes', async () => {
    const { chain, events } = fixture;
    const buyer = await fixture.payer(PRICE);
    const settlementId = newId('stl');
    await chain.call('chain_clock', { paused: true });
    // The wallet itself must survive the fork.
    await chain.call('chain_advance', 3);
    try {
      const payment = await signed(buyer);
      const answer = await fixture.executes(() => submit(payment, settlementId));
      await chain.call('chain_advance', 2);
      const { tx_hash } = await events.wait(settlementId, 'confirmed');
      expect(tx_hash).toBe(txHashOf(answer));
      await chain.call('chain_fork', 3);
      await chain.call('chain_advance', 3);
      await events.wait(settlementId, 'reopened');
      await chain.call('chain_clock', { paused: false });
      expect((await events.wait(settlementId, 'finalized')).tx_hash).toBe(tx_hash);
      expect(await balanceOf(buyer)).toBe(0n);
    } finally {
      await chain.call('chain_clock', { paused: false });
    }
  });
});

describe('closeIncoming', () => {
  const CLOSED = { status: 'failed', generation: 0, tx_hash: null, failure: { code: 'payment_failed' } };

  test('before a submission it ends the payment for ever', async () => {
    const payment = await signed(await fixture.payer(PRICE));
    const [settlement_id, message_hash] = [newId('stl'), await hashOf(payment)];
    const first = await ask('closeIncoming', { message_hash, settlement_id });
    expect(first).toMatchObject({ ...CLOSED, object_id: settlement_id });
    expect(await ask('closeIncoming', { message_hash, settlement_id })).toEqual(first);
    expect(reasonOf(await submit(payment, settlement_id))).toBe('closed');
    expect(reasonOf(await submit(payment))).toBe('closed');
    expect(await countSigned(settlement_id)).toBe(0);
  });

  test('after a submission it returns the progress, also to a settlement whose record was lost', async () => {
    const payment = await signed(await fixture.payer(PRICE));
    const [settlement_id, message_hash] = [newId('stl'), await hashOf(payment)];
    const tx_hash = txHashOf(await submit(payment, settlement_id));
    await fixture.events.wait(settlement_id, 'finalized');
    const progress = { object_id: settlement_id, status: 'finalized', tx_hash };
    expect(await ask('closeIncoming', { message_hash, settlement_id })).toMatchObject(progress);
    const other = newId('stl');
    expect(await ask('closeIncoming', { message_hash, settlement_id: other })).toMatchObject({
      ...{ ...progress, object_id: other },
    });
    await fixture.events.wait(other, 'finalized');
  });

  test('of a concurrent close and submission exactly one wins', async () => {
    for (let round = 0; round < 8; round += 1) {
      const payment = await signed(await fixture.payer(PRICE));
      const [settlement_id, message_hash] = [newId('stl'), await hashOf(payment)];
      // A payment that was simulated just now is signed within milliseconds.
      await check(payment);
      const submitting = submit(payment, settlement_id);
      // Each round waits for some more calls of the service before it closes the payment.
      for (let calls = 0; calls < round; calls += 1) await ask('getFeePayers', {});
      const progress = await ask('closeIncoming', { message_hash, settlement_id });
      const answer = await submitting;
      expect(reasonOf(answer)).toBe(progress.status === 'failed' ? 'closed' : 'submitted');
      expect(await countSigned(settlement_id)).toBe(progress.status === 'failed' ? 0 : 1);
    }
  });
});
