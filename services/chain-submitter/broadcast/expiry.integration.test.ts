import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { newId } from '../../../shared/lib/id.ts';
import { type SecondProvider, startSecondProvider } from '../../../test/faults/second-provider.ts';
import { staysFor } from '../../../test/support/base/wait.ts';
import {
  incomingPaymentsOver,
  PRICE,
  txHashOf,
} from '../../../test/support/fixtures/chain-submitter/incoming-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
  until,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { transfersOver } from '../../../test/support/fixtures/chain-submitter/transfers.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';

/**
 * Two providers of one chain. The first one queried names true blockhashes, and heights that are
 * 150 too low. The network is congested: bytes that were sent are neither included nor seen until
 * the test includes them.
 */
let fixture: SubmitterFixture;
let first: SecondProvider;
let vendor: Payer;
let service: ServiceProcess;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  first = await startSecondProvider();
  vendor = await fixture.payer(1n);
  await start();
});
const start = async () => {
  service = await fixture.start({
    SOLANA_RPC_URLS: `${first.urlOf(fixture.chain.url)},${fixture.chain.url}`,
  });
};
beforeEach(async () => {
  // The chain is long enough that no height is below zero, and what was made before is final.
  await fixture.chain.call('chain_advance', 200);
  await fixture.chain.call('chain_clock', { paused: true });
  await fixture.chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
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

const { signed, submit: submitIncoming } = incomingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { prepare, submit } = transfersOver(() => fixture);

const GROSS = 1_000_000n;
const TOO_LOW = { lies: 'blockhash', tooLowBy: 150 } as const;
/** Past the false last block even when final, and far from the true one. */
const SOME_BLOCKS = 100;
/** Past the true last block, when it is final. */
const EXPIRY_BLOCKS = 190;
/** Longer than several attempts to prove the expiry. */
const SEVERAL_PROOFS_MS = 4000;

const balanceOf = ({ owner }: Payer) => fixture.outside.balance(owner.publicKey);
/** A payer with its money, created before the network is congested. */
const payerOf = async (balance: bigint): Promise<Payer> => {
  await fixture.chain.call('chain_fault');
  const payer = await fixture.payer(balance);
  await fixture.chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  return payer;
};
const states = (id: string) => fixture.events.of(id).map(({ status }) => status);
const wiresOf = async (id: string): Promise<Buffer[]> => {
  const { rows } = await fixture.admin.query<{ wire: Buffer }>(
    'select wire from transactions join intents using (intent_id) where object_id = $1 order by transactions.generation',
    [id],
  );
  return rows.map(({ wire }) => wire);
};
/** While the bytes are valid, they are neither given up nor followed by others. */
const staysOpen = async (id: string): Promise<void> => {
  await fixture.chain.call('chain_advance', SOME_BLOCKS);
  await staysFor(
    SEVERAL_PROOFS_MS,
    async () => ({ generations: (await wiresOf(id)).length, states: states(id) }),
    (now) => now.generations === 1 && !now.states.includes('failed'),
  );
};
/** The leaders that have bytes include all that are valid. */
const endCongestion = async (id: string): Promise<void> => {
  const wires = await wiresOf(id);
  await fixture.chain.call('chain_fault');
  const options = { encoding: 'base64', skipPreflight: true };
  for (const wire of wires) await fixture.chain.call('sendTransaction', wire.toString('base64'), options);
  await fixture.chain.call('chain_clock', { paused: false });
};

test('rule 11: a last block that one provider names too low leads to no second transfer of a payment', async () => {
  const payer = await payerOf(5_000_000n);
  first.behave(TOO_LOW);
  const job = await fixture.settle(payer, fixture.quote());
  await fixture.events.wait(job.settlement_id, 'signed');
  await staysOpen(job.settlement_id);
  await endCongestion(job.settlement_id);
  expect((await fixture.events.wait(job.settlement_id, 'finalized')).generation).toBe(1);
  expect(await balanceOf(payer)).toBe(5_000_000n - GROSS);
});

test('rule 11: a payment of another client that one provider’s height would end is not reported as failed', async () => {
  const buyer = await payerOf(PRICE);
  const before = await balanceOf(vendor);
  first.behave(TOO_LOW);
  const id = newId('stl');
  const tx_hash = txHashOf(await submitIncoming(await signed(buyer), id));
  await staysOpen(id);
  await endCongestion(id);
  expect(await fixture.events.wait(id, 'finalized')).toMatchObject({ tx_hash });
  expect([await balanceOf(buyer), (await balanceOf(vendor)) - before]).toEqual([0n, PRICE]);
  expect(states(id)).not.toContain('failed');
});

test.each([
  ['withdrawal', 'wd', null],
  ['refund', 'ref', 'stl'],
] as const)(
  'rule 11: a %s that one provider’s height would end is not reported as failed',
  async (transfer, prefix, settlement) => {
    const payer = await payerOf(5_000_000n);
    const to = Keypair.generate().publicKey;
    first.behave(TOO_LOW);
    const settlement_id = settlement && newId(settlement);
    const prepared = await prepare(payer, to, GROSS, { transfer, object_id: newId(prefix), settlement_id });
    const { tx_hash } = await submit(prepared);
    await staysOpen(prepared.id);
    await endCongestion(prepared.id);
    expect(await fixture.events.wait(prepared.id, 'finalized')).toMatchObject({ tx_hash });
    expect(states(prepared.id)).not.toContain('failed');
    expect(await fixture.outside.balance(to)).toBe(GROSS);
  },
);

test('rule 11: a height that one provider names too low does not end an adopted transaction that a fork dropped', async () => {
  const { chain, events, admin } = fixture;
  const payer = await payerOf(5_000_000n);
  await chain.call('chain_fault');
  await chain.call('chain_advance', 40);
  const quote = fixture.quote();
  const job = await fixture.executes(() => fixture.settle(payer, quote));
  await chain.call('chain_advance', 2);
  await events.wait(job.settlement_id, 'confirmed');
  const [wire] = await wiresOf(job.settlement_id);
  // The database is restored, and has lost the record.
  await service.stop();
  await admin.query(
    'delete from transactions using intents where transactions.intent_id = intents.intent_id',
  );
  await admin.query('delete from intents');
  first.behave(TOO_LOW);
  await start();
  await fixture.settle(payer, quote, job);
  await events.wait(job.settlement_id, 'confirmed', 2);
  await chain.call('chain_fault', { method: 'sendTransaction', kind: 'drop' });
  await chain.call('chain_fork', 3);
  await events.wait(job.settlement_id, 'reopened');
  await staysOpen(job.settlement_id);
  await chain.call('chain_fault');
  const options = { encoding: 'base64', skipPreflight: true };
  await chain.call('sendTransaction', wire!.toString('base64'), options);
  await chain.call('chain_clock', { paused: false });
  await events.wait(job.settlement_id, 'finalized');
  expect(await balanceOf(payer)).toBe(5_000_000n - GROSS);
});

test('rule 11: bytes that have expired at every provider are followed by others, whatever one provider named', async () => {
  const payer = await payerOf(5_000_000n);
  first.behave(TOO_LOW);
  const job = await fixture.settle(payer, fixture.quote());
  await fixture.events.wait(job.settlement_id, 'signed');
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await fixture.events.wait(job.settlement_id, 'signed', 2);
  await endCongestion(job.settlement_id);
  expect((await fixture.events.wait(job.settlement_id, 'finalized')).generation).toBe(2);
  expect(await balanceOf(payer)).toBe(5_000_000n - GROSS);
});

test('rule 11: a last block that one provider named far ahead keeps bytes open only until it is removed', async () => {
  const { chain, events } = fixture;
  const payer = await payerOf(5_000_000n);
  first.behave({ lies: 'blockhash', tooLowBy: -10_000_000 });
  const job = await fixture.settle(payer, fixture.quote());
  await events.wait(job.settlement_id, 'signed');
  first.behave('honest');
  await until(
    async () => {
      await chain.call('chain_advance', SOME_BLOCKS);
      return (await wiresOf(job.settlement_id)).length;
    },
    (generations) => generations > 1,
  );
  await endCongestion(job.settlement_id);
  await events.wait(job.settlement_id, 'finalized');
  expect(await balanceOf(payer)).toBe(5_000_000n - GROSS);
});
