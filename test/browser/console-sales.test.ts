import { beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/console.ts';
import { consoleSuite } from '../support/console-suite.ts';
import { runningStack } from '../support/stack.ts';

/** A vendor's sales in the console, while they happen. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let consumer: Consumer;
beforeAll(async () => {
  consumer = await createConsumer(api, stack);
}, 90_000);

const { opened } = consoleSuite(stack);
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const rows = (console: ConsolePage) =>
  console.page.getByRole('table', { name: 'Sales' }).locator('tbody').getByRole('row');

/** A vendor who reads the console. */
const seller = async (): Promise<Vendor & { person: Person }> => {
  const email = `seller-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const vendor = await createVendor(api, stack, { email });
  return { ...vendor, person: await signInPerson(stack, { email }) };
};
const pay = async (vendor: Vendor, body: object = {}): Promise<Paid> =>
  must(settleWith(api, consumer.token, await quoteOf(api, vendor, body)), 'settle');
const redeem = (vendor: Vendor, { settlement_id, settlement_token }: Paid) =>
  must(
    api(`POST /v1/settlements/${settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token, redeem_id: 'replica-1' },
    }),
    'redeem',
  );
/** The number of a step of the funnel. */
const step = async (page: ConsolePage, name: string) =>
  (await page.page
    .locator('.funnel li', { hasText: new RegExp(`^${name}`) })
    .locator('strong')
    .textContent()) ?? '';
const choose = async (page: ConsolePage, label: string, option: string) => {
  await page.page.getByRole('button', { name: label }).click();
  await page.page.getByRole('option', { name: option, exact: true }).click();
};

test('an empty page shows a new quote by itself, then its payment, its delivery and the figures', async () => {
  const vendor = await seller();
  const page = await opened({ person: vendor.person });
  await page.go('/sales');
  await page.page.getByText('No sale in this period').waitFor();
  await page.shoot('sales-empty');
  expect(await page.findings()).toEqual([]);

  const quote = await quoteOf(api, vendor);
  await rows(page).getByText('quoted').waitFor();
  expect(await rows(page).textContent()).toMatch(/2\.50 USDC.*can be paid for 9 min/);
  const paid = await must(settleWith(api, consumer.token, quote), 'settle');
  await rows(page).getByText('paid', { exact: true }).waitFor();
  expect(await rows(page).textContent()).toMatch(/2\.4875 USDC.*redeem within 14 min/);
  await redeem(vendor, paid);
  await rows(page).getByText('delivered').waitFor();
  expect([await step(page, 'Quoted'), await step(page, 'Paid'), await step(page, 'Delivered')]).toEqual([
    '1',
    '1',
    '1',
  ]);
  const revenue = page.page.getByRole('region', { name: 'Revenue' });
  expect(await revenue.textContent()).toMatch(/2\.4875 USDC.*2\.50 USDC.*0\.0125 USDC/);
  await page.shoot('sales-one');
  await rows(page).getByRole('link').first().click();
  await page.page.getByRole('heading', { name: 'What happened' }).waitFor();
}, 90_000);

test('every kind of sale is shown, with filters of state, service and time that are in the URL', async () => {
  const vendor = await seller();
  const second = await must(
    api<{ service_id: string; api_key: string }>('POST /v1/services', {
      token: vendor.person.token,
      body: { name: 'Maps API', price: '1000000', payout_address: vendor.payout.publicKey.toBase58() },
    }),
    'second service',
  );
  const maps = { ...vendor, serviceId: second.service_id, apiKey: second.api_key };
  const [first, other] = [await pay(vendor), await pay(maps)];
  await Promise.all([redeem(vendor, first), redeem(maps, other)]);
  await pay(vendor);
  await Promise.all([quoteOf(api, vendor), quoteOf(api, vendor, { expires_in_seconds: 1 })]);
  const page = await opened({ person: vendor.person });
  await page.go('/sales');
  await rows(page).getByText('not paid').waitFor();
  expect(await rows(page).count()).toBe(5);
  expect([await step(page, 'Quoted'), await step(page, 'Paid'), await step(page, 'Delivered')]).toEqual([
    '5',
    '3',
    '2',
  ]);
  await page.page.locator('.recharts-bar-rectangle').first().waitFor();
  await page.page.getByText('Revenue as a table').click();
  const days = page.page.getByRole('table', { name: 'Revenue' }).getByRole('row');
  expect(await days.last().textContent()).toMatch(/5\.965 USDC.*0\.035 USDC/);
  await page.shoot('sales');
  expect(await page.findings()).toEqual([]);

  await choose(page, 'State', 'delivered');
  await rows(page).getByText('not paid').waitFor({ state: 'hidden' });
  expect(await rows(page).count()).toBe(2);
  await choose(page, 'Service', 'Maps API');
  await rows(page).getByText('Weather API').first().waitFor({ state: 'hidden' });
  await rows(page).getByText('Maps API').waitFor();
  expect(await rows(page).count()).toBe(1);
  expect(await step(page, 'Quoted')).toBe('1');
  expect(new URL(page.page.url()).search).toBe(`?state=delivered&service=${maps.serviceId}`);
  await page.go(`/sales?service=${vendor.serviceId}&state=lapsed&time=hour`);
  await page.page.getByText('No sale matches these filters in this period').waitFor();

  const phone = await opened({
    person: await signInPerson(stack, { email: vendor.person.email }),
    width: 'phone',
    colours: 'dark',
  });
  await phone.go('/sales');
  await phone.page.locator('.recharts-bar-rectangle').first().waitFor();
  await phone.shoot('sales');
  expect(await phone.findings()).toEqual([]);
  expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
}, 120_000);

test('1,300 quotes are read by the page up to the shown time, and further on request', async () => {
  const vendor = await seller();
  for (let i = 0; i < 65; i += 1)
    await Promise.all(Array.from({ length: 20 }, () => quoteOf(api, vendor, { expires_in_seconds: 86_400 })));
  const page = await opened({ person: vendor.person });
  await page.go('/sales');
  await page.page.getByText('Not all of this period is loaded').waitFor();
  expect(await step(page, 'Quoted')).toBe('1,000');
  expect(await rows(page).count()).toBe(25);
  await page.shoot('sales-many');
  await button(page, 'Load older sales').click();
  await page.page.getByText('Not all of this period is loaded').waitFor({ state: 'hidden' });
  await page.page.getByText('1,300 in this view').waitFor();
  expect(await step(page, 'Quoted')).toBe('1,300');
  await button(page, 'Show more').click();
  expect(await rows(page).count()).toBe(125);
}, 180_000);

test('the page shows failures and loading, and keeps what was read', async () => {
  const vendor = await seller();
  await quoteOf(api, vendor);
  const page = await opened({ person: vendor.person });
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.page.route('**/v1/quotes?**', async (route) => {
    await asked;
    await route.continue();
  });
  await page.page.goto(`${stack.console_url}/sales`);
  await page.page.getByText('Loading your quotes and payments…').waitFor();
  await page.shoot('sales-waiting');
  answer();
  await rows(page).getByText('quoted').waitFor();
  await page.page.unroute('**/v1/quotes?**');
  await page.page.route('**/v1/settlements?**', (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'not for you' } } }),
  );
  await page.page.getByRole('alert').getByText('forbidden').waitFor();
  expect(await rows(page).count()).toBe(1);
  await page.shoot('sales-failing');
  expect(await page.findings()).toEqual([]);
  await page.page.unroute('**/v1/settlements?**');
  await page.page.getByRole('alert').waitFor({ state: 'hidden' });

  await page.page.route('**/v1/settlements?**', (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'not for you' } } }),
  );
  await page.go('/sales');
  await page.page.getByRole('alert').getByText('forbidden').waitFor();
  // A figure from incomplete data would be wrong.
  expect(await page.page.locator('.funnel').count()).toBe(0);
  await page.shoot('sales-failing-first');
}, 60_000);
