import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createConsumer, createDelegate, createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { allowSpending, fund, linkWallet } from '../../deploy/local/seed/wallet.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The page that runs the 402 exchange: real quotes, payments and redeems of the running system. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const region = ({ page }: ConsolePage, name: RegExp) => page.getByRole('region', { name });
const seen = ({ page }: ConsolePage, text: string | RegExp) => page.getByText(text).first().waitFor();
type Service = { service_id: string; api_key: string };
const serviceOf = ({ token }: Person, name = 'Weather API') =>
  must(
    api<Service>('POST /v1/services', {
      token,
      body: { name, price: '2500000', payout_address: Keypair.generate().publicKey.toBase58() },
    }),
    'service',
  );
/** The whole text of the page, and everything that its buttons of steps and answers would copy. */
const copied = async ({ page, copied: copiedBy }: ConsolePage): Promise<string> => {
  await page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true");
  const texts = [(await page.textContent('body')) ?? ''];
  for (const each of await page.getByRole('button', { name: /^Cop(y|ied)/ }).all()) {
    texts.push(await copiedBy(each));
  }
  return texts.join('\n');
};

test('step by step, paid by the account’s wallet: 402, check, settle, delivery, and no second redeem', async () => {
  const person = await signInPerson(stack);
  const { service_id, api_key } = await serviceOf(person);
  const page = await opened({ person });
  await page.go('/try');
  await seen(page, 'You have no wallet yet');
  await page.shoot('try-no-wallet');
  expect(await page.findings()).toEqual([]);

  const wallet = Keypair.generate();
  const { wallet_id } = await linkWallet(api, person.token, person.accountId, wallet);
  await fund(api, person.token, wallet_id, 5_000_000n);
  await allowSpending(api, person.token, wallet_id, wallet, 5_000_000n);
  await seen(page, /Ready:/);
  expect(await button(page, 'Call without paying').isDisabled()).toBe(true);
  await page.page.getByLabel('Service key').fill(api_key);

  await button(page, 'Call without paying').click();
  const first = region(page, /^1\. /);
  await first.getByText('done').waitFor();
  expect(await first.textContent()).toContain('"error": "payment_required"');
  await button(page, 'Check the quote').click();
  await region(page, /^2\. /).getByText('valid, checked in this page').waitFor();
  await page.shoot('try-checked');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Pay').click();
  await region(page, /^3\. /).getByText('done').waitFor();
  await button(page, 'Call again').click();
  const fourth = region(page, /^4\. /);
  await fourth.getByText('done').waitFor();
  expect(await fourth.textContent()).toContain('All is well.');
  await button(page, 'Try to redeem twice').click();
  const fifth = region(page, /^5\. /);
  await fifth.getByText('done').waitFor();
  expect(await fifth.textContent()).toMatch(/"replayed": false[\s\S]*"replayed": true/);
  expect(await fifth.textContent()).toContain('x-payment-replayed: true');
  await seen(page, 'Paid once, delivered once.');
  await page.shoot('try-done');
  expect(await page.findings()).toEqual([]);

  // The payment was made.
  const { data } = await must(
    api<{ data: { service_id: string; status: string }[] }>('GET /v1/settlements', { token: api_key }),
    'settlements',
  );
  expect(data).toMatchObject([{ service_id, status: 'redeemed' }]);
  // Neither shown nor copied: the key, the sign-in, the settlement token.
  const text = await copied(page);
  expect(text).toContain('curl -i -X POST');
  expect(text).toContain('"$SERVICE_KEY"');
  expect(text).toContain('"$ACCESS_TOKEN"');
  expect(text).not.toContain(api_key);
  expect(text).not.toMatch(/Bearer (vendor_|eyJ)/);
  expect(text).toContain('x-settlement-token: $SETTLEMENT_TOKEN');
  expect(text).not.toMatch(/x-settlement-token: (?!\$SETTLEMENT_TOKEN|'"\$SETTLEMENT_TOKEN")/);
  expect(text).not.toMatch(/settlement_token": "(?!\$SETTLEMENT_TOKEN)/);
  expect(await page.page.evaluate('JSON.stringify({ ...localStorage, ...sessionStorage })')).not.toContain(
    api_key,
  );
});

test('all steps run at once, paid by a delegate key, with a key that the page creates, and can start again', async () => {
  const person = await signInPerson(stack);
  const { api_key } = await serviceOf(person);
  const consumer = await createConsumer(api, stack);
  const delegate = await createDelegate(api, consumer, { daily: '5000000' });
  const page = await opened({ person, width: 'phone' });
  await page.go('/try');
  await button(page, 'Create a new key').click();
  await page.shoot('try-new-key');
  await button(page, 'Create the key').click();
  await seen(page, 'New service key');
  const made = await page.page.getByLabel('Service key').inputValue();
  expect(made).toMatch(/^vendor_test_/);
  expect(made).not.toBe(api_key);
  await page.page.getByRole('button', { name: /Paid by/ }).click();
  await page.page.getByRole('option', { name: 'an agent key' }).click();
  await page.page.getByRole('textbox', { name: 'Agent key' }).fill(delegate.api_key);
  await button(page, 'Run all steps').click();
  await seen(page, 'Paid once, delivered once.');
  await page.shoot('try-done');
  expect(await page.findings()).toEqual([]);
  expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  expect(await page.page.textContent('body')).not.toContain(delegate.api_key);
  await button(page, 'Start again').click();
  await button(page, 'Call without paying').waitFor();
  await expect(region(page, /^2\. /).count()).resolves.toBe(0);
});

test('a failed step shows the reason (a key of another service, a payer without money) and can be repeated', async () => {
  const person = await signInPerson(stack);
  const { api_key } = await serviceOf(person);
  const other = await createVendor(api, stack);
  const page = await opened({ person, colours: 'dark' });
  await page.go('/try');
  await page.page.getByLabel('Service key').fill('vendor_live_x');
  await seen(page, 'Test service keys start with vendor_test_.');
  await page.page.getByLabel('Service key').fill(other.apiKey);
  await button(page, 'Call without paying').click();
  await seen(page, /The API returned no quote/);
  await page.shoot('try-wrong-key');
  expect(await page.findings()).toEqual([]);

  await page.page.getByLabel('Service key').fill(api_key);
  await button(page, 'Run all steps').click();
  await region(page, /^3\. /).getByText('failed').waitFor();
  await seen(page, 'Get the buyer’s wallet ready');
  await page.shoot('try-no-money');
  expect(await page.findings()).toEqual([]);

  const wallet = Keypair.generate();
  const { wallet_id } = await linkWallet(api, person.token, person.accountId, wallet);
  await fund(api, person.token, wallet_id, 5_000_000n);
  await allowSpending(api, person.token, wallet_id, wallet, 5_000_000n);
  await button(page, 'Run the remaining steps').click();
  await seen(page, 'Paid once, delivered once.');
});

test('in live nothing runs, and the page shows why', async () => {
  if (!('live' in stack.environments)) return;
  const page = await opened({ person: await signInPerson(stack, { environment: 'live' }) });
  await page.go('/try');
  await seen(page, 'Test mode only');
  await expect(button(page, 'Run all steps').count()).resolves.toBe(0);
  expect(await page.findings()).toEqual([]);
});

test('without a service the page links to creating one', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.go('/try');
  await seen(page, 'You have no service yet');
  await page.shoot('try-empty');
  expect(await page.findings()).toEqual([]);
  await page.page.getByRole('link', { name: 'Create a service' }).click();
  await page.page.getByRole('heading', { name: 'Services', level: 1 }).waitFor();
});
