import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import type { Principal } from '../../../shared/contract/principal.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  type Account,
  codeOf,
  FRESH,
  type FundingFixture,
  startFundingFixture,
  type Vendor,
} from '../../../test/support/fixtures/funding.ts';
import { atOnce, tally } from '../../../test/support/servers/stack.ts';
import { signedByOwner } from '../../../test/support/stand-ins/chain-stand-in.ts';

/** docs/adr/0017-idempotency-keys.md: calls of several steps, between which a process may crash. */
type Made = { withdrawal_id?: string; refund_id?: string; transaction?: string };

const NET = '990000';
let fixture: FundingFixture;
let ada: Account;
let vendor: Vendor;
beforeAll(async () => {
  fixture = await startFundingFixture();
});
afterAll(async () => {
  expect(await fixture.stop()).toEqual([0, 0]);
});
beforeEach(() => {
  Object.assign(fixture.chain.outcomes, { transfer: 'confirmed', settle: 'confirmed' });
  ada = fixture.account(100_000_000n);
  vendor = fixture.vendor();
});

const reservedBecomes = (settlementId: string, amount: string) =>
  waitFor(
    () => fixture.reserved(settlementId),
    (reserved) => reserved === amount,
  );
describe('withdrawals', () => {
  const create = (who: Account, to: string, key: string, amount = '1000000') => {
    const input = { wallet_id: who.wallet_id, amount, destination_address: to };
    return fixture.askOnce<Made>(who, 'createWithdrawal', input, { key });
  };

  test('64 concurrent calls with one key make one withdrawal and have the same answer', async () => {
    const to = fixture.address();
    const answers = await atOnce(64, () => create(ada, to, 'k'));
    expect(tally(answers.map(({ replayed }) => replayed))).toEqual({ false: 1, true: 63 });
    const { body } = answers[0]!;
    for (const answer of answers) expect(answer.body).toEqual(body);
    expect(await fixture.rows('withdrawals', `account_id = '${ada.account_id}'`)).toBe(1);
    const transaction = signedByOwner(body.transaction!);
    const approval = { withdrawal_id: body.withdrawal_id, transaction };
    expect(await fixture.as({ ...ada }, 'funding', 'approveWithdrawal', approval)).toMatchObject({
      status: 'confirmed',
    });
    expect(fixture.chain.account(to).balance).toBe(1_000_000n);
    // The answer is still the first one, although the withdrawal is confirmed.
    expect(await create(ada, to, 'k')).toEqual({ body, replayed: true });
  });

  test('a key is refused with another amount, free for another account, and free after a refusal', async () => {
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

describe('refunds', () => {
  const create = (settlement_id: string, key: string, rest: object = {}, who: Principal = vendor) =>
    fixture.askOnce<Made>(who, 'createRefund', { settlement_id, ...rest }, { key, timeoutMs: 3000 });
  const refunds = (settlementId: string) =>
    fixture.rows('refunds', `settlement_id = '${settlementId}' and status = 'pending_signature'`);
  const submit = ({ refund_id, transaction }: Made) => {
    const signed = { refund_id, transaction: signedByOwner(transaction!) };
    return fixture.as({ ...vendor }, 'funding', 'submitRefund', signed);
  };

  test('64 concurrent calls with one key for the net amount make one refund', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    const outcomes = await atOnce(64, () =>
      create(settlement_id, 'k').then(
        ({ body }) => body.refund_id!,
        ({ code, extras }: ServiceError) => `${code} ${extras.retryAfterSeconds} ${extras.safe_action}`,
      ),
    );
    const refused = outcomes.filter((outcome) => !outcome.startsWith('ref_'));
    // On a busy machine some calls time out. Their error asks for the same repeat.
    for (const outcome of refused)
      expect(outcome).toMatch(/^(conflict|service_unavailable) 1 retry_same_attempt$/);
    const ids = new Set(outcomes.filter((outcome) => outcome.startsWith('ref_')));
    const repeat = await waitFor(
      () => create(settlement_id, 'k').catch(() => undefined),
      (answer) => answer !== undefined,
    );
    expect([...ids.add(repeat!.body.refund_id!)]).toEqual([repeat!.body.refund_id]);
    expect([
      await refunds(settlement_id),
      await fixture.rows('refunds', `settlement_id = '${settlement_id}'`),
    ]).toEqual([1, 1]);
    expect(await fixture.reserved(settlement_id)).toBe(NET);
    expect(await submit(repeat!.body)).toMatchObject({ status: 'confirmed' });
  });

  test('a service’s idempotency key is not valid for another service or for the account’s owner', async () => {
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

  test('a refusal records neither the key nor a reservation', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    expect(await codeOf(create(settlement_id, 'k', { amount: '990001' }))).toBe('conflict');
    fixture.chain.account(vendor.payout).balance = 0n;
    expect(await codeOf(create(settlement_id, 'k'))).toBe('insufficient_funds');
    expect(await fixture.reserved(settlement_id)).toBe('0');
    fixture.chain.account(vendor.payout).balance = 990_000n;
    expect(await create(settlement_id, 'k')).toMatchObject({ replayed: false, body: { amount: NET } });
  });

  test.each(['funding.afterBegun', 'funding.beforeFinished'])(
    'after a crash at %s the repeat completes the same refund',
    async (point) => {
      const settlement_id = await fixture.paid(ada, vendor);
      await fixture.crashAt(point, () => create(settlement_id, 'k'));
      const { rows: left } = await fixture.admin.query(
        'select refund_id, status from funding.refunds where settlement_id = $1',
        [settlement_id],
      );
      expect(left).toEqual([{ refund_id: expect.any(String), status: 'new' }]);
      // Within the lease the first call counts as still running.
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

  test('a call that outlives its lease and the call that resumes it make one refund', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    await fixture.restartFunding('funding.beforeFinished=wait');
    const slow = fixture.askOnce<Made>(vendor, 'createRefund', { settlement_id }, { key: 'k' });
    await reservedBecomes(settlement_id, NET);
    const done = await fixture.database.withClock('31 seconds', () => create(settlement_id, 'k'));
    expect(await slow).toEqual({ body: done.body, replayed: true });
    expect(await refunds(settlement_id)).toBe(1);
    expect(await fixture.reserved(settlement_id)).toBe(NET);
    expect(await submit(done.body)).toMatchObject({ status: 'confirmed' });
    await fixture.restartFunding();
  });

  test('after a crash whose refund was abandoned, the repeat makes one that alone reserves the net', async () => {
    const settlement_id = await fixture.paid(ada, vendor);
    await fixture.crashAt('funding.beforeFinished', () => create(settlement_id, 'k'));
    expect(await fixture.reserved(settlement_id)).toBe(NET);
    const done = await fixture.database.withClock('61 seconds', async () => {
      await reservedBecomes(settlement_id, '0');
      return create(settlement_id, 'k');
    });
    expect(done.body).toMatchObject({ amount: NET });
    expect(await create(settlement_id, 'k')).toEqual({ ...done, replayed: true });
    expect(await fixture.rows('refunds', `settlement_id = '${settlement_id}'`)).toBe(1);
    expect(await fixture.reserved(settlement_id)).toBe(NET);
  });
});
