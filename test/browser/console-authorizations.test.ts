import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createConsumer } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import type { Tab, TabQuote } from '../support/actors/tab-calls.ts';
import { createTabHarness, type TabHarness } from '../support/actors/tab-harness.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Authorizations in the console of their vendor and their buyer, in each state. */
const stack = runningStack();
const { opened } = consoleSuite(stack);
let harness: TabHarness;
const tabs: Record<string, Tab> = {};

beforeAll(async () => {
  harness = await createTabHarness(stack);
  const { api, calls, open, untilStatus } = harness;
  const use = (tab: Tab, amount: string) =>
    must(calls.use(tab, { usage_id: 'one', amount, reason: 'POST /chat' }), 'use');
  for (const name of ['authorized', 'captured', 'voided']) tabs[name] = await open();
  const quote = await calls.quote();
  const pay = async (of: TabQuote) => must(calls.authorize(harness.buyer.token, of), 'authorize');
  tabs.extended = await pay(quote);
  await use(tabs.extended, '60000');
  await pay(await must(calls.extend(quote, '300000'), 'quote'));
  await use(tabs.authorized!, '60000');
  await use(tabs.captured!, '120000');
  await must(calls.capture(tabs.captured!), 'capture');
  await must(calls.voidIt(tabs.voided!), 'void');
  await untilStatus(tabs.captured!, 'redeemed');
  const cheater = await createConsumer(api, stack);
  tabs.risk = await open({}, cheater.token);
  await use(tabs.risk, '60000');
  const path = `POST /v1/wallets/${cheater.walletId}/revoke` as const;
  const { transaction } = await must(
    api<{ transaction: string }>(path, { token: cheater.token, body: {} }),
    'revoke',
  );
  const signed = { transaction: signPrepared(transaction, cheater.wallet) };
  await must(api(path, { token: cheater.token, body: signed }), 'revoke');
  await untilStatus(tabs.risk, 'failed');
});
afterAll(() => harness?.stop());

const VENDOR: readonly (readonly [name: string, texts: readonly (string | RegExp)[]])[] = [
  ['authorized', ['Authorized, nothing is paid yet', 'Ceiling', '0.06 USDC used of 0.50 USDC']],
  ['captured', ['Ceiling', 'up to 0.50 USDC', /Gross\s*0\.12 USDC/, /Net\s*0\.11 USDC/]],
  [
    'extended',
    [
      /Ceiling\s*0\.80 USDC/,
      '0.06 USDC used of 0.80 USDC',
      'Ceiling extended',
      /by 0\.30 USDC/,
      'up to 0.50 USDC',
    ],
  ],
  ['voided', ['Nothing was used, so nothing was paid, and everything was released.']],
  [
    'risk',
    ['The wallet no longer covered it', 'The payment failed', 'What was used, 0.06 USDC, is not paid.'],
  ],
];

const shown = async ({ page }: ConsolePage, texts: readonly (string | RegExp)[]): Promise<void> => {
  const read = async () => (await page.locator('main').innerText()).replaceAll(/\s+/g, ' ');
  for (const text of texts) {
    if (typeof text === 'string') expect(await read()).toContain(text);
    else expect(await read()).toMatch(text);
  }
};

test.each(VENDOR)(
  'the vendor of an authorization that is %s sees what is paid of it',
  async (name, texts) => {
    const { email } = harness.vendor.signIn.account;
    for (const options of [{}, { width: 'phone', colours: 'dark' }] as const) {
      const page = await opened({ person: await signInPerson(stack, { email }), ...options });
      await page.go(`/sales/${tabs[name]!.settlement_id}`);
      await shown(page, texts);
      await page.shoot(`authorization-${name}`);
      expect([await page.findings(), await page.wider()]).toEqual([[], []]);
    }
  },
);

test('what is not paid shows no gross amount, and the list of sales has every state', async () => {
  const { email } = harness.vendor.signIn.account;
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go(`/sales/${tabs.voided!.settlement_id}`);
  expect(await page.page.locator('main').innerText()).not.toContain('Gross');
  await page.go('/sales');
  await page.shoot('authorization-sales');
  for (const state of ['authorized', 'extension', 'void', 'delivered'])
    await page.page.getByRole('row').getByText(state, { exact: true }).first().waitFor();
  const extension = page.page
    .getByRole('row')
    .filter({ has: page.page.getByText('extension', { exact: true }) });
  await extension.getByRole('link', { name: 'another sale' }).click();
  await page.page.waitForURL(`**/sales/${tabs.extended!.settlement_id}`);
});

test('the buyer sees what is held, used and paid', async () => {
  const { email } = harness.buyer.signIn.account;
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go(`/payments/${tabs.authorized!.settlement_id}`);
  await shown(page, ['Authorized for', /Used 0\.06 USDC/, /Ceiling 0\.50 USDC/]);
  await page.shoot('authorization-buyer');
  await page.go(`/payments/${tabs.captured!.settlement_id}`);
  await shown(page, ['Paid to', /Amount 0\.12 USDC/]);
  await page.shoot('authorization-buyer-captured');
  await page.go(`/payments/${tabs.extended!.settlement_id}`);
  await shown(page, ['Authorized for', /Ceiling 0\.80 USDC/, 'Ceiling extended']);
  expect(await page.page.locator('main').innerText()).not.toContain('the record says');
  await page.shoot('authorization-buyer-extended');
  await page.go('/activity');
  await page.shoot('authorization-activity');
  expect(await page.findings()).toEqual([]);
});

test('the buyer closes an authorization: what was used is paid, and the rest is released', async () => {
  const tab = await harness.open();
  await must(harness.calls.use(tab, { usage_id: 'one', amount: '70000', reason: 'POST /chat' }), 'use');
  const { email } = harness.buyer.signIn.account;
  const page = await opened({ person: await signInPerson(stack, { email }) });
  const button = (name: string) => page.page.getByRole('button', { name, exact: true });
  await page.go(`/payments/${tab.settlement_id}`);
  await button('Close authorization').click();
  const dialog = page.page.getByRole('dialog');
  await dialog.getByText('0.07 USDC by now').waitFor();
  expect(await page.findings()).toEqual([]);
  // Asked, and not yet closed.
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  expect((await harness.calls.verify(tab)).status).toBe('authorized');
  await button('Close authorization').click();
  await dialog.getByRole('button', { name: 'Close authorization' }).click();
  await page.page.getByText('The authorization is closed.').waitFor();
  await harness.untilStatus(tab, 'redeemed');
  await page.go(`/payments/${tab.settlement_id}`);
  await shown(page, ['Paid to', /Amount 0\.07 USDC/]);
  expect(await button('Close authorization').count()).toBe(0);
});
