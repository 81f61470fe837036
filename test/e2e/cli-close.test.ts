import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { must } from '../../deploy/local/seed/api.ts';
import { createTabHarness, type TabHarness } from '../support/actors/tab-harness.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { runningStack } from '../support/servers/stack.ts';

/** `quittance payments close`: a buyer ends what a vendor may use. */
const stack = runningStack();
const line = createCommandLine(stack);
let harness: TabHarness;
beforeAll(async () => {
  harness = await createTabHarness(stack);
  await line.login(harness.buyer.signIn.account.email);
});
afterAll(async () => {
  line.remove();
  await harness?.stop();
});

test.each([
  ['used', '60000', 'redeemed', '60000'],
  ['unused', null, 'voided', '0'],
])(
  'an authorization that is %s is closed, and nothing more can be used of it',
  async (_, used, status, sum) => {
    const { calls, open, untilStatus } = harness;
    const tab = await open();
    const use = (usage_id: string, amount: string) =>
      calls.use(tab, { usage_id, amount, reason: 'POST /chat' });
    if (used !== null) await must(use('one', used), 'use');
    const closed = await line.json(['payments', 'close', tab.settlement_id]);
    expect(closed).toMatchObject({ settlement_id: tab.settlement_id, used: sum });
    await untilStatus(tab, status);
    expect((await use('two', '60000')).status).toBe(409);
    // A repeat shows what has become of it.
    const { code, out } = await line.quittance(['payments', 'close', tab.settlement_id]);
    expect(code).toBe(0);
    expect(out).toContain(tab.settlement_id);
    // The list has what was paid, and what was held and is free again.
    const listed = (await line.quittance(['payments', 'list'])).out;
    const own = listed.split('\n').find((each) => each.includes(tab.settlement_id));
    expect(own).toMatch(
      used === null
        ? /0\.00 USDC +[\d.]+ USDC released +void$/
        : /0\.06 USDC +[\d.]+ USDC released +delivered$/,
    );
  },
);

test('a payment of somebody else, one that is no authorization, and no id are refused', async () => {
  const other = createCommandLine(stack);
  await other.login(harness.vendor.signIn.account.email);
  const tab = await harness.open();
  const foreign = await other.quittance(['payments', 'close', tab.settlement_id]);
  expect(foreign.code).toBe(1);
  expect((await harness.calls.verify(tab)).status).toBe('authorized');
  expect((await line.quittance(['payments', 'close', 'stl_nothing'])).code).not.toBe(0);
  expect((await line.quittance(['payments', 'close'])).code).toBe(2);
  other.remove();
});
