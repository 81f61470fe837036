import { expect, test } from '@jest/globals';
import type { Route } from 'playwright-core';
import { createDelegate, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { exportCsv } from '../support/browser/console-csv.ts';
import { again, signInPayer } from '../support/browser/console-payer.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The activity page in real Chromium: filters, spending, the export; empty, with many rows, failing
 * and slow.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const rows = (console: ConsolePage) =>
  console.page.getByRole('table', { name: 'Transactions' }).locator('tbody tr');
const choose = async (console: ConsolePage, label: string, choice: string) => {
  await console.page.getByRole('search').getByRole('button', { name: label }).click();
  await console.page.getByRole('option', { name: choice, exact: true }).click();
};
/** Elements that are wider than the page. There must be none. */
const tooWide = (console: ConsolePage) =>
  console.page.evaluate(
    `[...document.querySelectorAll('main *:not(thead, thead *)')].filter((each) => each.getBoundingClientRect().right > innerWidth)
      .map((each) => each.outerHTML.slice(0, 200))`,
  );
const EVIL = '=HYPERLINK("https://evil.example","Weather")';

test('filters narrow the list and are in the URL, spending is shown by day, service and delegate, and the export is exact', async () => {
  const payer = await signInPayer(stack);
  const weather = await createVendor(api, stack, { price: 2_500_001n, name: EVIL });
  const maps = await createVendor(api, stack, { price: 1_000_000n, name: 'Maps' });
  const robot = await createDelegate(api, payer, { total: '50000000' });
  const pay = async (token: string, vendor: typeof maps, body: object = {}) =>
    must(settleWith(api, token, await quoteOf(api, vendor, body)), 'settle');
  const item = '=HYPERLINK("https://evil.example/a")';
  const paid = await pay(robot.api_key, weather, { scope: { resource: item } });
  await pay(payer.token, maps);
  await pay(payer.token, maps);

  const page = await opened({ person: payer });
  // The projection is updated after the payments.
  await waitFor(
    async () =>
      (await api<{ data: object[] }>('GET /v1/transactions', { token: payer.token })).body.data.length,
    (length) => length === 4,
  );
  await page.go('/activity');
  expect(await rows(page).count()).toBe(4);
  await page.page.getByText('4.500001').first().waitFor();
  await rows(page).getByText(item).waitFor();
  await page.page.locator('.recharts-bar-rectangle').first().waitFor();
  await page.page.getByText('Spent by day as a table').click();
  const daily = page.page.getByRole('table', { name: 'Spent by day' });
  expect(await daily.locator('tr').count()).toBe(7);
  // Midnight may have passed since the payments.
  expect((await daily.locator('tr').allTextContents()).slice(-2).join()).toContain('4.500001');
  await page.page.getByText('Spent by day as a table').click();
  await page.shoot('activity');
  expect(await page.findings()).toEqual([]);

  await page.page.getByRole('tab', { name: 'By service' }).click();
  const byService = page.page.getByRole('table', { name: 'Spent by service' });
  await byService.getByText(EVIL).waitFor();
  expect(await byService.locator('tbody tr').allTextContents()).toEqual([
    expect.stringMatching(/HYPERLINK.*12\.500001 USDC/),
    expect.stringMatching(/^Maps22\.00 USDC/),
  ]);
  await page.page.getByRole('tab', { name: 'By agent' }).click();
  await page.page.getByRole('table', { name: 'Spent by agent' }).getByText('Robot').waitFor();
  await page.page.getByRole('table', { name: 'Spent by agent' }).getByText('You', { exact: true }).waitFor();
  await page.shoot('activity-by-delegate');
  expect(await page.findings()).toEqual([]);

  await choose(page, 'Type', 'Payments');
  await expectRows(page, 3);
  await choose(page, 'Agent', 'Robot');
  await expectRows(page, 1);
  expect(new URL(page.page.url()).searchParams.toString()).toBe(`type=payment&delegate=${robot.delegate_id}`);
  await button(page, 'Clear filters').click();
  await expectRows(page, 4);
  await choose(page, 'Service', 'Maps');
  await expectRows(page, 2);
  await choose(page, 'Service', 'Any service');
  await choose(page, 'Direction', 'In');
  await expectRows(page, 1);
  await choose(page, 'Status', 'Reversed');
  await page.page.getByText('No transactions match these filters').waitFor();
  await button(page, 'Clear filters').click();
  await page.page.getByLabel('To', { exact: true }).fill('2020-01-01');
  await page.page.getByText('No transactions match these filters').waitFor();
  await page.page.getByLabel('From').fill('2020-01-01');
  await page.page.getByLabel('To', { exact: true }).fill('2999-01-01');
  await expectRows(page, 4);

  await page.go(`/activity?type=payment&delegate=${robot.delegate_id}&direction=sideways`);
  await expectRows(page, 1);
  const { name, text } = await exportCsv(page);
  expect(name).toMatch(/^quittance-test-\d{4}-\d\d-\d\d\.csv$/);
  const [head, line, ...rest] = text.replace('\ufeff', '').split('\r\n');
  expect(head).toMatch(/^created_at,transaction_id,type,/);
  expect(rest).toEqual(['']);
  expect(line).toContain('"2500001","2.500001"');
  expect(line).toContain(`"'${EVIL.replaceAll('"', '""')}"`);
  expect(line).toContain(paid.settlement_id);
  expect(line).toContain(`"'${item.replaceAll('"', '""')}"`);
  await page.page.getByRole('link', { name: 'Payment' }).click();
  await page.page.getByRole('heading', { name: 'Payment', exact: true }).waitFor();
  await page.page.locator('.timeline').getByText('Paid', { exact: true }).waitFor();
  await page.page.locator('.timeline').getByText('to the vendor').waitFor();
  await page.page.goBack();
  await expectRows(page, 1);

  await page.go(`/activity?find=${paid.settlement_id}`);
  await expectRows(page, 1);
  await page.page.getByLabel('Find').fill(paid.tx_hash);
  await expectRows(page, 1);
  await page.page.getByLabel('Find').fill('stl_unknown');
  await page.page.getByText('No transactions match these filters').waitFor();
});

const expectRows = (console: ConsolePage, count: number) =>
  waitFor(
    () => rows(console).count(),
    (shown) => shown === count,
  );

/**
 * A list of this length in the API's pages. It is generated, because so many real payments would
 * take minutes.
 */
const overfull =
  (count: number, wait: () => Promise<void> = async () => {}) =>
  async (route: Route) => {
    const url = new URL(route.request().url());
    const [at, limit] = [Number(url.searchParams.get('cursor') ?? 0), Number(url.searchParams.get('limit'))];
    if (at > 0) await wait();
    const data = Array.from({ length: Math.min(limit, count - at) }, (_, i) => ({
      transaction_id: `txn_${String(at + i).padStart(26, '0')}`,
      type: 'payment',
      direction: 'out',
      amount: `${9_007_199_254_740_993n + BigInt(at + i)}`,
      fee_amount: '1',
      status: ['confirmed', 'finalized', 'reversed'][(at + i) % 3],
      tx_hash: '5'.repeat(88),
      object_id: `stl_${String(at + i).padStart(26, '0')}`,
      service_id: '6b0f7c52-0d0f-4a5e-9f0b-0a1b2c3d4e5f',
      delegate_id: i % 2 === 0 ? `del_${String(i).padStart(26, '0')}` : null,
      item: i % 3 === 0 ? `https://api.example.com/${'reports/'.repeat(30)}` : null,
      created_at: new Date(Date.UTC(2026, 10, 21) - (at + i) * 60_000).toISOString(),
    }));
    const next = at + data.length;
    await route.fulfill({ json: { data, next_cursor: next < count ? String(next) : null } });
  };

/**
 * The spending of a year: one payment on each day, or payments to 300 services, the first with the
 * most.
 */
const overfullSpending = async (route: Route) => {
  const query = new URL(route.request().url()).searchParams;
  const [from, to] = [Date.parse(query.get('from')!), Date.parse(query.get('to')!)];
  const days = Array.from({ length: (to - from) / 86_400_000 }, (_, i) => ({
    key: new Date(from + i * 86_400_000).toISOString().slice(0, 10),
    spent: `${1_000_000n + BigInt(i * 7919)}`,
    payment_count: 1,
  }));
  const services = Array.from({ length: 300 }, (_, i) => ({
    key: `6b0f7c52-0d0f-4a5e-9f0b-${String(i).padStart(12, '0')}`,
    spent: `${9_000_000_000_000_000n / BigInt(i + 1)}`,
    payment_count: 1_000_000,
  }));
  const groups = query.get('group_by') === 'service' ? services : days;
  const sum = groups.reduce((total, { spent }) => total + BigInt(spent), 0n);
  await route.fulfill({
    json: {
      ...{ from: new Date(from).toISOString(), to: new Date(to).toISOString(), groups },
      ...{ total_spent: `${sum}`, total_refunded: '5', total_fees: '1' },
      payment_count: groups.reduce((total, { payment_count }) => total + payment_count, 0),
    },
  });
};

test('a long list is read by the page at desktop and phone width, and the export reads all of it, shows its progress and can be cancelled', async () => {
  const person = await signInPerson(stack);
  for (const [width, colours] of [
    ['desktop', 'dark'],
    ['phone', 'light'],
  ] as const) {
    const page = await opened({ person: await again(stack, person), width, colours });
    await page.page.route('**/v1/transactions?*', overfull(2_345));
    await page.page.route('**/v1/spending/summary?*', overfullSpending);
    await page.go('/activity');
    await page.page.getByRole('button', { name: 'Last 7 days' }).click();
    await page.page.getByRole('option', { name: 'Last 365 days' }).click();
    await page.page.locator('.recharts-bar-rectangle').nth(364).waitFor();
    await expectRows(page, 50);
    await button(page, 'Show more').click();
    await expectRows(page, 100);
    expect(await tooWide(page)).toEqual([]);
    expect(await page.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.shoot('activity-overfull');
    expect(await page.findings()).toEqual([]);
    await page.page.getByRole('tab', { name: 'By service' }).click();
    const ranking = page.page.getByRole('table', { name: 'Spent by service' });
    await ranking.getByText('All others').waitFor();
    expect(await ranking.locator('tbody tr').count()).toBe(11);
    expect(await ranking.locator('tbody tr').last().textContent()).toContain('290,000,000');
    expect(await tooWide(page)).toEqual([]);
    await page.shoot('activity-overfull-by-service');
    expect(await page.findings()).toEqual([]);
  }

  const page = await opened({ person: await again(stack, person) });
  await page.page.route('**/v1/transactions?*', overfull(2_345));
  await page.go('/activity');
  const { text } = await exportCsv(page);
  const lines = text.trimEnd().split('\r\n').slice(1);
  expect(lines).toHaveLength(2_345);
  expect(new Set(lines.map((line) => line.split(',')[1])).size).toBe(2_345);
  expect(lines[0]).toContain('"9007199254740993","9007199254.740993"');
  await page.page.getByText('2,345 transactions exported to quittance-test-').waitFor();

  // One page of the list never arrives: the export shows its progress until it is cancelled, and
  // makes no file.
  await page.page.unroute('**/v1/transactions?*');
  await page.page.route(
    '**/v1/transactions?*',
    overfull(2_345, () => new Promise(() => {})),
  );
  let files = 0;
  page.page.on('download', () => {
    files += 1;
  });
  await button(page, 'Export as CSV').click();
  await page.page.getByText('100 transactions read…').waitFor();
  await page.shoot('activity-exporting');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Cancel export').click();
  await page.page.getByText('Export cancelled.').waitFor();
  await button(page, 'Export as CSV').waitFor();
  expect(files).toBe(0);
});

test('the page shows empty, failed and slow lists', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/activity');
  await page.page.getByText('No transactions yet').waitFor();
  await page.page.getByText('No spending in this period').waitFor();
  await page.shoot('activity-empty');
  expect(await page.findings()).toEqual([]);
  expect(await page.page.getByRole('search').count()).toBe(0);
  await page.go('/activity?direction=in');
  await page.page.getByText('No transactions match these filters').waitFor();
  expect((await exportCsv(page)).text.trimEnd().split('\r\n')).toHaveLength(1);

  const failing = (route: Route) =>
    route.fulfill({
      status: 503,
      headers: { 'x-request-id': 'req_of_this_test' },
      json: {
        error: {
          code: 'service_unavailable',
          message: 'the service does not answer',
          request_id: 'req_of_this_test',
        },
      },
    });
  await page.page.route('**/v1/transactions?*', failing);
  await page.page.route('**/v1/spending/summary?*', failing);
  await page.go('/activity');
  await page.page.getByText('Temporarily unavailable').first().waitFor({ timeout: 60_000 });
  await page.page.getByText('Temporarily unavailable').nth(1).waitFor({ timeout: 60_000 });
  await page.shoot('activity-failing');
  expect(await page.findings()).toEqual([]);
  await page.page.unrouteAll();
  await button(page, 'Try again').last().click();
  await page.page.getByText('No transactions yet').waitFor();

  await page.page.route(/v1\/(transactions|spending)/, () => new Promise(() => {}));
  await page.page.goto(`${stack.console_url}/activity`);
  await page.page.getByText('Loading your transactions…').waitFor();
  await page.page.getByText('This takes longer than expected').first().waitFor();
  await page.page.getByText('Loading the spending…').waitFor();
  await page.shoot('activity-slow');
});
