import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { PublicKey, SystemProgram } from '@solana/web3.js';
import { call } from '../../../shared/bus/call.ts';
import { chainSubmitter } from '../../../shared/contract/index.ts';
import {
  keypairOf,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/** A database that a restore has taken back, as chain-submitter finds it. */
let fixture: SubmitterFixture;
let feePayer: PublicKey;
const settings = async () =>
  (
    await fixture.admin.query<{
      paused: boolean;
      compared_start: Date | null;
      lost_until_height: string | null;
    }>('select paused, compared_start, lost_until_height from settings')
  ).rows[0]!;
const losses = async () =>
  (await fixture.admin.query('select fee_payer, signature, since from lost_records order by found_at')).rows;
const compareNow = async () => {
  await fixture.admin.query("update settings set compared_at = compared_at - interval '1 hour'");
  const due = async () =>
    (await fixture.admin.query("select from settings where compared_at > app_now() - interval '10 minutes'"))
      .rowCount === 1;
  await until(due, (done) => done);
};
const pay = async () => {
  const payer = await fixture.payer(5_000_000n);
  const quote = fixture.quote();
  const job = await fixture.settle(payer, quote);
  return { job, quote, payer };
};
const statusOf = async (settlementId: string) =>
  (await fixture.admin.query('select status from intents where object_id = $1', [settlementId])).rows[0]
    ?.status;

beforeAll(async () => {
  fixture = await startSubmitterFixture();
  feePayer = new PublicKey(fixture.keys.feePayer.address);
  // Unlike other suites, this one lets the service compare its records with the chain.
  await fixture.admin.query('update settings set lost_slot = null');
});
afterAll(() => fixture?.stop());

test('records that a restore has lost are found by the chain before anything is signed, and pause signing', async () => {
  const first = await fixture.start();
  const { job } = await pay();
  await fixture.events.wait(job.settlement_id, 'confirmed');
  expect(await settings()).toMatchObject({ paused: false, compared_start: expect.any(Date) });
  expect(await losses()).toEqual([]);
  await first.stop();

  // The copy is older than the payment.
  await fixture.admin.query('delete from transactions; delete from intents');
  const second = await fixture.start();
  expect(await settings()).toMatchObject({ paused: true, lost_until_height: expect.any(String) });
  expect(await losses()).toMatchObject([{ fee_payer: feePayer.toBase58() }]);
  const { rows } = await fixture.admin.query('select actor, action, reason from operator_actions');
  expect(rows).toMatchObject([
    {
      actor: 'chain-submitter',
      action: 'signing.pause',
      reason: expect.stringMatching(/^records are lost since/),
    },
  ]);
  const bus = fixture.settlementBus;
  expect(await call(bus, chainSubmitter, 'listLostRecords', {})).toMatchObject({
    compared: true,
    lost: [{ lost_id: expect.any(String) }],
  });

  const { job: waiting } = await pay();
  await until(
    () => statusOf(waiting.settlement_id),
    (status) => status === 'accepted',
  );

  // Transactions of the lost time may still be included.
  const operator = await fixture.operatorBus();
  const resume = () =>
    call(operator, chainSubmitter, 'setSigningPaused', { paused: false, reason: 'checked' } as never);
  await expect(resume()).rejects.toThrow(/may be included until block/);
  await fixture.chain.call('chain_advance', 250);
  expect(await resume()).toMatchObject({ changed: true, signing: { paused: false } });
  await fixture.events.wait(waiting.settlement_id, 'confirmed');
  await second.stop();

  // The same loss is not found again.
  await fixture.start();
  expect(await settings()).toMatchObject({ paused: false });
  expect(await losses()).toHaveLength(1);
  await compareNow();
  expect(await settings()).toMatchObject({ paused: false });
});

test('a stranger who names the fee payer, and an operator who moves its SOL, pause nothing', async () => {
  const stranger = await fixture.payer(1_000_000n);
  const minter = keypairOf(fixture.keys.mintAuthority.secretKey);
  await fixture.include(
    [
      SystemProgram.transfer({ fromPubkey: minter.publicKey, toPubkey: feePayer, lamports: 1 }),
      SystemProgram.transfer({
        fromPubkey: minter.publicKey,
        toPubkey: stranger.owner.publicKey,
        lamports: 2_000_000,
      }),
    ],
    [minter],
  );
  const own = keypairOf(fixture.keys.feePayer.secretKey);
  await fixture.include(
    [
      SystemProgram.transfer({
        fromPubkey: own.publicKey,
        toPubkey: stranger.owner.publicKey,
        lamports: 2_000_000,
      }),
    ],
    [own],
  );
  await compareNow();
  expect(await settings()).toMatchObject({ paused: false });
  expect(await losses()).toHaveLength(1);
});

test('on a server that has started, nothing is signed before the chain was compared again', async () => {
  await fixture.admin.query("update settings set compared_start = compared_start - interval '1 second'");
  const { job } = await pay();
  await fixture.events.wait(job.settlement_id, 'confirmed');
  const { rows } = await fixture.admin.query(
    'select compared_start = pg_postmaster_start_time() as compared from settings',
  );
  expect(rows).toEqual([{ compared: true }]);
});
