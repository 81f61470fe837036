import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair, SystemProgram } from '@solana/web3.js';
import bs58 from 'bs58';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import { newId } from '../../../shared/lib/id.ts';
import { laneOf } from '../../../shared/lib/lane.ts';
import {
  keypairOf,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { codeOf, transfersOver } from '../../../test/support/fixtures/chain-submitter/transfers.ts';

/**
 * Follows the steps of docs/operations.md, Fee payer: add the next key, make it pay, remove the old
 * key.
 */
let fixture: SubmitterFixture;
const next = Keypair.generate();
const keyOf = (number: number, secretKey: string) => `${number}:${secretKey}`;
const [oldKey, nextKey] = [
  () => keyOf(1, fixture.keys.feePayer.secretKey),
  () => keyOf(2, bs58.encode(next.secretKey)),
];
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  const from = keypairOf(fixture.keys.feePayer.secretKey);
  const lamports = 1_000_000_000;
  const funding = SystemProgram.transfer({ fromPubkey: from.publicKey, toPubkey: next.publicKey, lamports });
  await fixture.include([funding], [from]);
});
afterAll(() => fixture.stop());

const { prepare, submit } = transfersOver(() => fixture);
const shown = async () =>
  call(await fixture.operatorBus(), chainSubmitter, 'getSigning', {}, { timeoutMs: 10_000 });
/** Returns the fee payer of an included transaction. */
const payerOf = async (signature: string) => {
  const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  const found = await fixture.chain.call<{ transaction: { message: { accountKeys: string[] } } }>(
    'getTransaction',
    signature,
    options,
  );
  return found.transaction.message.accountKeys[0]!;
};

test('a fee payer is replaced: transactions that the old key signed are included, and prepared ones are co-signed or prepared again', async () => {
  const { events, keys, outside } = fixture;
  const [old, to] = [keys.feePayer.address, Keypair.generate().publicKey];
  const payers = await Promise.all([1, 2, 3, 4].map(() => fixture.payer(5_000_000n)));

  // 1. The next key is configured and pays for nothing yet.
  const first = await fixture.start({ FEE_PAYER_KEYS: `${oldKey()},${nextKey()}` });
  const job = await fixture.settle(payers[0]!, fixture.quote());
  expect(await payerOf((await events.wait(job.settlement_id, 'finalized')).tx_hash!)).toBe(old);
  expect((await shown()).fee_payers).toMatchObject([
    { number: 1, address: old, live: 0 },
    { number: 2, address: next.publicKey.toBase58(), lamports: 1_000_000_000, live: 0, prepared: 0 },
  ]);
  const [soon, late] = [await prepare(payers[1]!, to, 1_000_000n), await prepare(payers[2]!, to, 1_000_000n)];
  expect((await shown()).fee_payers[0]).toMatchObject({ address: old, prepared: 2 });
  await first.stop();

  // 2. The next key pays. The old key co-signs what was prepared with it.
  const second = await fixture.start({ FEE_PAYER_KEYS: `${nextKey()},${oldKey()}` });
  const { tx_hash } = await submit(soon);
  await events.wait(soon.id, 'confirmed');
  expect(await payerOf(tx_hash)).toBe(old);
  const quote = fixture.quote();
  const paid = await fixture.settle(payers[1]!, quote);
  expect(await payerOf((await events.wait(paid.settlement_id, 'confirmed')).tx_hash!)).toBe(
    next.publicKey.toBase58(),
  );
  await second.stop();

  // The old key signs a payment, and the worker is killed before it broadcasts the bytes.
  const dying = await fixture.start({ FEE_PAYER_KEYS: oldKey() }, 'submitter.afterCommit=crash');
  const unsent = await fixture.settle(payers[3]!, fixture.quote());
  await dying.exited;

  // 3. The old key is removed. The signed bytes are broadcast, and nothing that names the old key
  // is co-signed.
  const third = await fixture.start({ FEE_PAYER_KEYS: nextKey() });
  const changes = await events.wait(unsent.settlement_id, 'confirmed');
  expect([changes.generation, await payerOf(changes.tx_hash!)]).toEqual([1, old]);
  expect(await codeOf(submit(late))).toBe('conflict');
  const again = await prepare(payers[2]!, to, 1_000_000n, { object_id: late.id });
  const resubmitted = await submit(again);
  await events.wait(late.id, 'confirmed');
  expect(await payerOf(resubmitted.tx_hash)).toBe(next.publicKey.toBase58());
  expect(await outside.balance(to)).toBe(2_000_000n);
  await events.wait(unsent.settlement_id, 'finalized');
  // The old key is shown until its prepared transaction can no longer be included.
  await fixture.chain.call('chain_advance', 200);
  const { fee_payers } = await until(shown, (status) => status.fee_payers.length === 1);
  expect(fee_payers.map(({ number }) => number)).toEqual([2]);
  await third.stop();
});

test('FEE_PAYERS_IN_USE=2: two keys pay, and the lane of the paying account decides which', async () => {
  const running = await fixture.start({
    FEE_PAYER_KEYS: `${oldKey()},${nextKey()}`,
    FEE_PAYERS_IN_USE: '2',
  });
  const accountOf = (remainder: number): string => {
    for (;;) {
      const account = newId('acct');
      if (laneOf(account) % 2 === remainder) return account;
    }
  };
  const paidBy = [fixture.keys.feePayer.address, next.publicKey.toBase58()];
  const accounts = [accountOf(0), accountOf(1), accountOf(1), accountOf(0)];
  const payers = await Promise.all(
    accounts.map(async (account_id) => ({ ...(await fixture.payer(5_000_000n)), account_id })),
  );
  const found = await Promise.all(
    payers.map(async (payer) => {
      const { settlement_id } = await fixture.settle(payer, fixture.quote());
      return payerOf((await fixture.events.wait(settlement_id, 'confirmed')).tx_hash!);
    }),
  );
  expect(found).toEqual([paidBy[0], paidBy[1], paidBy[1], paidBy[0]]);
  await running.stop();
});

test('a retired authority signs nothing, and a payment that it signed before its record was lost is adopted', async () => {
  const { events, outside, admin } = fixture;
  const [payer, other] = await Promise.all([fixture.payer(5_000_000n), fixture.payer(5_000_000n)]);
  const first = await fixture.start();
  const quote = fixture.quote();
  const job = await fixture.settle(payer, quote);
  const { tx_hash } = await events.wait(job.settlement_id, 'finalized');
  await first.stop();
  await admin.query('delete from transactions where signature = $1', [tx_hash]);
  await admin.query('delete from intents where object_id = $1', [job.settlement_id]);

  const authority = Keypair.generate();
  const without = await fixture.start({
    DELEGATE_AUTHORITY_KEYS: keyOf(2, bs58.encode(authority.secretKey)),
  });
  await fixture.settle(payer, quote, job);
  expect((await events.wait(job.settlement_id, 'finalized', 2)).tx_hash).toBe(tx_hash);
  const refused = await fixture.settle(other, fixture.quote());
  expect((await events.wait(refused.settlement_id, 'failed')).failure?.code).toBe('delegation_inactive');
  expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  expect(await outside.balance(other.owner.publicKey)).toBe(5_000_000n);
  const owner = payer.owner.publicKey.toBase58();
  const { snapshots } = await call(fixture.walletBus, chainSubmitter, 'observeWallets', { owners: [owner] });
  expect(snapshots).toMatchObject([{ delegate: fixture.authority, served: false }]);
  await without.stop();

  // Both authorities are configured. The one that the owner approved pays, whatever the job names.
  const both = `2:${bs58.encode(authority.secretKey)},1:${fixture.keys.delegateAuthorities[0]!.secretKey}`;
  await fixture.start({ DELEGATE_AUTHORITY_KEYS: both });
  for (const named of [authority.publicKey, Keypair.generate().publicKey]) {
    const again = await fixture.settle(other, fixture.quote(), { authority: named.toBase58() });
    await events.wait(again.settlement_id, 'confirmed');
  }
  expect(await outside.balance(other.owner.publicKey)).toBe(3_000_000n);
});
