import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { staysFor, waitFor } from '../../../test/support/base/wait.ts';
import {
  type SubmitterFixture,
  startSubmitterFixture,
} from '../../../test/support/fixtures/chain-submitter/submitter.ts';
import { transfersOver } from '../../../test/support/fixtures/chain-submitter/transfers.ts';

/**
 * Tests the rows of the table "Crash at each arrow" of docs/design/settle.md that concern this
 * service.
 */
let fixture: SubmitterFixture;
beforeAll(async () => {
  fixture = await startSubmitterFixture();
});
afterAll(() => fixture.stop());

const count = async (objectId: string) => {
  const { rows } = await fixture.admin.query(
    'select count(*)::int as signed from transactions join intents using (intent_id) where object_id = $1',
    [objectId],
  );
  return rows[0].signed as number;
};

test.each(['beforeIntent', 'afterSign', 'afterCommit', 'afterSend', 'afterConfirm'])(
  'rule 8: after a kill at %s the next worker completes the same payment once',
  async (arrow) => {
    const { events, outside } = fixture;
    const payer = await fixture.payer(5_000_000n);
    const dying = await fixture.start({}, `submitter.${arrow}=crash`);
    const job = await fixture.settle(payer, fixture.quote());
    await dying.exited;
    const before = await count(job.settlement_id);
    expect(before).toBe(['afterCommit', 'afterSend', 'afterConfirm'].includes(arrow) ? 1 : 0);
    const signed = events.of(job.settlement_id).find(({ status }) => status === 'signed');

    const next = await fixture.start();
    const end = await events.wait(job.settlement_id, 'finalized');
    if (signed !== undefined) expect(end.tx_hash).toBe(signed.tx_hash);
    expect(await count(job.settlement_id)).toBe(1);
    expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
    await next.stop();
  },
);

test('rule 8: a payment that has to wait is recorded without bytes, and survives a kill', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const settlement_id = newId('stl');
  const pause = (paused: boolean) => fixture.admin.query('update settings set paused = $1', [paused]);
  await pause(true);
  try {
    const dying = await fixture.start({}, 'submitter.afterIntent=crash');
    await fixture.settle(payer, fixture.quote(), { settlement_id });
    await dying.exited;
    const { rows } = await fixture.admin.query('select status from intents where object_id = $1', [
      settlement_id,
    ]);
    expect(rows).toEqual([{ status: 'accepted' }]);
    expect(await count(settlement_id)).toBe(0);
  } finally {
    await pause(false);
  }
  const next = await fixture.start();
  await events.wait(settlement_id, 'finalized');
  expect(await count(settlement_id)).toBe(1);
  expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  await next.stop();
});

test.each(['afterSign', 'afterCommit', 'afterSend', 'afterConfirm'])(
  'rule 8: after a kill at %s of a withdrawal the repeated submission completes it once',
  async (arrow) => {
    const { events, outside } = fixture;
    const { prepare, submit } = transfersOver(() => fixture);
    const [payer, payee] = await Promise.all([fixture.payer(5_000_000n), fixture.payer(1n)]);
    const dying = await fixture.start({}, `submitter.${arrow}=crash`);
    const prepared = await prepare(payer, payee.owner.publicKey, 2_000_000n);
    // The service may answer before the process is killed.
    await submit(prepared).catch(() => {});
    await dying.exited;
    expect(await count(prepared.id)).toBe(arrow === 'afterSign' ? 0 : 1);

    const next = await fixture.start();
    const { tx_hash } = await submit(prepared);
    expect((await events.wait(prepared.id, 'finalized')).tx_hash).toBe(tx_hash);
    expect(await count(prepared.id)).toBe(1);
    expect(await outside.balance(payee.owner.publicKey)).toBe(2_000_001n);
    await next.stop();
  },
);

test('rule 9: a worker that was paused before its commit signs nothing beside the bytes of the worker that replaced it', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  const paused = await fixture.start({}, 'submitter.afterSign=wait');
  const job = await fixture.settle(payer, fixture.quote());
  await waitFor(paused.output, (output) => output.includes('submitter.afterSign waits'));
  process.kill(paused.pid, 'SIGSTOP');
  const other = await fixture.start();
  await events.wait(job.settlement_id, 'confirmed');
  process.kill(paused.pid, 'SIGCONT');
  await events.wait(job.settlement_id, 'finalized');
  await staysFor(
    3000,
    () => count(job.settlement_id),
    (transactions) => transactions === 1,
  );
  expect(await outside.balance(payer.owner.publicKey)).toBe(4_000_000n);
  await Promise.all([paused.stop(), other.stop()]);
});

test('rule 11: a worker that was paused between its check of the deadline and its commit signs nothing after the deadline', async () => {
  const { events, outside } = fixture;
  const payer = await fixture.payer(5_000_000n);
  // The deadline is in 3 s, and the worker pauses for 4 s after it signed and before it commits.
  const paused = await fixture.start({}, 'submitter.afterSign=wait');
  const job = await fixture.settle(payer, fixture.quote({ expiresInMs: -57_000 }));
  const { failure } = await events.wait(job.settlement_id, 'failed');
  expect(failure?.message).toMatch('not signed in time');
  expect(await count(job.settlement_id)).toBe(0);
  expect(await outside.balance(payer.owner.publicKey)).toBe(5_000_000n);
  await paused.stop();
});

test('rule 16: two replicas execute 40 settles, each of them once', async () => {
  const { events, outside } = fixture;
  const replicas = await Promise.all([fixture.start(), fixture.start()]);
  const payer = await fixture.payer(100_000_000n);
  const { payout } = fixture.quote();
  const jobs = await Promise.all(
    Array.from({ length: 40 }, () => fixture.settle(payer, fixture.quote({ payout }))),
  );
  await Promise.all(jobs.map(({ settlement_id }) => events.wait(settlement_id, 'finalized')));
  expect(await outside.balance(payer.owner.publicKey)).toBe(60_000_000n);
  expect(await Promise.all(jobs.map(({ settlement_id }) => count(settlement_id)))).toEqual(jobs.map(() => 1));
  await Promise.all(replicas.map((replica) => replica.stop()));
});

test('rule 17: after SIGTERM in the middle of 20 settles the next worker completes them immediately', async () => {
  const { events, outside } = fixture;
  const first = await fixture.start();
  const payer = await fixture.payer(100_000_000n);
  const { payout } = fixture.quote();
  const jobs = await Promise.all(
    Array.from({ length: 20 }, () => fixture.settle(payer, fixture.quote({ payout }))),
  );
  expect(await first.stop()).toBe(0);
  const next = await fixture.start();
  await Promise.all(jobs.map(({ settlement_id }) => events.wait(settlement_id, 'finalized')));
  expect(await outside.balance(payer.owner.publicKey)).toBe(80_000_000n);
  await next.stop();
});
