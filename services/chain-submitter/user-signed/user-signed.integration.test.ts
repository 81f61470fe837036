import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createCloseAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import pg from 'pg';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  instructionsOf,
  signChanged,
  withData,
} from '../../../test/support/fixtures/chain-submitter/prepared.ts';
import {
  keypairOf,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf, transfersOver } from '../../../test/support/fixtures/chain-submitter/transfers.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';

let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

const { ask, prepare, submit, cancel, feePayerLamports } = transfersOver(() => fixture);
/** Returns code and extras of a refusal. */
const outcomeOf = (work: Promise<unknown>): Promise<object> =>
  work.then(
    (answer) => ({ code: 'ok', answer }),
    (error: ServiceError) => ({ code: error.code, ...error.extras }),
  );
const someone = () => Keypair.generate().publicKey;
const minter = () => keypairOf(fixture.keys.mintAuthority.secretKey);

test('a withdrawal is prepared with empty signature slots, signed by its owner, and paid once however often it is submitted', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const prepared = await prepare(payer, to, 2_000_000n);
  const wire = Buffer.from(prepared.transaction, 'base64');
  expect(wire.subarray(1, 1 + 128).every((byte) => byte === 0)).toBe(true);
  expect(await ask('observePrepared', { transfer: 'withdrawal', object_id: prepared.id })).toBeNull();

  const answers = await Promise.all(Array.from({ length: 8 }, () => submit(prepared)));
  expect(new Set(answers.map(({ tx_hash }) => tx_hash)).size).toBe(1);
  const final = await fixture.events.wait(prepared.id, 'finalized');
  expect(final.tx_hash).toBe(answers[0]!.tx_hash);
  expect(new Set(fixture.events.names(prepared.id))).toEqual(new Set(['withdrawalProgressed']));
  expect(await submit(prepared)).toEqual(answers[0]);
  expect(await fixture.outside.balance(to)).toBe(2_000_000n);
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(3_000_000n);
  expect(await ask('observePrepared', { transfer: 'withdrawal', object_id: prepared.id })).toMatchObject({
    status: 'finalized',
    tx_hash: final.tx_hash,
  });
});

test('a withdrawal to a token account of the mint pays into that account', async () => {
  const [payer, payee] = await Promise.all([fixture.payer(5_000_000n), fixture.payer(1n)]);
  const account = fixture.outside.tokenAccount(payee.owner.publicKey);
  const prepared = await prepare(payer, account, 2_000_000n);
  expect(instructionsOf(prepared.transaction)).toHaveLength(1);
  await submit(prepared);
  await fixture.events.wait(prepared.id, 'confirmed');
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
});

test('after a new preparation only the newest bytes can be submitted, and an expired withdrawal can be prepared again', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const old = await prepare(payer, to, 1_000_000n);
  await until(
    () => fixture.chain.call<number>('chain_advance', 1),
    () => true,
  );
  const stale = await prepare(payer, to, 1_000_000n, { object_id: old.id });
  expect(await codeOf(submit(old))).toBe('validation_error');
  await fixture.chain.call('chain_advance', 160);
  expect(await codeOf(submit(stale))).toBe('conflict');
  const fresh = await prepare(payer, to, 1_000_000n, { object_id: old.id });
  expect(await codeOf(submit(fresh))).toBe('ok');
  await fixture.events.wait(old.id, 'confirmed');
  expect(await codeOf(prepare(payer, to, 1_000_000n, { object_id: old.id }))).toBe('conflict');
});

test('a submission of other bytes than the accepted ones is refused without a claim that no money moved', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const old = await prepare(payer, to, 1_000_000n);
  await fixture.chain.call('chain_advance', 1);
  const newest = await prepare(payer, to, 1_000_000n, { object_id: old.id });
  expect(await outcomeOf(submit(old))).toMatchObject({ code: 'validation_error', money_moved: 'no' });
  await submit(newest);
  const unknown = { code: 'conflict', money_moved: 'unknown' };
  expect(await outcomeOf(submit(old))).toMatchObject(unknown);
  const bytes = { preparation_id: old.id, transaction: Buffer.from('no transaction').toString('base64') };
  expect(await outcomeOf(ask('submitPrepared', bytes))).toMatchObject(unknown);
  await fixture.events.wait(old.id, 'confirmed');
  expect(await outcomeOf(submit(old))).toMatchObject(unknown);
  expect(await fixture.outside.balance(to)).toBe(1_000_000n);
});

test('a new preparation after a submission of the full balance is refused without a claim that no money moved', async () => {
  const payer = await fixture.payer(2_000_000n);
  const to = someone();
  const prepared = await prepare(payer, to, 2_000_000n);
  await submit(prepared);
  await fixture.events.wait(prepared.id, 'confirmed');
  expect(await outcomeOf(prepare(payer, to, 2_000_000n, { object_id: prepared.id }))).toMatchObject({
    code: 'conflict',
    money_moved: 'unknown',
  });
  expect(await outcomeOf(prepare(payer, to, 2_000_000n))).toMatchObject({
    code: 'insufficient_funds',
    money_moved: 'no',
  });
});

test('a submission that is refused while another of the same bytes commits gets the other’s answer', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const prepared = await prepare(payer, to, 1_000_000n);
  const client = new pg.Client({ connectionString: fixture.database.adminUrl });
  await client.connect();
  try {
    // The state of the other call's commit before it is visible.
    const wire = Buffer.from(signChanged(prepared.transaction, prepared.owner), 'base64');
    await client.query('begin');
    await client.query(
      `update chain_submitter.preparations set status = 'submitted', signature = $2, submitted_message = $3
       where preparation_id = $1`,
      [prepared.id, '5'.repeat(80), wire.subarray(1 + 2 * 64)],
    );
    await fixture.chain.call('chain_advance', 160);
    const refused = submit(prepared);
    await until(
      () => waitingForLocks(fixture.admin),
      (statements) => statements > 0,
    );
    await client.query('commit');
    expect(await refused).toEqual({ tx_hash: '5'.repeat(80) });
  } finally {
    await client.end();
  }
});

test('a cancelled withdrawal is neither submitted nor prepared again, and a late cancel returns the progress', async () => {
  const payer = await fixture.payer(5_000_000n);
  const to = someone();
  const prepared = await prepare(payer, to, 1_000_000n);
  expect([await cancel(prepared), await cancel(prepared)]).toEqual([null, null]);
  expect(await codeOf(submit(prepared))).toBe('conflict');
  expect(await codeOf(prepare(payer, to, 1_000_000n, { object_id: prepared.id }))).toBe('conflict');
  expect(fixture.events.of(prepared.id)).toEqual([]);

  const other = await prepare(payer, to, 1_000_000n);
  const { tx_hash } = await submit(other);
  expect(await cancel(other)).toMatchObject({ object_id: other.id, tx_hash });
  await fixture.events.wait(other.id, 'finalized');
});

test('of 24 concurrent pairs of cancel and submit one wins each, and the balance agrees with it', async () => {
  const payer = await fixture.payer(24_000_000n);
  const payee = await fixture.payer(1n);
  const all = await Promise.all(
    Array.from({ length: 24 }, () => prepare(payer, payee.owner.publicKey, 1_000_000n)),
  );
  const ends = await Promise.all(
    all.map(async (prepared, index) => {
      const [cancelled, submitted] = await Promise.all(
        index % 2 === 0
          ? [cancel(prepared), codeOf(submit(prepared))]
          : [
              submit(prepared)
                .then(
                  () => 0,
                  () => 0,
                )
                .then(() => cancel(prepared)),
              codeOf(submit(prepared)),
            ],
      );
      expect(submitted).toBe(cancelled === null ? 'conflict' : 'ok');
      return submitted;
    }),
  );
  const paid = all.filter((_, index) => ends[index] === 'ok');
  await Promise.all(paid.map(({ id }) => fixture.events.wait(id, 'confirmed')));
  expect(paid.length).toBeGreaterThanOrEqual(12);
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(1n + 1_000_000n * BigInt(paid.length));
});

test('rule 12: a copy that the owner broadcasts at their own cost is adopted, and nothing is paid twice', async () => {
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const own = await fixture.include(instructionsOf(prepared.transaction), [minter(), payer.owner]);
  expect(await submit(prepared)).toEqual({ tx_hash: own });
  expect((await fixture.events.wait(prepared.id, 'finalized')).tx_hash).toBe(own);
  expect(await submit(prepared)).toEqual({ tx_hash: own });
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
});

test('a transaction of a stranger with the reference that did not move the money is not adopted', async () => {
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const transfer = instructionsOf(prepared.transaction).at(-1)!;
  await fixture.include(
    [withData(transfer, (data) => data.writeBigUInt64LE(1n, 1))],
    [minter(), payer.owner],
  );
  await submit(prepared);
  await fixture.events.wait(prepared.id, 'confirmed');
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_002n);
});

test('a database that was restored to an earlier state pays nothing twice', async () => {
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const { tx_hash } = await submit(prepared);
  await fixture.events.wait(prepared.id, 'finalized');
  const intentId = `withdrawal:${prepared.id}`;
  await fixture.admin.query('delete from transactions where intent_id = $1', [intentId]);
  await fixture.admin.query('delete from intents where intent_id = $1', [intentId]);
  await fixture.admin.query('delete from preparations where preparation_id = $1', [prepared.id]);
  const again = await prepare(payer, payee.owner.publicKey, 2_000_000n, { object_id: prepared.id });
  expect(await submit(again)).toEqual({ tx_hash });
  expect(await fixture.outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
});

test('a balance that is too small is reported before the owner signs, and one that shrinks afterwards costs no fee', async () => {
  const payer = await fixture.payer(2_000_000n);
  const payee = await fixture.payer(1n);
  expect(await codeOf(prepare(payer, payee.owner.publicKey, 2_000_001n))).toBe('insufficient_funds');
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  const account = (owner: PublicKey) => fixture.outside.tokenAccount(owner);
  await fixture.include(
    [
      createTransferInstruction(
        account(payer.owner.publicKey),
        account(payee.owner.publicKey),
        payer.owner.publicKey,
        1n,
      ),
    ],
    [minter(), payer.owner],
  );
  const before = await feePayerLamports();
  expect(await codeOf(submit(prepared))).toBe('insufficient_funds');
  expect(fixture.events.of(prepared.id)).toEqual([]);
  expect(await feePayerLamports()).toBe(before);
});

test('the platform pays for at most three token accounts, and for none of them a second time', async () => {
  const payer = await fixture.payer(10_000_000n);
  const payees = Array.from({ length: 4 }, () => Keypair.generate());
  const results: string[] = [];
  for (const { publicKey } of payees) {
    const prepared = await prepare(payer, publicKey, 1_000_000n).catch((error) => error);
    results.push(prepared instanceof ServiceError ? prepared.code : await codeOf(submit(prepared)));
    if (!(prepared instanceof ServiceError)) await fixture.events.wait(prepared.id, 'confirmed');
  }
  expect(results).toEqual(['ok', 'ok', 'ok', 'conflict']);
  // The account is emptied and closed for its rent, then requested again.
  const [first] = payees as [Keypair];
  const [from, to] = [first.publicKey, payer.owner.publicKey].map((owner) =>
    fixture.outside.tokenAccount(owner),
  );
  await fixture.include(
    [
      createTransferInstruction(from!, to!, first.publicKey, 1_000_000n),
      createCloseAccountInstruction(from!, first.publicKey, first.publicKey),
    ],
    [minter(), first],
  );
  expect(await codeOf(prepare(payer, first.publicKey, 1_000_000n))).toBe('conflict');
});

const refundOf = (settlement_id: string | null = newId('stl')) => ({
  transfer: 'refund' as const,
  object_id: newId('ref'),
  settlement_id,
});

test('two equal refunds of a settlement are two transfers, and the payer’s closed token account is created again', async () => {
  const vendor = await fixture.payer(5_000_000n);
  const consumer = someone();
  const settlementId = newId('stl');
  const one = await prepare(vendor, consumer, 1_000_000n, refundOf(settlementId));
  const two = await prepare(vendor, consumer, 1_000_000n, refundOf(settlementId));
  const first = await submit(one);
  // The first refund creates the account, which is paid for once. A new preparation finds it.
  expect(await codeOf(submit(two))).toBe('conflict');
  const again = await prepare(vendor, consumer, 1_000_000n, {
    ...refundOf(settlementId),
    object_id: two.id,
  });
  expect(instructionsOf(again.transaction)).toHaveLength(1);
  const second = await submit(again);
  expect(first.tx_hash).not.toBe(second.tx_hash);
  await Promise.all([one, two].map(({ id }) => fixture.events.wait(id, 'finalized')));
  expect(fixture.events.names(one.id)[0]).toBe('refundProgressed');
  expect(await fixture.outside.balance(consumer)).toBe(2_000_000n);
});

test('a refund from a vault without a private key is refused here', async () => {
  const payer = await fixture.payer(1n);
  const [vault] = PublicKey.findProgramAddressSync([Buffer.from('vault')], someone());
  const asked = prepare(payer, someone(), 1n, { ...refundOf(), owner: vault.toBase58() });
  expect(await codeOf(asked)).toBe('conflict');
});

test('the operator’s pause also holds back user-signed transactions', async () => {
  const payer = await fixture.payer(5_000_000n);
  const prepared = await prepare(payer, someone(), 1_000_000n);
  await fixture.admin.query('update settings set paused = true');
  const paused = await codeOf(submit(prepared));
  await fixture.admin.query('update settings set paused = false');
  expect([paused, await codeOf(submit(prepared))]).toEqual(['service_unavailable', 'ok']);
});

test('a transaction that was co-signed and dropped until it expired has failed and is never signed again', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  try {
    await submit(prepared);
    await chain.call('chain_advance', 200);
    const { failure } = await events.wait(prepared.id, 'failed');
    expect(failure?.code).toBe('payment_failed');
  } finally {
    await chain.call('chain_fault');
  }
  const again = prepare(payer, payee.owner.publicKey, 2_000_000n, { object_id: prepared.id });
  expect(await codeOf(again)).toBe('conflict');
  expect(await outside.balance(payee.owner.publicKey)).toBe(1n);
  expect(events.of(prepared.id).map(({ status }) => status)).toEqual(['signed', 'failed']);
});

test('rule 14: a withdrawal that a fork removes is reopened and included again with the same bytes', async () => {
  const { chain, events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const payee = await fixture.payer(1n);
  await chain.call('chain_clock', { paused: true });
  // The wallets themselves must survive the fork.
  await chain.call('chain_advance', 3);
  try {
    const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
    const { tx_hash } = await submit(prepared);
    // Slots pass one at a time until the broadcast bytes are included. The fork then removes
    // exactly those slots.
    await waitFor(
      async () => {
        await chain.call('chain_advance', 1);
        return events.of(prepared.id).map(({ status }) => status);
      },
      (statuses) => statuses.includes('confirmed'),
      45_000,
      50,
    );
    const { slot } = await events.wait(prepared.id, 'confirmed');
    const { slot: newest } = await chain.call<{ slot: number }>('chain_clock');
    await chain.call('chain_fork', newest - slot! + 1);
    await chain.call('chain_advance', 3);
    await events.wait(prepared.id, 'reopened');
    await chain.call('chain_clock', { paused: false });
    expect((await events.wait(prepared.id, 'finalized')).tx_hash).toBe(tx_hash);
    expect(await outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
  } finally {
    await chain.call('chain_clock', { paused: false });
  }
});
