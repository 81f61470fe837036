import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { publish } from '../../../shared/bus/publish.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  base,
  consumer,
  deps,
  outcome,
  paid,
  pay,
  quote,
  sight,
  sights,
  startFixture,
  stopFixture,
  testBus,
  until,
  wallets,
} from '../../../test/support/settlement.ts';
import { sumSpentSince } from '../settlements/sum-spent-since.ts';

beforeAll(startFixture);
afterAll(stopFixture);

/** What wallet's watcher tells of a payer. */
const tell = async (
  payer: ReturnType<typeof consumer>,
  seen: { delegate: string | null; allowance: string; balance: string; slot: number },
) =>
  publish(await testBus.as('wallet'), {
    subject: 'evt.wallet.delegationChanged',
    msgId: newId('evt'),
    payload: {
      wallet_id: wallets.get(payer.account_id)!.wallet_id,
      account_id: payer.account_id,
      owner: 'Vote111111111111111111111111111111111111111',
      status: 'revoked',
      previous_status: 'active',
      token_account_closed: false,
      seen_at: isoTime(base.clock.now()),
      ...seen,
    },
  });

test('rule 5: a delegation that was taken back elsewhere is known before the next attempt, and an old sight is not believed', async () => {
  const payer = consumer();
  await paid(payer);
  const before = await sight(payer);
  expect(BigInt(before.allowance)).toBeGreaterThan(0n);
  await tell(payer, { delegate: null, allowance: '0', balance: before.balance, slot: 50 });
  await tell(payer, { delegate: null, allowance: '0', balance: '7', slot: 500 });
  await until(
    () => sight(payer),
    ({ balance }) => balance === '7',
  );
  expect(await sight(payer)).toEqual({ balance: '7', allowance: '0' });
  sights.set(payer.owner, { balance: 100_000_000n, allowance: 0n, slot: 501 });
  expect(await outcome(pay(payer, quote()))).toBe('delegation_inactive');
});

test('another’s delegate allows nothing of ours', async () => {
  const payer = consumer();
  await paid(payer);
  await tell(payer, {
    delegate: 'SysvarRent111111111111111111111111111111111',
    allowance: '99000000',
    balance: '50000000',
    slot: 500,
  });
  await until(
    () => sight(payer),
    ({ allowance }) => allowance === '0',
  );
});

test('sumSpentSince: payments of the wallet from a moment on, none of another wallet or from before', async () => {
  const payer = consumer();
  const { wallet_id } = wallets.get(payer.account_id)!;
  await paid(payer, quote(1_000_000n));
  const since = isoTime(base.clock.now() + 5);
  const all = isoTime(0);
  await new Promise((resolve) => setTimeout(resolve, 50));
  await paid(payer, quote(2_000_000n));
  const ask = async (from: string, wallet = wallet_id) =>
    (
      await sumSpentSince(deps)({ wallets: [{ account_id: payer.account_id, wallet_id: wallet, since: from }] })
    )[0]!.spent;
  expect(await ask(all)).toBe('3000000');
  expect(await ask(since)).toBe('2000000');
  expect(await ask(all, newId('wal'))).toBe('0');
});
