import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';
import {
  admin,
  base,
  deps,
  outcome,
  paid,
  pay,
  quote,
  startFixture,
  stopFixture,
  storedSnapshot,
  testBus,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, snapshots, wallets } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { publishEvent } from '../../../test/support/servers/publish.ts';
import { sumSpentSince } from '../reading/sum-spent-since.ts';

beforeAll(startFixture);
afterAll(stopFixture);

/** Publishes the wallet service's event about a payer. */
const publishChange = async (
  payer: ReturnType<typeof consumer>,
  change: { delegate: string | null; allowance: string; balance: string; slot: number },
) =>
  publishEvent(await testBus.as('wallet'), 'wallet.delegationChanged', {
    wallet_id: wallets.get(payer.account_id)!.wallet_id,
    account_id: payer.account_id,
    owner: 'Vote111111111111111111111111111111111111111',
    status: 'revoked',
    previous_status: 'active',
    token_account_closed: false,
    observed_at: isoTime(base.clock.now()),
    ...change,
  });

test('rule 5: a delegation that was revoked elsewhere is stored before the next attempt, and an older snapshot is ignored', async () => {
  const payer = consumer();
  await paid(payer);
  const before = await storedSnapshot(payer);
  expect(BigInt(before.allowance)).toBeGreaterThan(0n);
  await publishChange(payer, { delegate: null, allowance: '0', balance: before.balance, slot: 50 });
  await publishChange(payer, { delegate: null, allowance: '0', balance: '7', slot: 500 });
  await until(
    () => storedSnapshot(payer),
    ({ balance }) => balance === '7',
  );
  expect(await storedSnapshot(payer)).toEqual({ balance: '7', allowance: '0' });
  snapshots.set(payer.owner, { balance: 100_000_000n, allowance: 0n, slot: 501 });
  expect(await outcome(pay(payer, quote()))).toBe('delegation_inactive');
});

test('a delegation to another delegate leaves no allowance', async () => {
  const payer = consumer();
  await paid(payer);
  await publishChange(payer, {
    delegate: 'SysvarRent111111111111111111111111111111111',
    allowance: '99000000',
    balance: '50000000',
    slot: 500,
  });
  await until(
    () => storedSnapshot(payer),
    ({ allowance }) => allowance === '0',
  );
});

test('sumSpentSince sums the payments of the wallet from a time on, and none of another wallet or from before', async () => {
  const payer = consumer();
  const { wallet_id } = wallets.get(payer.account_id)!;
  await paid(payer, quote(1_000_000n));
  const { settlementId } = await paid(payer, quote(2_000_000n));
  // Issue times are those of the process, an estimate of the database's clock that may jump.
  await admin.query(
    "update settlements set issued_at = issued_at + interval '1 minute' where settlement_id = $1",
    [settlementId],
  );
  const all = isoTime(0);
  const since = isoTime(base.clock.now() + 30_000);
  const spent = async (from: string, wallet = wallet_id) =>
    (
      await sumSpentSince(deps)({
        wallets: [{ account_id: payer.account_id, wallet_id: wallet, since: from }],
      })
    )[0]!.spent;
  expect(await spent(all)).toBe('3000000');
  expect(await spent(since)).toBe('2000000');
  expect(await spent(all, newId('wal'))).toBe('0');
});
