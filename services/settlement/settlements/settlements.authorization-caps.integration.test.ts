import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isoTime } from '../../../shared/lib/clock.ts';
import {
  authorize,
  CEILING,
  record,
  use,
  voidIt,
} from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  base,
  callAs,
  deps,
  outcome,
  serviceKey,
  startFixture,
  stopFixture,
  storedSnapshot,
  testBus,
  until,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, wallets } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { publishEvent } from '../../../test/support/servers/publish.ts';

/** What bounds the loss of a vendor: its cap, and the news of a wallet (docs/economics.md). */
beforeAll(startFixture);
afterAll(stopFixture);

const open = new Set<string>();
const opened = async (...terms: Parameters<typeof authorize>) => {
  const one = await authorize(...terms);
  open.add(one.id);
  return one;
};
beforeEach(async () => {
  for (const id of open) await voidIt({ id }, { discard_usage: true }).catch(() => {});
  open.clear();
});

test('what is authorized for a vendor by all payers is at most its cap, also with concurrent calls', async () => {
  const before = deps.tabCaps;
  deps.tabCaps = { ...before, vendorMicro: 20n * CEILING };
  try {
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => outcome(opened())));
    expect(outcomes.filter((each) => each === 'ok')).toHaveLength(20);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'conflict']));
    await expect(opened()).rejects.toThrow(`at most ${20n * CEILING} micro-units`);
    // What is captured or void no longer counts.
    const [one] = open;
    await voidIt({ id: one! });
    expect(await outcome(opened())).toBe('ok');
    expect(await outcome(opened())).toBe('conflict');
  } finally {
    deps.tabCaps = before;
  }
});

/** Publishes what the wallet service saw of a payer. */
const publishChange = async (payer: ReturnType<typeof consumer>, change: object) =>
  publishEvent(await testBus.as('wallet'), 'wallet.delegationChanged', {
    wallet_id: wallets.get(payer.account_id)!.wallet_id,
    account_id: payer.account_id,
    owner: 'Vote111111111111111111111111111111111111111',
    status: 'revoked',
    previous_status: 'active',
    token_account_closed: false,
    observed_at: isoTime(base.clock.now()),
    ...{ delegate: null, allowance: '0', balance: '90000000', slot: 500 },
    ...change,
  });

test('rule 23: the news that a delegation was revoked closes the authorizations of its wallet, and no others', async () => {
  const payer = consumer();
  const [one, unused, other] = [await opened({}, payer), await opened({}, payer), await opened()];
  await use(one, { usage_id: 'a', amount: '60000' });
  // It is older than what is known of the wallet.
  await publishChange(payer, { slot: 1 });
  await publishChange(payer, {});
  await until(
    () => record(one.id),
    ({ status }) => status === 'capturing',
  );
  expect(await record(one.id)).toMatchObject({ amount: '60000', used: '60000' });
  expect(await record(unused.id)).toMatchObject({ status: 'voided', holding: false });
  expect(await record(other.id)).toMatchObject({ status: 'authorized', holding: true });
  expect(await outcome(use(one, { usage_id: 'b', amount: '1' }))).toBe('authorization_closed');
  expect(await callAs(serviceKey, 'verify', { settlement_id: one.id })).toMatchObject({
    authorization: { at_risk_at: expect.any(String), left: '0' },
  });
});

test('rule 23: news of a wallet that still covers its ceilings close nothing', async () => {
  const payer = consumer();
  const one = await opened({}, payer);
  const { rows } = await admin.query('select authority from payers where account_id = $1', [
    payer.account_id,
  ]);
  const covering = { status: 'active', previous_status: 'active', delegate: rows[0].authority };
  for (const balance of [CEILING, CEILING + 1n]) {
    await publishChange(payer, {
      ...covering,
      allowance: `${CEILING}`,
      balance: `${balance}`,
      slot: Number(balance),
    });
    await until(
      () => storedSnapshot(payer),
      (stored) => stored.balance === `${balance}`,
    );
  }
  expect(await record(one.id)).toMatchObject({ status: 'authorized' });
});
