import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import {
  type DepositsFixture,
  SESSIONS,
  startDepositsFixture,
} from '../../../test/support/fixtures/deposits.ts';
import { faults } from '../../../test/support/servers/service-process.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';

/**
 * docs/adr/0017-idempotency-keys.md: the row of a deposit is inserted before its provider creates a
 * page.
 */
let fixture: DepositsFixture;
beforeAll(async () => {
  fixture = await startDepositsFixture();
  await fixture.start();
});
afterAll(() => fixture.stop());

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: ServiceError) => `${error.code} ${error.extras?.retryAfterSeconds ?? ''}`.trim(),
  );

test('64 concurrent calls with one key create one deposit', async () => {
  const before = await fixture.count();
  const outcomes = await atOnce(64, () =>
    fixture.createOnce('moonpay', 'k').then(
      ({ deposit_id }) => deposit_id,
      (error: ServiceError) => error.code,
    ),
  );
  const { deposit_id } = await fixture.createOnce('moonpay', 'k');
  for (const outcome of outcomes) expect(['conflict', deposit_id]).toContain(outcome);
  expect(outcomes).toContain(deposit_id);
  expect((await fixture.count()) - before).toBe(1);
});

test('when the provider is unavailable the deposit fails, and the same key creates another', async () => {
  fixture.answers.delete(SESSIONS);
  expect(await codeOf(fixture.createOnce('coinbase', 'c'))).toMatch(/^service_unavailable/);
  expect((await fixture.newest())!.status).toBe('failed');
  const session = { session: { onrampUrl: 'https://pay.coinbase.com/buy?sessionToken=abc' } };
  fixture.answers.set(SESSIONS, { status: 201, body: session });
  const opened = await fixture.createOnce('coinbase', 'c');
  expect(opened.status).toBe('awaiting_payment');
  expect(await fixture.createOnce('coinbase', 'c')).toEqual(opened);
});

test.each(['funding.afterBegun', 'funding.beforeFinished'])(
  'after a crash at %s the repeat returns the deposit of the first call',
  async (point) => {
    const before = await fixture.count();
    const { exited } = await fixture.start({ ...fixture.config, ...faults(`${point}=crash`) });
    const lost = codeOf(fixture.createOnce('moonpay', point, 2000));
    expect(await exited).toBeNull();
    expect(await lost).toMatch(/^service_unavailable/);
    await fixture.start();
    const left = (await fixture.newest())!;
    expect(left).toMatchObject({ status: 'created', redirect_url: null });
    expect(await codeOf(fixture.createOnce('moonpay', point))).toBe('conflict 1');
    const done = await fixture.database.withClock('31 seconds', () => fixture.createOnce('moonpay', point));
    expect(done).toMatchObject({ deposit_id: left.deposit_id, status: 'awaiting_payment' });
    expect(await fixture.createOnce('moonpay', point)).toEqual(done);
    expect((await fixture.count()) - before).toBe(1);
  },
);

test('a deposit that expired before its page was created stays expired, and the repeat creates another', async () => {
  const { exited } = await fixture.start({ ...fixture.config, ...faults('funding.afterBegun=crash') });
  const lost = codeOf(fixture.createOnce('moonpay', 'late', 2000));
  expect(await exited).toBeNull();
  await lost;
  await fixture.start();
  const left = (await fixture.newest())!;
  const done = await fixture.database.withClock('16 minutes', () => fixture.createOnce('moonpay', 'late'));
  expect(done.status).toBe('awaiting_payment');
  expect(done.deposit_id).not.toBe(left.deposit_id);
  expect((await fixture.get(left.deposit_id)).redirect_url).toBeNull();
});
