import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  bytesOf,
  outgoingPaymentsOver,
  PRICE,
  reasonOf,
} from '../../../test/support/fixtures/chain-submitter/outgoing-payments.ts';
import {
  type Payer,
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import type { ServiceProcess } from '../../../test/support/servers/service-process.ts';

/** Restarts of the service while outgoing payments are open. */
let fixture: SubmitterFixture;
let vendor: Payer;
let service: ServiceProcess | null = null;
const payments = outgoingPaymentsOver(
  () => fixture,
  () => vendor,
);
const { sign, submit, close, inputOf, intentOf } = payments;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
  vendor = await fixture.payer(1n);
  await payments.fundFacilitator();
});
afterEach(async () => {
  await service?.stop();
});
afterAll(() => fixture.stop());

const start = async (failpoints?: string): Promise<ServiceProcess> => {
  service = await fixture.start({}, failpoints);
  return service;
};
const balanceOf = (payer: Payer) => fixture.outside.balance(payer.owner.publicKey);
const states = (id: string) => fixture.events.of(id).map(({ status }) => status);
const EXPIRY_BLOCKS = 260;

/** Asks for bytes, which kills the service. */
const killedBy = async (dying: ServiceProcess, input: Parameters<typeof sign>[0]): Promise<void> => {
  void sign(input).catch(() => {});
  await dying.exited;
};

test('bytes that were signed and not committed are never handed out: a repeat signs new ones', async () => {
  const buyer = await fixture.payer(PRICE);
  const input = inputOf(buyer);
  await killedBy(await start('submitter.afterSign=crash'), input);
  expect(await intentOf(input)).toBeUndefined();
  await start();
  const tx_hash = await submit(await sign(input));
  expect(await fixture.events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
  expect(await balanceOf(buyer)).toBe(0n);
});

test('a payment that was signed and not committed can be closed', async () => {
  const input = inputOf(await fixture.payer(PRICE));
  await killedBy(await start('submitter.afterSign=crash'), input);
  await start();
  expect(await close(input)).toMatchObject({ status: 'failed' });
  expect(reasonOf(await sign(input))).toBe('closed');
});

test('bytes that were committed and not answered are the bytes of the repeat', async () => {
  const buyer = await fixture.payer(PRICE);
  const input = inputOf(buyer);
  await killedBy(await start('submitter.afterCommit=crash'), input);
  const { rows } = await fixture.admin.query('select wire from outgoing_messages order by signed_at desc');
  await start();
  expect(await close(input)).toMatchObject({ status: 'signed', tx_hash: null });
  const answer = await sign(input);
  expect(bytesOf(answer)).toBe((rows[0].wire as Buffer).toString('base64'));
  const tx_hash = await submit(answer);
  expect(await fixture.events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
});

test('committed bytes that are never submitted fail in the next process, without a call', async () => {
  const buyer = await fixture.payer(PRICE);
  const input = inputOf(buyer);
  await killedBy(await start('submitter.afterCommit=crash'), input);
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await start();
  await fixture.events.wait(input.settlement_id, 'failed');
  expect(await balanceOf(buyer)).toBe(PRICE);
});

test.each(['afterCommit', 'afterConfirm'])(
  'after a kill at %s of a transaction that was found, the next process completes the payment',
  async (arrow) => {
    const buyer = await fixture.payer(PRICE);
    const input = inputOf(buyer);
    const before = await start();
    const answer = await sign(input);
    await before.stop();
    const dying = await start(`submitter.${arrow}=crash`);
    const tx_hash = await submit(answer);
    await dying.exited;
    expect(await intentOf(input)).toMatchObject({ generation: 1, signature: tx_hash });
    await start();
    expect(await fixture.events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
    expect(states(input.settlement_id)).not.toContain('failed');
    expect(await balanceOf(buyer)).toBe(0n);
  },
);

test('a transaction that is included while no process runs is found by the next one', async () => {
  const buyer = await fixture.payer(PRICE);
  const input = inputOf(buyer);
  const before = await start();
  const answer = await sign(input);
  await before.stop();
  const tx_hash = await submit(answer);
  await fixture.chain.call('chain_advance', EXPIRY_BLOCKS);
  await start();
  expect(await fixture.events.wait(input.settlement_id, 'finalized')).toMatchObject({ tx_hash });
  expect(states(input.settlement_id)).not.toContain('failed');
});
