import { expect, test } from '@jest/globals';
import {
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import { type ConsolePage, reload, signInPerson } from '../support/browser/console.ts';
import { exportCsv } from '../support/browser/console-csv.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Sales are found, exported and summed by month, less their refunds, and show their declines. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const rows = ({ page }: ConsolePage) =>
  page.getByRole('table', { name: 'Sales' }).locator('tbody').getByRole('row');

test('a vendor finds a sale, sees its refund and its declines, and exports the sales and the statement', async () => {
  const email = `seller-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const vendor = await createVendor(api, stack, { email });
  const payer = await signInPerson(stack);
  const consumer = await createConsumer(api, stack, { email: payer.email });
  const agent = await createDelegate(api, consumer, { per_payment: '1000' });
  const quote = await quoteOf(api, vendor);
  expect((await settleWith(api, agent.api_key, quote)).status).toBe(403);
  const first = await must(settleWith(api, consumer.token, quote), 'settle');
  const second = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
  await refund(api, vendor, first.settlement_id, 1_000_000n);

  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go('/sales');
  await rows(page).nth(1).waitFor();
  await rows(page).getByText('partly refunded').waitFor();
  const buyer = consumer.wallet.publicKey.toBase58();
  await rows(page).getByTitle(buyer).first().waitFor();
  const sent = page.page.getByRole('table', { name: 'Refunds sent' });
  expect(await sent.locator('tbody').textContent()).toMatch(/Weather.*1\.00 USDC/);
  const revenue = page.page.getByRole('region', { name: 'Net revenue' });
  // 2 × 2.50, less the fees of 0.0125 each and 1 USDC of refund.
  await revenue.getByText('3.975').first().waitFor();
  await page.page.getByLabel('Find').fill(first.tx_hash.slice(0, 20));
  await rows(page).nth(1).waitFor({ state: 'detached' });
  expect(await rows(page).textContent()).toContain('1.4875 USDC');
  await page.shoot('sales-found');
  expect(await page.findings()).toEqual([]);
  // The filter is in the URL.
  await reload(page.page);
  await rows(page).getByText('partly refunded').waitFor();
  expect(await rows(page).count()).toBe(1);
  await page.page.getByLabel('Find').fill('');
  await rows(page).nth(1).waitFor();
  const { text: csv } = await exportCsv(page);
  // Two sales, and the refund of one as a row of its own.
  expect(csv.trimEnd().split('\r\n')).toHaveLength(4);
  expect(csv).toContain(`"${second.settlement_id}"`);
  // The payer of each row.
  expect(csv.split(`"${buyer}"`)).toHaveLength(4);
  expect(csv.match(/"2\.50","0\.0125","0\.00","","2\.4875"/g)).toHaveLength(2);
  expect(csv).toMatch(/"refund",.*"1\.00","-1\.00"/);

  await page.page.getByRole('link', { name: 'Monthly statement' }).click();
  await button(page, 'Show').click();
  const months = page.page.getByRole('table', { name: 'Monthly statement' });
  await months.getByText('3.975').waitFor();
  await page.shoot('statement');
  expect(await page.findings()).toEqual([]);
  expect((await exportCsv(page)).text).toMatch(/"2","5\.00","0\.025","1\.00","3\.975","0\.00"/);

  // The vendor learns that the payer could not pay, and the payer why.
  await page.go(`/sales/${first.settlement_id}`);
  const declines = page.page.getByRole('region', { name: 'Declined attempts' });
  await declines.getByText('payer declined').waitFor();
  const own = await opened({ person: await signInPerson(stack, { email: payer.email }) });
  await own.go(`/payments/${first.settlement_id}`);
  await own.page.getByText('over the limit per payment').waitFor();
  await own.shoot('payment-declines');
  expect(await own.findings()).toEqual([]);
  const phone = await opened({
    person: await signInPerson(stack, { email }),
    width: 'phone',
    colours: 'dark',
  });
  await phone.go('/sales');
  await rows(phone).nth(1).waitFor();
  await phone.shoot('sales-statement');
  expect(await phone.wider()).toEqual([]);
  expect(await phone.findings()).toEqual([]);
});
