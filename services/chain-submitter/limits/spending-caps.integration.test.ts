import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  outgoingPaymentsOver,
  PRICE,
} from '../../../test/support/fixtures/chain-submitter/outgoing-payments.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';

/**
 * Rule 7: the caps on what the signer signs in an hour. Settlement has the same caps, and the
 * signer does not rely on them.
 */
const USDC = 1_000_000n;
let fixture: SubmitterFixture;
let stopping: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  fixture = await startSubmitterFixture();
});
afterEach(async () => {
  await stopping?.();
  stopping = undefined;
  // The next test's process would sign a payment that waits for a cap.
  await fixture.admin.query("delete from intents where status = 'accepted'");
  await fixture.admin.query('delete from spending');
});
afterAll(() => fixture.stop());

const start = async (env: Record<string, string> = {}) => {
  stopping = (await fixture.start(env)).stop;
};
const pay = async (payer: Awaited<ReturnType<SubmitterFixture['payer']>>, usdc: bigint) => {
  const job = await fixture.settle(payer, fixture.quote({ amount: usdc * USDC, payout }));
  return job.settlement_id;
};
const payout = Keypair.generate().publicKey;
const expectPaid = (settlementId: string) => fixture.events.wait(settlementId, 'confirmed');
const expectWaits = (settlementId: string) =>
  staysFor(
    1500,
    () => fixture.events.of(settlementId).length,
    (count) => count === 0,
  );

test('rule 7: the default caps are 1,000 USDC per wallet, and per account a tenth of 50,000 USDC over all its wallets', async () => {
  await start();
  const wallets = await Promise.all(Array.from({ length: 6 }, () => fixture.payer(2000n * USDC)));
  const [first, ...others] = wallets;
  for (const wallet of others) wallet.account_id = first!.account_id;
  const paid = await Promise.all(wallets.slice(0, 5).map((wallet) => pay(wallet, 900n)));
  for (const settlementId of paid) await expectPaid(settlementId);
  // 900 and 101 USDC of one wallet, 4,500 and 501 USDC of one account.
  const [ofWallet, ofAccount] = await Promise.all([pay(first!, 101n), pay(wallets[5]!, 501n)]);
  await Promise.all([expectWaits(ofWallet), expectWaits(ofAccount)]);
  await expectPaid(await pay(first!, 100n));
  await expectPaid(await pay(wallets[5]!, 400n));
  // The cap of a wallet applies to its address: a different account id in the job does not raise
  // it.
  first!.account_id = (await fixture.payer(0n)).account_id;
  await expectWaits(await pay(first!, 1n));
});

test('rule 7: all payments of the environment stay below its cap', async () => {
  await start({ ENVIRONMENT_HOURLY_CAP_MICRO: '30000000' });
  const wallets = await Promise.all(Array.from({ length: 11 }, () => fixture.payer(3n * USDC)));
  const paid = await Promise.all(wallets.slice(0, 10).map((wallet) => pay(wallet, 3n)));
  for (const settlementId of paid) await expectPaid(settlementId);
  await expectWaits(await pay(wallets[10]!, 1n));
});

test('a successor of bytes that were never included is not counted again, and a wallet may have its own cap', async () => {
  const { chain, events } = fixture;
  const payer = await fixture.payer(5n * USDC);
  const owner = payer.owner.publicKey.toBase58();
  await start({ WALLET_HOURLY_CAP_MICRO: '1', HOURLY_CAPS_OF_WALLETS: `${owner}:1500000` });
  await chain.call('chain_clock', { paused: true });
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  try {
    const settlementId = await pay(payer, 1n);
    await events.wait(settlementId, 'signed');
    await chain.call('chain_advance', 182);
    await chain.call('chain_fault');
    await chain.call('chain_clock', { paused: false });
    expect(await events.wait(settlementId, 'confirmed')).toMatchObject({ generation: 2 });
    await expectWaits(await pay(payer, 1n));
  } finally {
    await chain.call('chain_fault');
    await chain.call('chain_clock', { paused: false });
  }
});

test('an outgoing payment that expires returns its amount to the cap of its wallet', async () => {
  const vendor = await fixture.payer(1n);
  const { sign, inputOf } = outgoingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  await start();
  const input = inputOf(await fixture.payer(PRICE));
  const ofWallet = "select reserved from spending where scope = 'wallet/' || $1";
  const read = async () => BigInt((await fixture.admin.query(ofWallet, [input.owner])).rows[0].reserved);
  await sign(input);
  const before = await read();
  await fixture.chain.call('chain_advance', 260);
  await fixture.events.wait(input.settlement_id, 'failed');
  expect(await read()).toBe(before - PRICE);
});

test('an outgoing payment counts in the hour in which it was accepted, as settlement counts it', async () => {
  const vendor = await fixture.payer(1n);
  const { sign, inputOf } = outgoingPaymentsOver(
    () => fixture,
    () => vendor,
  );
  await start();
  const accepted_at = new Date(Date.now() - 9 * 60_000).toISOString();
  const input = inputOf(await fixture.payer(PRICE), { accepted_at });
  await sign(input);
  const { rows } = await fixture.admin.query(
    "select request ->> 'capped_at' as at from intents where object_id = $1",
    [input.settlement_id],
  );
  expect(rows).toEqual([{ at: accepted_at }]);
  const hour = `${accepted_at.slice(0, 13)}:00:00.000Z`;
  const { rows: counted } = await fixture.admin.query<{ period: Date }>(
    "select period from spending where scope = 'wallet/' || $1",
    [input.owner],
  );
  expect(counted.map(({ period }) => period.toISOString())).toEqual([hour]);
});
