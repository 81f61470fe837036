import { expect, test } from '@jest/globals';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { makeWallet } from '../support/browser/console-wallet.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Refunds from a payout address whose wallet was created in the console. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
type Service = { service_id: string; api_key: string; payout_address: string };

test('a wallet of the console is offered as payout address, and signs a refund with its passkey and with its code', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/wallet');
  await button(page, 'Create a wallet').first().click();
  const code = await makeWallet(page, 'Create with a passkey');

  await page.go('/services');
  await button(page, 'Create a service').click();
  await page.page.getByLabel('Name', { exact: true }).fill('Maps');
  await page.page.getByLabel('Price per call').fill('2.5');
  await page.shoot('service-create-own-wallet');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Create service').click();
  const apiKey = (await page.page.getByRole('dialog').locator('code').first().textContent())!;
  await button(page, 'I saved it').click();
  const { data } = await must(
    api<{ data: Service[] }>('GET /v1/services', { token: person.token }),
    'services',
  );
  const wallets = await must(
    api<{ data: { address: string }[] }>('GET /v1/wallets', { token: person.token }),
    'wallets',
  );
  expect(data[0]!.payout_address).toBe(wallets.data[0]!.address);

  const consumer = await createConsumer(api, stack);
  const quote = await quoteOf(api, { apiKey, serviceId: data[0]!.service_id });
  const paid = await must(settleWith(api, consumer.token, quote), 'settle');
  const before = await chain.balance(consumer.wallet.publicKey);
  await page.go(`/sales/${paid.settlement_id}`);
  const refund = async (amount: string) => {
    await button(page, 'Refund').click();
    await page.page.getByRole('textbox', { name: 'Amount' }).fill(amount);
    await button(page, 'Review and sign').click();
    await page.page.getByText(`${amount}0 USDC`).first().waitFor();
  };
  await refund('1.5');
  await page.shoot('refund-own-wallet');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Sign with your passkey').click();
  await page.page.getByText(/^Refund (paid|sent)\.$/).waitFor();

  await refund('0.5');
  await button(page, 'Use the recovery code').click();
  await page.page.getByLabel('Recovery code').fill(code);
  await button(page, 'Sign with the code').click();
  const rows = page.page.getByRole('table', { name: 'Refunds of this payment' }).getByRole('row');
  await rows
    .nth(2)
    .getByText(/^(confirmed|final)$/)
    .waitFor();
  await rows
    .nth(1)
    .getByText(/^(confirmed|final)$/)
    .waitFor();
  expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(2_000_000n);
});

test('a payout address elsewhere is still signed elsewhere', async () => {
  const email = `seller-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const vendor = await createVendor(api, stack, { email });
  const consumer = await createConsumer(api, stack);
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle');
  const page = await opened({ person: await signInPerson(stack, { email }) });
  await page.go(`/sales/${paid.settlement_id}`);
  await button(page, 'Refund').click();
  await button(page, 'Review and sign').click();
  await page.page.getByText('No wallet in this browser').waitFor();
  await page.page.getByText('Sign elsewhere', { exact: true }).waitFor();
  expect(await button(page, 'Sign with your passkey').count()).toBe(0);
});
