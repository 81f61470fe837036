import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signedByOwner } from '../../../test/support/chain-stand-in.ts';
import {
  type Account,
  FRESH,
  type FundingFixture,
  startFundingFixture,
  type Vendor,
} from '../../../test/support/funding.ts';
import { atOnce, tally } from '../../../test/support/stack.ts';

/** docs/adr/0017-idempotency-keys.md, where money is prepared in several steps and a process may die between them. */
type Made = { withdrawal_id?: string; refund_id?: string; transaction?: string; balance?: string };
type Answered = { body: Made; replayed: boolean };

const NET = '990000';
let fixture: FundingFixture;
let ada: Account;
let vendor: Vendor;
beforeAll(async () => {
  fixture = await startFundingFixture();
}, 60_000);
afterAll(async () => {
  expect(await fixture.stop()).toEqual([0, 0]);
});
beforeEach(() => {
  Object.assign(fixture.chain.outcomes, { transfer: 'confirmed', settle: 'confirmed', fund: 'confirmed' });
  fixture.chain.jobs.length = 0;
  ada = fixture.account(100_000_000n);
  vendor = fixture.vendor();
});

const ask = async (
  who: Principal,
  operation: string,
  input: object,
  { key, timeoutMs = 10_000 }: { key: string; timeoutMs?: number },
): Promise<Answered> => {
  let replayed = false;
  const onReplay = () => {
    replayed = true;
  };
  const call = { idempotencyKey: key, onReplay, timeoutMs };
  return { body: await fixture.as<Made>({ ...who }, 'funding', operation, input, call), replayed };
};
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const rows = async (table: string, where = 'true'): Promise<number> =>
  Number((await fixture.admin.query(`select count(*) from funding.${table} where ${where}`)).rows[0].count);
const until = async (good: () => Promise<boolean>): Promise<void> => {
  for (let i = 0; i < 400; i += 1) {
    if (await good()) return;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error('did not come about');
};
/** One call in a process that dies at a named point; then the service as it is. */
const crashAt = async (point: string, work: () => Promise<unknown>): Promise<void> => {
  const { exited } = await fixture.restartFunding(`${point}=crash`);
  const lost = codeOf(work());
  expect(await exited).toBeNull();
  expect(await lost).toBe('service_unavailable');
  await fixture.restartFunding();
};

describe('withdrawals', () => {
  const create = (who: Account, to: string, key: string, amount = '1000000') => {
    const input = { wallet_id: who.wallet_id, amount, destination_address: to };
    return ask(who, 'createWithdrawal', input, { key });
  };

  test('64 at once with one key are one withdrawal, whose transaction all of them have', async () => {
    const to = fixture.address();
    const answers = await atOnce(64, () => create(ada, to, 'k'));
    expect(tally(answers.map(({ replayed }) => replayed))).toEqual({ false: 1, true: 63 });
    const [{ body }] = answers as [Answered];
    for (const answer of answers) expect(answer.body).toEqual(body);
    expect(await rows('withdrawals', `account_id = '${ada.account_id}'`)).toBe(1);
    const transaction = signedByOwner(body.transaction!);
    const approval = { withdrawal_id: body.withdrawal_id, transaction };
    expect(await fixture.as({ ...ada }, 'funding', 'approveWithdrawal', approval)).toMatchObject({
      status: 'confirmed',
    });
    expect(fixture.chain.account(to).balance).toBe(1_000_000n);
    // Still the first answer, although the withdrawal is over.
    expect(await create(ada, to, 'k')).toEqual({ body, replayed: true });
  });

  test('another amount is refused; another account’s key is its own; a refusal keeps nothing', async () => {
    const to = fixture.address();
    const bea = fixture.account();
    expect(await codeOf(create(ada, to, 'k', '100000001'))).toBe('insufficient_funds');
    const { body } = await create(ada, to, 'k');
    const mismatch = create(ada, to, 'k', '1000001');
    await expect(mismatch).rejects.toMatchObject({ code: 'idempotency_mismatch' });
    const hers = await create(bea, to, 'k');
    expect(hers.replayed).toBe(false);
    expect(hers.body.withdrawal_id).not.toBe(body.withdrawal_id);
  });
});

describe('test funds', () => {
  const fund = (key: string, options: { amount?: string; timeoutMs?: number } = {}) => {
    const { amount = '5', timeoutMs = 10_000 } = options;
    return ask(ada, 'devFund', { wallet_id: ada.wallet_id, amount }, { key, timeoutMs });
  };
  const funds = () => rows('dev_funds', `account_id = '${ada.account_id}'`);
  const balance = () => fixture.chain.account(ada.owner).balance - 100_000_000n;

  test('64 at once with one key move the amount once, and all hear of it', async () => {
    const answers = await atOnce(64, () => fund('k'));
    for (const { body } of answers) expect(body).toEqual(answers[0]!.body);
    // Whoever sees the chain first keeps the answer, and gives it to the one that began.
    expect(answers.filter(({ replayed }) => !replayed).length).toBeLessThanOrEqual(1);
    expect([await funds(), balance()]).toEqual([1, 5n]);
    expect(await codeOf(fund('k', { amount: '6' }))).toBe('idempotency_mismatch');
    expect((await fund('K')).replayed).toBe(false);
    expect(balance()).toBe(10n);
  });

  test('after a time-out the repeat waits for the same funds', async () => {
    fixture.chain.outcomes.fund = 'silent';
    await expect(fund('k')).rejects.toMatchObject({
      code: 'service_unavailable',
      message: expect.stringContaining('same Idempotency-Key'),
    });
    const repeat = fund('k');
    fixture.chain.outcomes.fund = 'confirmed';
    const driven = await fixture.database.withClock('16 seconds', () => repeat);
    expect(driven).toMatchObject({ replayed: true, body: { balance: '100000005' } });
    expect([await funds(), balance()]).toEqual([1, 5n]);
  });

  test('funds that failed stay failed under their key', async () => {
    fixture.chain.outcomes.fund = 'failed';
    expect(await codeOf(fund('k'))).toBe('payment_failed');
    fixture.chain.outcomes.fund = 'confirmed';
    expect(await codeOf(fund('k'))).toBe('payment_failed');
    expect([await funds(), balance()]).toEqual([1, 0n]);
    expect(await codeOf(fund('another'))).toBe('ok');
  });

  test('crash after the commit: the repeat gives the funds that were asked for, once', async () => {
    await crashAt('funding.afterBegun', () => fund('k', { timeoutMs: 2000 }));
    expect(await fund('k')).toMatchObject({ replayed: true, body: { balance: '100000005' } });
    expect([await funds(), balance()]).toEqual([1, 5n]);
  });
});

describe('refunds', () => {
  const create = (settlement_id: string, key: string, rest: object = {}, who: Principal = vendor) =>
    ask(who, 'createRefund', { settlement_id, ...rest }, { key, timeoutMs: 3000 });
  const refunds = (settlementId: string) =>
    rows('refunds', `settlement_id = '${settlementId}' and status = 'pending_signature'`);
  const submit = ({ refund_id, transaction }: Made) => {
    const signed = { refund_id, transaction: signedByOwner(transaction!) };
    return fixture.as({ ...vendor }, 'funding', 'submitRefund', signed);
  };

  test('64 at once with one key for all of the net: one refund; who does not wait is told to repeat', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    const outcomes = await atOnce(64, () =>
      create(settlement_id, 'k').then(
        ({ body }) => body.refund_id!,
        ({ code, extras }: ServiceError) => `${code} ${extras.retryAfterSeconds} ${extras.safe_action}`,
      ),
    );
    const refused = outcomes.filter((outcome) => !outcome.startsWith('ref_'));
    // On a machine that is too busy some are not answered in time: they are told the same.
    for (const outcome of refused)
      expect(outcome).toMatch(/^(conflict|service_unavailable) 1 retry_same_attempt$/);
    const ids = new Set(outcomes.filter((outcome) => outcome.startsWith('ref_')));
    expect(ids.size).toBe(1);
    const repeat = await create(settlement_id, 'k');
    expect(repeat.replayed).toBe(true);
    expect(ids).toContain(repeat.body.refund_id);
    expect([
      await refunds(settlement_id),
      await rows('refunds', `settlement_id = '${settlement_id}'`),
    ]).toEqual([1, 1]);
    expect(await fixture.reserved(settlement_id)).toBe(NET);
    expect(await submit(repeat.body)).toMatchObject({ status: 'confirmed' });
  });

  test('another service’s key of the account, and the owner’s sign-in, get nothing of a service’s refund', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    await create(settlement_id, 'k', { amount: '1' });
    const { account_id } = vendor;
    const other: Principal = { kind: 'service_key', key_id: 'o', account_id, service_id: newServiceId() };
    const owner: Principal = { kind: 'jwt', account_id, session_id: 's', auth_time: FRESH };
    const stranger: Principal = { ...other, account_id: newId('acct') };
    expect(await codeOf(create(settlement_id, 'k', { amount: '1' }, other))).toBe('idempotency_mismatch');
    expect(await codeOf(create(settlement_id, 'k', { amount: '1' }, owner))).toBe('idempotency_mismatch');
    expect(await codeOf(create(settlement_id, 'k', { amount: '1' }, stranger))).toBe('not_found');
    // Another key of the same service is the same caller.
    const rotated: Principal = { ...vendor, key_id: 'new' };
    expect((await create(settlement_id, 'k', { amount: '1' }, rotated)).replayed).toBe(true);
    const old = { ...owner, auth_time: 1 };
    expect(await codeOf(create(settlement_id, 'k', { amount: '1' }, old))).toBe('reauthentication_required');
  });

  test('a refusal keeps nothing: neither the key nor a reservation', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    expect(await codeOf(create(settlement_id, 'k', { amount: '990001' }))).toBe('conflict');
    fixture.chain.account(vendor.payout).balance = 0n;
    expect(await codeOf(create(settlement_id, 'k'))).toBe('insufficient_funds');
    expect(await fixture.reserved(settlement_id)).toBe('0');
    fixture.chain.account(vendor.payout).balance = 990_000n;
    expect(await create(settlement_id, 'k')).toMatchObject({ replayed: false, body: { amount: NET } });
  });

  test.each(['funding.afterBegun', 'funding.beforeFinished'])(
    'crash at %s: the repeat finishes that refund',
    async (point) => {
      const settlement_id = await fixture.paid(ada, vendor);
      await crashAt(point, () => create(settlement_id, 'k'));
      const { rows: left } = await fixture.admin.query(
        'select refund_id, status from funding.refunds where settlement_id = $1',
        [settlement_id],
      );
      expect(left).toEqual([{ refund_id: expect.any(String), status: 'new' }]);
      // For all that can be known the first call is still at work.
      await expect(create(settlement_id, 'k')).rejects.toMatchObject({
        code: 'conflict',
        extras: { retryAfterSeconds: 1, safe_action: 'retry_same_attempt' },
      });
      const done = await fixture.database.withClock('31 seconds', () => create(settlement_id, 'k'));
      expect(done).toMatchObject({ replayed: true, body: { refund_id: left[0].refund_id, amount: NET } });
      expect(await create(settlement_id, 'k')).toEqual(done);
      expect(await refunds(settlement_id)).toBe(1);
      expect(await fixture.reserved(settlement_id)).toBe(NET);
      expect(await submit(done.body)).toMatchObject({ status: 'confirmed' });
    },
  );

  test('a call that was held up longer than its lease, and overtaken: one refund, still reserved', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    await fixture.restartFunding('funding.beforeFinished=wait');
    const slow = ask(vendor, 'createRefund', { settlement_id }, { key: 'k' });
    await until(async () => (await fixture.reserved(settlement_id)) === NET);
    const done = await fixture.database.withClock('31 seconds', () => create(settlement_id, 'k'));
    expect(await slow).toEqual({ body: done.body, replayed: true });
    expect(await refunds(settlement_id)).toBe(1);
    expect(await fixture.reserved(settlement_id)).toBe(NET);
    expect(await submit(done.body)).toMatchObject({ status: 'confirmed' });
    await fixture.restartFunding();
  });

  test('a crash whose refund was given up meanwhile: the repeat makes one, and only that one holds the net', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    await crashAt('funding.beforeFinished', () => create(settlement_id, 'k'));
    expect(await fixture.reserved(settlement_id)).toBe(NET);
    const done = await fixture.database.withClock('61 seconds', async () => {
      await until(async () => (await fixture.reserved(settlement_id)) === '0');
      return create(settlement_id, 'k');
    });
    expect(done.body).toMatchObject({ amount: NET });
    expect(await create(settlement_id, 'k')).toEqual({ ...done, replayed: true });
    expect(await rows('refunds', `settlement_id = '${settlement_id}'`)).toBe(1);
    expect(await fixture.reserved(settlement_id)).toBe(NET);
  });
});
