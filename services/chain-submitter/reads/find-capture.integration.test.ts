import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction } from '@solana/spl-token';
import { PublicKey } from '@solana/web3.js';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import { newId } from '../../../shared/lib/id.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  keypairOf,
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { captureTerms } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';
import { referenceOf } from '../ledger/reference.ts';

/** The query that settlement makes before it ends an authorization whose capture may be lost. */

const HAS = 5_000_000n;
let fixture: SubmitterFixture;
let service: ServiceProcess;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  service = await fixture.start();
});
afterAll(() => fixture.stop());

const find = async (
  { quote_token }: { quote_token: string },
  { owner }: Payer,
  { account_id, payment_attempt_id } = { account_id: newId('acct'), payment_attempt_id: newId('evt') },
) =>
  (
    await call(fixture.settlementBus, chainSubmitter, 'findCapture', {
      quote_token,
      owner: owner.publicKey.toBase58(),
      account_id,
      payment_attempt_id,
    })
  ).amount;
const ceiling = () => fixture.quote({ capture: captureTerms() });
/** The state after a restore: the capture is on the chain, and this service has no record of it. */
const loseRecordOf = async (job: { account_id: string; payment_attempt_id: string }) => {
  const intentId = `settle:${job.account_id}:${job.payment_attempt_id}`;
  await fixture.admin.query('delete from transactions where intent_id = $1', [intentId]);
  await fixture.admin.query('delete from intents where intent_id = $1', [intentId]);
};

test('rule 21: a capture whose record is lost is found with its amount, and adopted', async () => {
  const [payer, other] = [await fixture.payer(HAS), await fixture.payer(HAS)];
  const [quote, unused] = [ceiling(), ceiling()];
  expect(await find(quote, payer)).toBeNull();
  const job = await fixture.settle(payer, quote, { capture_amount: '120000' });
  await fixture.events.wait(job.settlement_id, 'confirmed');
  await loseRecordOf(job);
  expect(await find(quote, payer)).toBe('120000');
  expect(await find(quote, other)).toBeNull();
  expect(await find(unused, payer)).toBeNull();
  // As settlement sends it then: old, so every provider is asked.
  const accepted_at = new Date(Date.parse(job.accepted_at) - 3_600_000).toISOString();
  await fixture.send(fixture.settlementBus, 'settle', { ...job, accepted_at });
  await waitUntil(async () => {
    const { rows } = await fixture.admin.query('select status from intents where object_id = $1', [
      job.settlement_id,
    ]);
    return ['confirmed', 'finalized'].includes(rows[0]?.status);
  });
  expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(HAS - 120_000n);
});

test('a transaction of the payer under the reference is no capture', async () => {
  const payer = await fixture.payer(HAS);
  const quote = ceiling();
  const { mint, tokenAccount } = fixture.outside;
  const { publicKey } = payer.owner;
  const pay = (to: PublicKey, micro: bigint) =>
    createTransferCheckedInstruction(tokenAccount(publicKey), mint, to, publicKey, micro, 6);
  const payout = await fixture.payer(1n);
  const own = fixture.quote({ capture: captureTerms(), payout: payout.owner.publicKey });
  const net = pay(tokenAccount(payout.owner.publicKey), 2000n);
  const reference = new PublicKey(referenceOf('test', own.quote_id));
  net.keys.push({ pubkey: reference, isSigner: false, isWritable: false });
  const fee = pay(tokenAccount(new PublicKey(fixture.keys.feeWallet.address)), 10_000n);
  await fixture.include([net, fee], [keypairOf(fixture.keys.mintAuthority.secretKey), payer.owner]);
  expect(await find(own, payer)).toBeNull();
  expect(await find(quote, payer)).toBeNull();
});

test('a quote without a ceiling is refused', async () => {
  const payer = await fixture.payer(1n);
  await expect(find(fixture.quote(), payer)).rejects.toMatchObject({ code: 'conflict' });
});

test('a capture that this service carries out is found before the chain has it, and another amount is not paid', async () => {
  const payer = await fixture.payer(HAS);
  const [quote, other] = [ceiling(), ceiling()];
  await fixture.chain.call('chain_clock', { paused: true });
  try {
    const job = await fixture.settle(payer, quote, { capture_amount: '120000' });
    await waitUntil(async () => (await find(quote, payer, job)) === '120000');
    // The attempt is known, and its quote is another one.
    expect(await find(other, payer, job)).toBeNull();
    const before = fixture.events.of(job.settlement_id).length;
    await fixture.send(fixture.settlementBus, 'settle', { ...job, capture_amount: '130000' });
    await waitUntil(async () => service.output().includes('captures another amount'));
    expect(fixture.events.of(job.settlement_id).length).toBe(before);
    await fixture.chain.call('chain_clock', { paused: false });
    await fixture.events.wait(job.settlement_id, 'finalized');
    expect(await find(quote, payer, job)).toBe('120000');
    expect(await fixture.outside.balance(payer.owner.publicKey)).toBe(HAS - 120_000n);
  } finally {
    await fixture.chain.call('chain_clock', { paused: false });
  }
});
