import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The payment links of a service in the console. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });

test('a link is created, its address shown as text and code, and it is deactivated', async () => {
  const person = await signInPerson(stack);
  const { token } = person;
  const payout_address = Keypair.generate().publicKey.toBase58();
  const body = { name: 'City tours', price: '2500000', payout_address };
  const { service_id } = await must(
    api<{ service_id: string }>('POST /v1/services', { token, body }),
    'service',
  );
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  await page.page.getByText('No payment links yet').waitFor();
  await button(page, 'Payment link').click();
  const dialog = page.page.getByRole('dialog');
  await dialog.getByLabel('What do you sell?').fill('Harbour tour');
  await dialog.getByLabel('Price').fill('3.5');
  await dialog.getByLabel('Page after the payment (optional)').fill('https://shop.example/thanks');
  await page.shoot('payment-link-new');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Create link').click();
  const url = await dialog.locator('.copyable code').textContent();
  expect(url).toMatch(/\/pay\/test\/pl_[0-9a-z]{26}$/);
  await dialog.getByRole('img', { name: 'QR code of the payment link' }).waitFor();
  await page.shoot('payment-link-address');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Done').click();

  const table = page.page.getByRole('table', { name: 'Payment links' });
  await table.getByText('Harbour tour').waitFor();
  await table.getByText('3.50 USDC').waitFor();
  await button(page, 'Deactivate').click();
  await dialog.getByRole('button', { name: 'Deactivate' }).click();
  await table.getByText('inactive').waitFor();
  expect(await button(page, 'Deactivate').count()).toBe(0);
  await page.shoot('payment-links');
  expect(await page.findings()).toEqual([]);
  const { data } = await must(api<{ data: object[] }>('GET /v1/payment-links', { token }), 'list');
  expect(data).toMatchObject([{ url, quote_amount: '3500000', status: 'inactive', single_use: false }]);
});

test('the links of a service fit a phone', async () => {
  const person = await signInPerson(stack);
  const { token } = person;
  const payout_address = Keypair.generate().publicKey.toBase58();
  const body = { name: 'City tours', price: '2500000', payout_address };
  const { service_id } = await must(
    api<{ service_id: string }>('POST /v1/services', { token, body }),
    'service',
  );
  const link = { service_id, title: 'A tour with a title that is longer than a phone is wide, by far' };
  await must(api('POST /v1/payment-links', { token, body: link }), 'link');
  const page = await opened({ person, width: 'phone', colours: 'dark' });
  await page.go(`/services/${service_id}`);
  await page.page.getByText('A tour with a title').waitFor();
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
  await page.shoot('payment-links-phone');
});
