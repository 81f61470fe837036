import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { signedByOwner } from '../../../test/support/chain-stand-in.ts';
import { type Account, type FundingFixture, startFundingFixture } from '../../../test/support/funding.ts';

type Withdrawal = {
  withdrawal_id: string;
  status: string;
  tx_hash: string | null;
  pending_until: string;
  created_at: string;
  failure: { code: string } | null;
  transaction?: string;
  expires_at?: string;
};

let fixture: FundingFixture;
beforeAll(async () => {
  fixture = await startFundingFixture();
}, 60_000);
afterAll(async () => {
  expect(await fixture.stop()).toEqual([0, 0]);
});
beforeEach(() => {
  fixture.chain.outcomes.transfer = 'confirmed';
});

const ask = <T = Withdrawal>(who: Account, operation: string, input: object): Promise<T> =>
  fixture.as<T>({ ...who }, 'funding', operation, input);
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const create = (who: Account, amount: bigint | string = 1_000_000n, rest: object = {}) =>
  ask(who, 'createWithdrawal', {
    wallet_id: who.wallet_id,
    amount: `${amount}`,
    destination_address: fixture.address(),
    ...rest,
  });
const approve = (who: Account, { withdrawal_id, transaction }: Withdrawal) =>
  ask(who, 'approveWithdrawal', { withdrawal_id, transaction: signedByOwner(transaction!) });
const afresh = (who: Account, { withdrawal_id }: Withdrawal) =>
  ask(who, 'approveWithdrawal', { withdrawal_id });
const cancel = (who: Account, { withdrawal_id }: Withdrawal) =>
  ask(who, 'cancelWithdrawal', { withdrawal_id });
const get = (who: Account, { withdrawal_id }: Withdrawal) => ask(who, 'getWithdrawal', { withdrawal_id });
const until = async (who: Account, withdrawal: Withdrawal, status: string): Promise<Withdrawal> => {
  for (let i = 0; i < 400; i += 1) {
    const seen = await get(who, withdrawal);
    if (seen.status === status) return seen;
    await new Promise((done) => setTimeout(done, 25));
  }
  throw new Error(`never ${status}`);
};

test('created, approved, paid; every repeat of the approval gives the same', async () => {
  const ada = fixture.account();
  const to = fixture.address();
  const created = await create(ada, 2_500_000n, { destination_address: to });
  expect(created).toMatchObject({
    status: 'pending_approval',
    wallet_id: ada.wallet_id,
    amount: '2500000',
    destination_address: to,
    tx_hash: null,
    failure: null,
  });
  expect(Date.parse(created.pending_until) - Date.parse(created.created_at)).toBe(15 * 60_000);
  const { transaction: _, expires_at: __, ...shown } = created;
  expect(await get(ada, created)).toEqual(shown);

  const [one, two] = await Promise.all([approve(ada, created), approve(ada, created)]);
  expect(one).toMatchObject({ status: 'confirmed', tx_hash: expect.stringMatching(/^\w{64,88}$/) });
  expect(two).toEqual(one);
  expect(await approve(ada, created)).toEqual(one);
  expect(fixture.chain.account(to).balance).toBe(2_500_000n);
  await expect(afresh(ada, created)).rejects.toMatchObject({
    code: 'conflict',
    extras: { money_moved: 'yes' },
  });
  expect(await codeOf(cancel(ada, created))).toBe('conflict');
  await fixture.chain.tell('withdrawalProgressed', created.withdrawal_id, 'finalized', one.tx_hash!);
  expect(await until(ada, created, 'finalized')).toEqual({ ...one, status: 'finalized' });
  expect(await fixture.toldOf(created.withdrawal_id, 'finalized')).toEqual(['confirmed', 'finalized']);
});

test.each<[string, bigint | string, object, string]>([
  ['nothing', '0', {}, 'validation_error'],
  ['less than nothing', '-1', {}, 'validation_error'],
  ['a fraction', '1.5', {}, 'validation_error'],
  ['more than there is', 10_000_001n, {}, 'insufficient_funds'],
  ['2^63', 2n ** 63n, {}, 'validation_error'],
  ['a wallet that does not exist', 1n, { wallet_id: newId('wal') }, 'not_found'],
  ['an unknown field', 1n, { status: 'confirmed' }, 'validation_error'],
  ['an account in the body', 1n, { account_id: newId('acct') }, 'validation_error'],
])('not created: %s', async (_name, amount, rest, expected) => {
  const ada = fixture.account();
  expect(await codeOf(create(ada, amount, rest))).toBe(expected);
  const { data } = await ask<{ data: unknown[] }>(ada, 'listWithdrawals', {});
  expect(data).toEqual([]);
});

test('a destination that chain-submitter refuses is refused with its words', async () => {
  const ada = fixture.account();
  const program = fixture.address();
  fixture.chain.refused.add(program);
  await expect(create(ada, 1n, { destination_address: program })).rejects.toMatchObject({
    code: 'validation_error',
    message: expect.stringContaining('destination_address'),
  });
});

test('another account sees nothing of it and can do nothing with it', async () => {
  const [ada, eve] = [fixture.account(), fixture.account()];
  const created = await create(ada);
  const verdicts = await Promise.all([
    codeOf(get(eve, created)),
    codeOf(approve(eve, created)),
    codeOf(afresh(eve, created)),
    codeOf(cancel(eve, created)),
    codeOf(create(eve, 1n, { wallet_id: ada.wallet_id })),
  ]);
  expect(verdicts).toEqual(Array(5).fill('not_found'));
  expect((await ask<{ data: unknown[] }>(eve, 'listWithdrawals', {})).data).toEqual([]);
  expect((await get(ada, created)).status).toBe('pending_approval');
});

test('cancelled is final, and a repeat of the cancel gives the same', async () => {
  const ada = fixture.account();
  const created = await create(ada);
  const cancelled = await cancel(ada, created);
  expect(cancelled.status).toBe('cancelled');
  expect(await cancel(ada, created)).toEqual(cancelled);
  expect(await codeOf(approve(ada, created))).toBe('conflict');
  expect(await codeOf(afresh(ada, created))).toBe('conflict');
  expect(fixture.chain.account(ada.owner).balance).toBe(10_000_000n);
  expect(await fixture.toldOf(created.withdrawal_id, 'cancelled')).toEqual(['cancelled']);
});

test('cancel against approve, 32 times: the record says what became of the money', async () => {
  const ada = fixture.account(32_000_000n);
  const all = await Promise.all(Array.from({ length: 32 }, () => create(ada, 1_000_000n)));
  await Promise.all(
    all.map(async (created, index) => {
      const [one, two] = [() => codeOf(approve(ada, created)), () => codeOf(cancel(ada, created))];
      const ends = await Promise.all(index % 2 === 0 ? [one(), two()] : [two(), one()].toReversed());
      expect(ends.toSorted()).toEqual(['conflict', 'ok']);
      const { status } = await get(ada, created);
      expect(status).toBe(ends[0] === 'ok' ? 'confirmed' : 'cancelled');
    }),
  );
  const { rows } = await fixture.admin.query(
    "select count(*)::int as paid from funding.withdrawals where account_id = $1 and status = 'confirmed'",
    [ada.account_id],
  );
  expect(fixture.chain.account(ada.owner).balance).toBe(32_000_000n - 1_000_000n * BigInt(rows[0].paid));
});

test('bytes that are not the prepared ones: 400, and the withdrawal waits on; afresh replaces what was prepared', async () => {
  const ada = fixture.account();
  const created = await create(ada);
  expect(await codeOf(approve(ada, { ...created, transaction: 'AAAA' }))).toBe('validation_error');
  const renewed = await afresh(ada, created);
  expect(renewed).toMatchObject({ withdrawal_id: created.withdrawal_id, status: 'pending_approval' });
  expect(renewed.transaction).not.toBe(created.transaction);
  expect(await codeOf(approve(ada, created))).toBe('validation_error');
  expect((await get(ada, created)).status).toBe('pending_approval');
  expect((await approve(ada, renewed)).status).toBe('confirmed');
});

test('15 minutes later it is expired: at once for who reads, by the job in the record, for good', async () => {
  const ada = fixture.account();
  const created = await create(ada);
  await fixture.database.withClock('15 minutes 1 second', async () => {
    expect((await get(ada, created)).status).toBe('expired');
    expect(await codeOf(approve(ada, created))).toBe('conflict');
    expect(await codeOf(cancel(ada, created))).toBe('conflict');
    const filtered = (status: string) =>
      ask<{ data: unknown[] }>(ada, 'listWithdrawals', { status }).then(({ data }) => data.length);
    expect(await Promise.all(['expired', 'pending_approval'].map(filtered))).toEqual([1, 0]);
    const record = async () => {
      const { rows } = await fixture.admin.query(
        'select status from funding.withdrawals where withdrawal_id = $1',
        [created.withdrawal_id],
      );
      return rows[0].status;
    };
    for (let i = 0; i < 200 && (await record()) !== 'expired'; i += 1)
      await new Promise((done) => setTimeout(done, 25));
    expect(await record()).toBe('expired');
  });
  expect(fixture.chain.transfers.get(created.withdrawal_id)?.state).toBe('cancelled');
  expect(await codeOf(approve(ada, created))).toBe('conflict');
  expect(await fixture.toldOf(created.withdrawal_id, 'expired')).toEqual(['expired']);
});

test('a transfer that fails on chain: the caller is told, and so is every repeat', async () => {
  fixture.chain.outcomes.transfer = 'failed';
  const ada = fixture.account();
  const created = await create(ada);
  await expect(approve(ada, created)).rejects.toMatchObject({
    code: 'payment_failed',
    extras: { money_moved: 'no' },
  });
  expect(await codeOf(approve(ada, created))).toBe('payment_failed');
  expect(await get(ada, created)).toMatchObject({ status: 'failed', failure: { code: 'payment_failed' } });
});

test('a chain that takes longer than the wait: submitted; forked away: submitted again; then confirmed', async () => {
  fixture.chain.outcomes.transfer = 'silent';
  const ada = fixture.account();
  const created = await create(ada);
  const submitted = await approve(ada, created);
  expect(submitted).toMatchObject({ status: 'submitted', tx_hash: expect.any(String) });
  const tell = (status: 'confirmed' | 'reopened' | 'signed') =>
    fixture.chain.tell('withdrawalProgressed', created.withdrawal_id, status, submitted.tx_hash!);
  await tell('confirmed');
  await until(ada, created, 'confirmed');
  await tell('signed');
  await tell('reopened');
  await until(ada, created, 'submitted');
  await tell('confirmed');
  expect(await until(ada, created, 'confirmed')).toEqual({ ...submitted, status: 'confirmed' });
});

test('rule 16: a fact that was lost is asked for', async () => {
  fixture.chain.outcomes.transfer = 'silent';
  const ada = fixture.account();
  const created = await create(ada);
  await approve(ada, created);
  const state = fixture.chain.transfers.get(created.withdrawal_id)!.state as { progress: object };
  Object.assign(state.progress, { status: 'finalized', slot: 200 });
  await fixture.database.withClock('16 seconds', () => until(ada, created, 'finalized'));
});

test('listed newest first, by pages, by wallet and status', async () => {
  const ada = fixture.account();
  const made: string[] = [];
  for (let i = 0; i < 3; i += 1) made.unshift((await create(ada)).withdrawal_id);
  type Page = { data: Withdrawal[]; next_cursor: string | null };
  const first = await ask<Page>(ada, 'listWithdrawals', { limit: '2', wallet_id: ada.wallet_id });
  expect(first.data.map(({ withdrawal_id }) => withdrawal_id)).toEqual(made.slice(0, 2));
  const rest = await ask<Page>(ada, 'listWithdrawals', {
    limit: '2',
    wallet_id: ada.wallet_id,
    cursor: first.next_cursor,
  });
  expect(rest.data.map(({ withdrawal_id }) => withdrawal_id)).toEqual(made.slice(2));
  expect(await codeOf(ask(ada, 'listWithdrawals', { cursor: first.next_cursor }))).toBe('validation_error');
  expect((await ask<Page>(ada, 'listWithdrawals', { status: 'cancelled' })).data).toEqual([]);
  expect((await ask<Page>(ada, 'listWithdrawals', { wallet_id: newId('wal') })).data).toEqual([]);
});
