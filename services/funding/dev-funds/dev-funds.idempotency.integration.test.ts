import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  type Account,
  codeOf,
  type FundingFixture,
  startFundingFixture,
} from '../../../test/support/fixtures/funding.ts';
import { atOnce } from '../../../test/support/servers/stack.ts';

/** docs/adr/0017-idempotency-keys.md: test funds are sent once, also when the process crashes. */
let fixture: FundingFixture;
let ada: Account;
beforeAll(async () => {
  fixture = await startFundingFixture();
});
afterAll(async () => {
  expect(await fixture.stop()).toEqual([0, 0]);
});
beforeEach(() => {
  fixture.chain.outcomes.fund = 'confirmed';
  ada = fixture.account(100_000_000n);
});

const fund = (key: string, options: { amount?: string; timeoutMs?: number } = {}) => {
  const { amount = '5', timeoutMs = 10_000 } = options;
  return fixture.askOnce<{ balance?: string }>(
    ada,
    'devFund',
    { wallet_id: ada.wallet_id, amount },
    { key, timeoutMs },
  );
};
/** Repeats a call until the chain has confirmed its funds, which may take longer than one wait. */
const answered = async (key: string): ReturnType<typeof fund> => {
  const result = await waitFor(
    () => fund(key).catch((error: Error) => error),
    (each) => !(each instanceof Error),
  );
  return result as Awaited<ReturnType<typeof fund>>;
};
const funds = () => fixture.rows('dev_funds', `account_id = '${ada.account_id}'`);
const balance = () => fixture.chain.account(ada.owner).balance - 100_000_000n;

test('64 concurrent calls with one key send the amount once and have the same answer', async () => {
  const results = await atOnce(64, () => fund('k', { timeoutMs: 20_000 }).catch((error: Error) => error));
  // On a busy machine some calls time out. Their error asks for the same repeat.
  for (const result of results)
    if (result instanceof Error) expect(result).toMatchObject({ code: 'service_unavailable' });
  const repeat = await answered('k');
  const answers = results.filter((result) => 'body' in result);
  for (const { body } of answers) expect(body).toEqual(repeat.body);
  // The call that reads the confirmation first records the answer, which need not be the first
  // call.
  expect(answers.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
  expect([await funds(), balance()]).toEqual([1, 5n]);
  expect(await codeOf(fund('k', { amount: '6' }))).toBe('idempotency_mismatch');
  expect((await fund('K')).replayed).toBe(false);
  expect(balance()).toBe(10n);
});

test('after a timeout the repeat waits for the same funds', async () => {
  fixture.chain.outcomes.fund = 'silent';
  await expect(fund('k')).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('same Idempotency-Key'),
  });
  fixture.chain.outcomes.fund = 'confirmed';
  const redispatched = await fixture.database.withClock('16 seconds', () => answered('k'));
  expect(redispatched).toMatchObject({ replayed: true, body: { balance: '100000005' } });
  expect([await funds(), balance()]).toEqual([1, 5n]);
});

test('test funds that failed stay failed under their key', async () => {
  fixture.chain.outcomes.fund = 'failed';
  expect(await codeOf(fund('k'))).toBe('payment_failed');
  fixture.chain.outcomes.fund = 'confirmed';
  expect(await codeOf(fund('k'))).toBe('payment_failed');
  expect([await funds(), balance()]).toEqual([1, 0n]);
  expect(await codeOf(fund('another'))).toBe('ok');
});

test('after a crash behind the commit the repeat answers with the same funds, sent once', async () => {
  await fixture.crashAt('funding.afterBegun', () => fund('k', { timeoutMs: 2000 }));
  expect(await fund('k')).toMatchObject({ replayed: true, body: { balance: '100000005' } });
  expect([await funds(), balance()]).toEqual([1, 5n]);
});
