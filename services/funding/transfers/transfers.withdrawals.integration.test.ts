import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import {
  type Account,
  codeOf,
  type FundingFixture,
  startFundingFixture,
} from '../../../test/support/fixtures/funding.ts';
import { signedByOwner } from '../../../test/support/stand-ins/chain-stand-in.ts';

type Withdrawal = {
  withdrawal_id: string;
  status: string;
  tx_hash: string | null;
  pending_until: string;
  created_at: string;
  confirmed_at: string | null;
  failure: { code: string } | null;
  transaction?: string;
  expires_at?: string;
};

let fixture: FundingFixture;
beforeAll(async () => {
  fixture = await startFundingFixture();
});
afterAll(async () => {
  expect(await fixture.stop()).toEqual([0, 0]);
});
beforeEach(() => {
  fixture.chain.outcomes.transfer = 'confirmed';
});

const ask = <T = Withdrawal>(who: Account, operation: string, input: object): Promise<T> =>
  fixture.as<T>({ ...who }, 'funding', operation, input);
const create = (who: Account, amount: bigint | string = 1_000_000n, rest: object = {}) =>
  ask(who, 'createWithdrawal', {
    wallet_id: who.wallet_id,
    amount: `${amount}`,
    destination_address: fixture.address(),
    ...rest,
  });
const approve = (who: Account, { withdrawal_id, transaction }: Withdrawal) =>
  ask(who, 'approveWithdrawal', { withdrawal_id, transaction: signedByOwner(transaction!) });
const prepareAgain = (who: Account, { withdrawal_id }: Withdrawal) =>
  ask(who, 'approveWithdrawal', { withdrawal_id });
const cancel = (who: Account, { withdrawal_id }: Withdrawal) =>
  ask(who, 'cancelWithdrawal', { withdrawal_id });
const get = (who: Account, { withdrawal_id }: Withdrawal) => ask(who, 'getWithdrawal', { withdrawal_id });
const until = (who: Account, withdrawal: Withdrawal, status: string): Promise<Withdrawal> =>
  waitFor(
    () => get(who, withdrawal),
    (read) => read.status === status,
  );

test('an approved withdrawal is paid once, and a repeated approval has the same result', async () => {
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
  await expect(prepareAgain(ada, created)).rejects.toMatchObject({
    code: 'conflict',
    extras: { money_moved: 'yes' },
  });
  expect(await codeOf(cancel(ada, created))).toBe('conflict');
  await fixture.chain.publishProgress(
    'withdrawalProgressed',
    created.withdrawal_id,
    'finalized',
    one.tx_hash!,
  );
  expect(await until(ada, created, 'finalized')).toEqual({ ...one, status: 'finalized' });
  expect(await fixture.publishedStatuses(created.withdrawal_id, 'finalized')).toEqual([
    'confirmed',
    'finalized',
  ]);
});

test.each<[string, bigint | string, object, string]>([
  ['an amount of zero', '0', {}, 'validation_error'],
  ['a negative amount', '-1', {}, 'validation_error'],
  ['a fraction', '1.5', {}, 'validation_error'],
  ['more than the balance', 10_000_001n, {}, 'insufficient_funds'],
  ['2^63', 2n ** 63n, {}, 'validation_error'],
  ['a wallet that does not exist', 1n, { wallet_id: newId('wal') }, 'not_found'],
  ['an unknown field', 1n, { status: 'confirmed' }, 'validation_error'],
  ['an account in the body', 1n, { account_id: newId('acct') }, 'validation_error'],
])('a withdrawal is refused for %s', async (_name, amount, rest, expected) => {
  const ada = fixture.account();
  expect(await codeOf(create(ada, amount, rest))).toBe(expected);
  const { data } = await ask<{ data: unknown[] }>(ada, 'listWithdrawals', {});
  expect(data).toEqual([]);
});

test('a destination that chain-submitter refuses is refused with the same message', async () => {
  const ada = fixture.account();
  const program = fixture.address();
  fixture.chain.refused.add(program);
  await expect(create(ada, 1n, { destination_address: program })).rejects.toMatchObject({
    code: 'validation_error',
    message: expect.stringContaining('destination_address'),
  });
});

test('another account can neither see nor change a withdrawal', async () => {
  const [ada, eve] = [fixture.account(), fixture.account()];
  const created = await create(ada);
  const codes = await Promise.all([
    codeOf(get(eve, created)),
    codeOf(approve(eve, created)),
    codeOf(prepareAgain(eve, created)),
    codeOf(cancel(eve, created)),
    codeOf(create(eve, 1n, { wallet_id: ada.wallet_id })),
  ]);
  expect(codes).toEqual(Array(5).fill('not_found'));
  expect((await ask<{ data: unknown[] }>(eve, 'listWithdrawals', {})).data).toEqual([]);
  expect((await get(ada, created)).status).toBe('pending_approval');
});

test('a cancelled withdrawal stays cancelled, and a repeated cancel has the same result', async () => {
  const ada = fixture.account();
  const created = await create(ada);
  const cancelled = await cancel(ada, created);
  expect(cancelled.status).toBe('cancelled');
  expect(await cancel(ada, created)).toEqual(cancelled);
  expect(await codeOf(approve(ada, created))).toBe('conflict');
  expect(await codeOf(prepareAgain(ada, created))).toBe('conflict');
  expect(fixture.chain.account(ada.owner).balance).toBe(10_000_000n);
  expect(await fixture.publishedStatuses(created.withdrawal_id, 'cancelled')).toEqual(['cancelled']);
});

test('when a cancel and an approval race, the record agrees with the chain', async () => {
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

test('bytes that were not prepared are refused, and another preparation replaces the first', async () => {
  const ada = fixture.account();
  const created = await create(ada);
  expect(await codeOf(approve(ada, { ...created, transaction: 'AAAA' }))).toBe('validation_error');
  const renewed = await prepareAgain(ada, created);
  expect(renewed).toMatchObject({ withdrawal_id: created.withdrawal_id, status: 'pending_approval' });
  expect(renewed.transaction).not.toBe(created.transaction);
  expect(await codeOf(approve(ada, created))).toBe('validation_error');
  expect((await get(ada, created)).status).toBe('pending_approval');
  expect((await approve(ada, renewed)).status).toBe('confirmed');
});

const CLIENT = { address: '203.0.113.0/24', agent: 'Firefox' };
const approveFrom = (who: Account, { withdrawal_id, transaction }: Withdrawal) => {
  const input = { withdrawal_id, transaction: signedByOwner(transaction!) };
  const call = { client: CLIENT, timeoutMs: 3000 };
  return fixture.as<Withdrawal>({ ...who }, 'funding', 'approveWithdrawal', input, call);
};
const noteOf = ({ account_id }: Account, { withdrawal_id }: Withdrawal, client: typeof CLIENT | null) =>
  expect.objectContaining({ account_id, kind: 'withdrawal_approved', details: { withdrawal_id }, client });

test('the owner hears of a withdrawal once, when it was accepted, and of none that was refused', async () => {
  const ada = fixture.account();
  const [refused, accepted, last] = [await create(ada), await create(ada), await create(ada)];
  expect(await codeOf(approve(ada, { ...refused, transaction: 'AAAA' }))).toBe('validation_error');
  await approveFrom(ada, accepted);
  await approve(ada, accepted);
  // A program other than the gateway submits it, and this one hears of it by the event.
  await fixture.chain.publishProgress(
    'withdrawalProgressed',
    last.withdrawal_id,
    'confirmed',
    'A'.repeat(64),
  );
  expect(await fixture.notesOf(ada.account_id, 2)).toEqual([
    noteOf(ada, accepted, CLIENT),
    noteOf(ada, last, null),
  ]);
});

test('the owner hears of a withdrawal whose call ended after its submission, and from where it came', async () => {
  const ada = fixture.account();
  const created = await create(ada);
  await fixture.crashAt('funding.afterSubmitted', () => approveFrom(ada, created));
  expect(await fixture.notesOf(ada.account_id, 1)).toEqual([noteOf(ada, created, CLIENT)]);
});

test('after 15 minutes a withdrawal is expired for readers at once, and in the record by the sweep', async () => {
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
    await waitFor(record, (status) => status === 'expired');
  });
  expect(fixture.chain.transfers.get(created.withdrawal_id)?.state).toBe('cancelled');
  expect(await codeOf(approve(ada, created))).toBe('conflict');
  expect(await fixture.publishedStatuses(created.withdrawal_id, 'expired')).toEqual(['expired']);
});

test('a transfer that fails on the chain fails the approval and every repeat of it', async () => {
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

test('a withdrawal is submitted while the chain is slow, and again after a fork, until it is confirmed', async () => {
  fixture.chain.outcomes.transfer = 'silent';
  const ada = fixture.account();
  const created = await create(ada);
  const submitted = await approve(ada, created);
  expect(submitted).toMatchObject({ status: 'submitted', tx_hash: expect.any(String) });
  const publish = (status: 'confirmed' | 'reopened' | 'signed') =>
    fixture.chain.publishProgress('withdrawalProgressed', created.withdrawal_id, status, submitted.tx_hash!);
  await publish('confirmed');
  const { confirmed_at } = await until(ada, created, 'confirmed');
  await publish('signed');
  await publish('reopened');
  await until(ada, created, 'submitted');
  await publish('confirmed');
  expect(await until(ada, created, 'confirmed')).toEqual({ ...submitted, confirmed_at, status: 'confirmed' });
});

test('rule 16: progress whose event was lost is read from chain-submitter', async () => {
  fixture.chain.outcomes.transfer = 'silent';
  const ada = fixture.account();
  const created = await create(ada);
  await approve(ada, created);
  const state = fixture.chain.transfers.get(created.withdrawal_id)!.state as { progress: object };
  Object.assign(state.progress, { status: 'finalized', slot: 200 });
  await fixture.database.withClock('16 seconds', () => until(ada, created, 'finalized'));
});

test('withdrawals are listed newest first, in pages, by wallet and by status', async () => {
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
