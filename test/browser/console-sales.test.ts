import { beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
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
import { allowSpending, fund, linkWallet, signPrepared } from '../../deploy/local/seed/wallet.ts';
import { networkOf } from '../../deploy/local/stack/networks.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { createX402Buyer, createX402Facilitator } from '../support/others/x402.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/** A vendor's sales in the console, while they happen. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);

let consumer: Consumer;
beforeAll(async () => {
  consumer = await createConsumer(api, stack);
});

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
  await page.page.getByText('No sales in this period').waitFor();
  await page.shoot('sales-empty');
  expect(await page.findings()).toEqual([]);

  const quote = await quoteOf(api, vendor);
  // A quote counts in the conversion, and is no sale until it is paid.
  await page.page.locator('.funnel').waitFor();
  await page.page.getByText('No sales in this period').waitFor();
  await choose(page, 'State', 'quoted');
  await rows(page).getByText('quoted').waitFor();
  expect(await rows(page).textContent()).toMatch(/2\.50 USDC.*expires in 9 min/);
  await choose(page, 'State', 'All sales');
  const paid = await must(settleWith(api, consumer.token, quote), 'settle');
  await rows(page).getByText('paid', { exact: true }).waitFor();
  expect(await rows(page).textContent()).toMatch(/2\.4875 USDC.*deliver within 14 min/);
  await redeem(vendor, paid);
  await rows(page).getByText('delivered').waitFor();
  expect([await step(page, 'Quoted'), await step(page, 'Paid'), await step(page, 'Delivered')]).toEqual([
    '1',
    '1',
    '1',
  ]);
  const revenue = page.page.getByRole('region', { name: 'Net revenue' });
  expect(await revenue.textContent()).toMatch(/2\.4875 USDC.*2\.50 USDC.*0\.0125 USDC/);
  await page.shoot('sales-one');
  await rows(page).getByRole('link').first().click();
  await page.page.getByRole('heading', { name: 'What happened' }).waitFor();
});

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
  await page.go('/sales?state=unpaid');
  await rows(page).getByText('expired', { exact: true }).waitFor();
  expect(await rows(page).count()).toBe(1);
  await choose(page, 'State', 'All sales');
  await rows(page).nth(2).waitFor();
  expect(await rows(page).count()).toBe(3);
  expect([await step(page, 'Quoted'), await step(page, 'Paid'), await step(page, 'Delivered')]).toEqual([
    '5',
    '3',
    '2',
  ]);
  await page.page.locator('.recharts-bar-rectangle').first().waitFor();
  await page.page.getByText('Net revenue as a table').click();
  const days = page.page.getByRole('table', { name: 'Net revenue' }).getByRole('row');
  expect(await days.last().textContent()).toMatch(/5\.965 USDC.*0\.035 USDC/);
  await page.shoot('sales');
  expect(await page.findings()).toEqual([]);

  await choose(page, 'State', 'delivered');
  await rows(page).nth(2).waitFor({ state: 'hidden' });
  expect(await rows(page).count()).toBe(2);
  await choose(page, 'Service', 'Maps API');
  await rows(page).getByText('Weather API').first().waitFor({ state: 'hidden' });
  await rows(page).getByText('Maps API').waitFor();
  expect(await rows(page).count()).toBe(1);
  expect(await step(page, 'Quoted')).toBe('1');
  expect(new URL(page.page.url()).search).toBe(`?state=delivered&service=${maps.serviceId}`);
  await page.go(`/sales?service=${vendor.serviceId}&state=undelivered&time=hour`);
  await page.page.getByText('No sales match these filters').waitFor();

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
});

test('1,300 quotes are read by the page up to the shown time, and further on request', async () => {
  const vendor = await seller();
  for (let i = 0; i < 65; i += 1)
    await Promise.all(Array.from({ length: 20 }, () => quoteOf(api, vendor, { expires_in_seconds: 86_400 })));
  const page = await opened({ person: vendor.person });
  await page.go('/sales?state=quoted');
  await page.page.getByText('This period is only partly loaded').waitFor();
  expect(await step(page, 'Quoted')).toBe('1,000');
  expect(await rows(page).count()).toBe(25);
  await page.shoot('sales-many');
  await button(page, 'Load older sales').click();
  await page.page.getByText('This period is only partly loaded').waitFor({ state: 'hidden' });
  await page.page.getByText('1,300 in this view').waitFor();
  expect(await step(page, 'Quoted')).toBe('1,300');
  await button(page, 'Show more').click();
  expect(await rows(page).count()).toBe(125);
});

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
  await page.page.goto(`${stack.console_url}/sales?state=quoted`);
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
});

/** Settles x402 payments of the consumer to a vendor whose payout address has a token account. */
const x402Sales = async (vendor: Vendor) => {
  const { rpc_url, usdc_mint } = stack.environments.test!;
  // The payout address needs a token account.
  await createConsumer(api, stack, { wallet: vendor.payout, balance: 1_000_000n, allowance: 0n });
  const facilitator = createX402Facilitator(stack.gateway_url, vendor.apiKey);
  const { kinds } = await facilitator.supported();
  const buy = await createX402Buyer(consumer.wallet, rpc_url);
  const settle = async (payload: PaymentPayload) => {
    const { body } = await facilitator.settle(payload);
    expect(body).toMatchObject({ success: true });
    return (body.extra as { quittance: { settlement_id: string } }).quittance.settlement_id;
  };
  const sell = async (amount: string) => {
    const requirements: PaymentRequirements = {
      scheme: 'exact',
      network: networkOf('test').caip2 as PaymentRequirements['network'],
      asset: usdc_mint,
      amount,
      payTo: vendor.payout.publicKey.toBase58(),
      maxTimeoutSeconds: 60,
      extra: { feePayer: kinds[0]!.extra.feePayer },
    };
    const resource = { url: 'https://api.example.com/reports/2026/november/weather?station=12' };
    const payload = { ...(await buy(requirements)), resource } as PaymentPayload;
    return { payload, settlementId: await settle(payload) };
  };
  return { sell, settle };
};

test('x402 sales have a rail, a payer and a resource, are handed out again, and their fees are paid', async () => {
  const vendor = await seller();
  const { sell, settle } = await x402Sales(vendor);
  const payer = consumer.wallet.publicKey.toBase58();
  await sell('50000');
  // Its fee is 0.085 USDC, and the first credit 0.10 USDC.
  const { payload, settlementId } = await sell('17000000');
  await quoteOf(api, vendor);
  const page = await opened({ person: vendor.person });
  await page.go('/sales');
  await rows(page).getByText('delivered').nth(1).waitFor();
  expect(await rows(page).count()).toBe(2);
  expect(await step(page, 'Quoted')).toBe('1');
  await page.page.getByText('x402 and MPP payments have no quote').waitFor();
  await page.page.locator('.recharts-bar-rectangle').first().waitFor();
  await page.shoot('sales-rails');
  await choose(page, 'Paid by', 'x402');
  await page.page.getByRole('region', { name: 'Conversion' }).waitFor({ state: 'hidden' });
  await rows(page).getByText('delivered').nth(1).waitFor();
  expect(await rows(page).count()).toBe(2);
  expect(new URL(page.page.url()).search).toBe('?rail=x402');
  expect(await rows(page).first().textContent()).toMatch(
    new RegExp(`x402${payer.slice(0, 4)}….*https://api\\.example\\.com/reports.*17\\.00 USDC.*0\\.085 USDC`),
  );
  expect(await page.page.getByRole('region', { name: 'Conversion' }).count()).toBe(0);
  const fees = page.page.getByRole('region', { name: 'Fees of x402 payments' });
  expect(await fees.textContent()).toMatch(/More than 80 %.*Owed0\.087\d* USDC.*0\.10 USDC/);
  await page.page.locator('.recharts-bar-rectangle').first().waitFor();
  await page.shoot('sales-x402');
  expect(await page.findings()).toEqual([]);

  const phone = await opened({
    person: await signInPerson(stack, { email: vendor.person.email }),
    width: 'phone',
    colours: 'dark',
  });
  await phone.go('/sales');
  await button(phone, 'Pay fees').click();
  await phone.page.getByText('You have no wallet yet').waitFor();
  await phone.shoot('fees-pay');
  expect(await phone.findings()).toEqual([]);
  expect(await phone.wider()).toEqual([]);

  await button(page, 'Pay fees').click();
  const dialog = page.page.getByRole('dialog', { name: 'Pay the fees' });
  await dialog.getByText('You have no wallet yet').waitFor();
  await dialog.getByRole('button', { name: 'Pay', exact: true }).click();
  await dialog.getByText('Get the buyer’s wallet ready').waitFor();
  await page.shoot('fees-no-wallet');
  expect(await page.findings()).toEqual([]);
  const wallet = Keypair.generate();
  const { token, accountId } = vendor.person;
  const { wallet_id } = await linkWallet(api, token, accountId, wallet);
  await fund(api, token, wallet_id, 1_000_000n);
  await allowSpending(api, token, wallet_id, wallet, 1_000_000n);
  await dialog.getByRole('button', { name: 'Pay again' }).click();
  await dialog.getByText('Fees paid').waitFor();
  await page.shoot('fees-paid');
  expect(await page.findings()).toEqual([]);
  await dialog.getByRole('button', { name: 'Close' }).click();
  await fees.getByText('Owed').waitFor();
  expect(await fees.textContent()).toMatch(/Paid0\.087\d* USDC.*Owed0\.00 USDC.*0\.348\d* USDC/);
  expect(await button(page, 'Pay fees').count()).toBe(0);

  await page.go(`/sales/${settlementId}`);
  const details = page.page.getByRole('region', { name: 'Sold' });
  expect(await details.textContent()).toMatch(
    new RegExp(`november/weather\\?station=12.*${payer.slice(0, 4)}.*x402`),
  );
  await details.getByTitle(payer).waitFor();
  expect(await details.getByText('Quote').count()).toBe(0);
  await page.shoot('settlement-x402');
  await button(page, 'Allow another delivery').click();
  const asking = page.page.getByRole('dialog', { name: 'Allow another delivery?' });
  await asking.getByRole('button', { name: 'Allow another delivery' }).click();
  await page.page.getByText('Paid, not delivered', { exact: true }).waitFor();
  await page.shoot('settlement-x402-undelivered');
  expect(await page.findings()).toEqual([]);

  await phone.go(`/sales/${settlementId}`);
  await phone.shoot('settlement-x402');
  expect(await phone.wider()).toEqual([]);
  await phone.go('/sales?state=undelivered');
  await rows(phone).getByText('not delivered').waitFor();
  await phone.page.locator('.recharts-bar-rectangle').first().waitFor();
  await phone.shoot('sales-x402');
  expect(await phone.findings()).toEqual([]);
  expect(await phone.wider()).toEqual([]);
  expect(await settle(payload)).toBe(settlementId);
  await button(page, 'Allow another delivery').waitFor();

  await button(page, 'Refund').click();
  await page.page.getByRole('textbox', { name: 'Amount' }).fill('1');
  await button(page, 'Review and sign').click();
  const refund = page.page.getByRole('dialog', { name: 'Sign the refund' });
  await refund.getByText('Sign elsewhere', { exact: true }).click();
  expect(await refund.textContent()).toContain(chain.tokenAccount(consumer.wallet.publicKey).toBase58());
  await page.shoot('refund-x402');
  expect(await page.findings()).toEqual([]);
  const prepared = await refund.locator('.copyable[data-block] code').last().textContent();
  await refund.getByLabel('Signed transaction').fill(signPrepared(prepared!, vendor.payout));
  await button(page, 'Submit').click();
  await page.page
    .getByRole('table', { name: 'Refunds of this payment' })
    .getByText(/^(confirmed|final)$/)
    .waitFor();
  await button(page, 'Allow another delivery').waitFor({ state: 'hidden' });
});
