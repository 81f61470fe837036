import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { newId } from '../../../shared/lib/id.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import { authorize, extensionOf } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  deps,
  outcome,
  pay,
  startFixture,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { vendor } from '../../../test/support/fixtures/settlement/settlement-quotes.ts';
import { waitingForLocks } from '../../../test/support/servers/database.ts';

/**
 * Rule 24: what is open never passes a cap of payer or vendor, whatever is accepted at one moment.
 */
const USDC = 1_000_000n;
const NEW_PAYER = 5n * USDC;
let unchanged: typeof deps.tabCaps;
beforeAll(async () => {
  await startFixture();
  unchanged = deps.tabCaps;
});
afterAll(stopFixture);
afterEach(() => {
  deps.tabCaps = unchanged;
});

type Payer = ReturnType<typeof consumer>;
const capped = (caps: Partial<typeof deps.tabCaps>) => {
  deps.tabCaps = { ...unchanged, ...caps };
};
const openOf = async (column: 'account_id' | 'vendor_account_id', id: string): Promise<bigint> => {
  const { rows } = await admin.query<{ micro: string }>(
    `select coalesce(sum(ceiling), 0)::text as micro from authorizations
     where ${column} = $1 and due_at is not null`,
    [id],
  );
  return BigInt(rows[0]!.micro);
};
const openOfPayer = ({ account_id }: Payer) => openOf('account_id', account_id);
/** Tabs of half a USDC each, so that one extension by a USDC fits below the cap of a new payer. */
const tabsOf = async (payer: Payer, count = 8) => {
  const tabs = [];
  for (let n = 0; n < count; n += 1) tabs.push(await authorize({}, payer, USDC / 2n));
  return tabs;
};
type Tab = Awaited<ReturnType<typeof authorize>>;
const extend = (payer: Payer, tab: Tab, amount: bigint) =>
  outcome(pay(payer, extensionOf(tab, amount), newId('evt')));
/** Calls that begin while another statement holds rows of payers, for instance a confirmation. */
const whileHeld = async (payers: readonly Payer[], begin: () => Promise<string>[]): Promise<string[]> => {
  const client = await admin.connect();
  try {
    await client.query('begin');
    const ids = payers.map(({ account_id }) => account_id);
    await client.query('select from delegates where delegate_id = any($1) for update', [ids]);
    const calls = begin();
    await waitUntil(async () => (await waitingForLocks(admin)) > 1);
    await client.query('commit');
    return await Promise.all(calls);
  } finally {
    client.release();
  }
};
const accepted = (outcomes: readonly string[]) => outcomes.filter((each) => each === 'ok').length;

test('rule 24: extensions of one moment never pass the cap of a payer without history', async () => {
  capped({ newPayerMicro: NEW_PAYER });
  const payer = consumer();
  const tabs = await tabsOf(payer);
  const outcomes = await Promise.all(tabs.map((tab) => extend(payer, tab, USDC)));
  expect(accepted(outcomes)).toBe(1);
  expect(await openOfPayer(payer)).toBe(NEW_PAYER);
});

test('rule 24: an extension beside a new tab of the same moment never passes the cap of their payer', async () => {
  capped({ newPayerMicro: NEW_PAYER });
  for (let round = 0; round < 10; round += 1) {
    const payer = consumer();
    const tab = await authorize({}, payer, USDC);
    const outcomes = await Promise.all([
      extend(payer, tab, 4n * USDC),
      outcome(authorize({}, payer, 4n * USDC)),
    ]);
    expect(accepted(outcomes)).toBe(1);
    expect(await openOfPayer(payer)).toBe(NEW_PAYER);
  }
});

test('rule 24: extensions that wait for a lock of another statement are evaluated after it, one by one', async () => {
  capped({ newPayerMicro: NEW_PAYER });
  const payer = consumer();
  const tabs = await tabsOf(payer);
  const outcomes = await whileHeld([payer], () => tabs.map((tab) => extend(payer, tab, USDC)));
  expect(accepted(outcomes)).toBe(1);
  expect(await openOfPayer(payer)).toBe(NEW_PAYER);
});

test('rule 24: extensions and new tabs of many payers never pass the cap of their vendor', async () => {
  const payers = Array.from({ length: 6 }, () => consumer());
  const tabs: { payer: ReturnType<typeof consumer>; tab: Tab }[] = [];
  for (const payer of payers) tabs.push({ payer, tab: await authorize({}, payer, USDC) });
  const open = await openOf('vendor_account_id', vendor.account_id);
  const cap = open + 2n * USDC;
  capped({ vendorMicro: cap, newPayerMicro: 10n ** 12n });
  const outcomes = await whileHeld(payers, () => [
    ...tabs.map(({ payer, tab }) => extend(payer, tab, USDC / 2n)),
    ...Array.from({ length: 10 }, () => outcome(authorize({}, consumer(), USDC / 2n))),
  ]);
  expect(accepted(outcomes)).toBe(4);
  expect(await openOf('vendor_account_id', vendor.account_id)).toBe(cap);
});

test('a payer has at most a tenth of what may be open for a vendor, so it keeps no other payer out', async () => {
  capped({ vendorMicro: 1000n * USDC, newPayerMicro: 10n ** 12n });
  const payer = consumer(1000n * USDC);
  const outcomes = await Promise.all(
    Array.from({ length: 12 }, () => outcome(authorize({}, payer, 10n * USDC))),
  );
  expect(accepted(outcomes)).toBe(10);
  await expect(authorize({}, payer, 1n)).rejects.toThrow('by one payer for one vendor');
  expect(await outcome(authorize({}, consumer(), 10n * USDC))).toBe('ok');
});
