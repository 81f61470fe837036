import { expect, test } from '@jest/globals';
import { generateKeyPairSigner } from '@solana/kit';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/console.ts';
import { signInPayer } from '../support/console-payer.ts';
import { consoleSuite } from '../support/console-suite.ts';
import { makeWallet } from '../support/console-wallet.ts';
import { answer, startReceiver } from '../support/receiver.ts';
import { runningStack } from '../support/stack.ts';

/**
 * The home page in real Chromium: a new person gets from nothing to a payment on this page alone,
 * and a returning one sees how things stand.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const heading = ({ page }: ConsolePage, name: string) => page.getByRole('heading', { name });
const done = ({ page }: ConsolePage, name: string) => page.getByRole('heading', { name: `${name} (done)` });
const settlementsOf = async ({ token }: Person) =>
  (await must(api<{ data: { status: string }[] }>('GET /v1/settlements', { token }), 'settlements')).data;

/** Counts the clicks and the fields that the user of this page has filled. */
const count = async ({ page, context }: ConsolePage) => {
  await context.addInitScript(`
    globalThis.effort = { clicks: 0, fields: new Set() };
    addEventListener('click', ({ isTrusted }) => { if (isTrusted) effort.clicks += 1; }, true);
    addEventListener('input', ({ target }) => effort.fields.add(target.id), true);
  `);
  return () =>
    page.evaluate<{ clicks: number; fields: number }>(
      '({ clicks: effort.clicks, fields: effort.fields.size })',
    );
};

test('a new person makes the first payment with at most ten clicks and four fields', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  const effort = await count(page);
  await page.go('/');
  await heading(page, 'Welcome').waitFor();
  await page.page.getByText('0 of 6 steps are done.').waitFor();
  await page.shoot('home-new');
  expect(await page.findings()).toEqual([]);

  await button(page, 'Create a wallet').click();
  await makeWallet(page, 'Create with a passkey');
  await done(page, 'Make a wallet').waitFor();
  // The test money comes with the wallet.
  await done(page, 'Get test money').waitFor();

  await button(page, 'Allow 50 USDC').click();
  await button(page, 'Sign with your passkey').click();
  await done(page, 'Allow spending').waitFor();
  await page.shoot('home-half');
  expect(await page.findings()).toEqual([]);

  await button(page, 'Create a service').click();
  await button(page, 'Create it').click();
  await button(page, 'I have stored it').click();
  await done(page, 'Create your first service').waitFor();
  await button(page, 'Pay').click();
  await done(page, 'Make the first payment').waitFor();
  const { clicks, fields } = await effort();
  console.log(`console: ${clicks} clicks and ${fields} fields to the first payment`);
  expect(clicks).toBeLessThanOrEqual(10);
  expect(fields).toBeLessThanOrEqual(4);
  expect(await settlementsOf(person)).toMatchObject([{ status: 'redeemed' }]);
  await heading(page, 'Latest payments').waitFor();
  await page.shoot('home-paid');
  expect(await page.findings()).toEqual([]);

  // What is done is read from the API, so a reload changes nothing.
  await page.go('/');
  await page.page.getByText('5 of 6 steps are done.').waitFor();
  await button(page, 'Hide this list').click();
  await page.go('/');
  await button(page, 'Show getting started').click();

  const receiver = await startReceiver(answer(204));
  try {
    await button(page, 'New endpoint').click();
    await page.page.getByLabel('URL').fill(receiver.url);
    await button(page, 'Create endpoint').click();
    await heading(page, 'Signing secret').waitFor();
    await button(page, 'I saved it').click();
    await page.page.getByText('6 of 6 steps are done.').waitFor();
    await page.go('/');
    await heading(page, 'Latest sales').waitFor();
    expect(await heading(page, 'Getting started').count()).toBe(0);
  } finally {
    await receiver.stop();
  }
});

/** Services whose addresses use up the token accounts that the platform pays for. */
const useUpAccounts = async ({ token }: Person): Promise<void> => {
  for (const name of ['First', 'Second', 'Third']) {
    const { address: payout_address } = await generateKeyPairSigner();
    const body = { name, price: '50000', payout_address };
    const made = await must(
      api<{ service_id: string; api_key: string }>('POST /v1/services', { token, body }),
      'service',
    );
    // Of an account whose token accounts are used up already, the quote is refused.
    await api('POST /v1/quote', { token: made.api_key, body: { service_id: made.service_id } });
  }
};

test('demo data fills an account that has used up its token accounts', async () => {
  const person = await signInPayer(stack);
  await useUpAccounts(person);
  const page = await opened({ person });
  await page.go('/');
  await button(page, 'Fill with demo data').click();
  await page.page.getByText(/\d+ of 14 done…/).waitFor();
  await page.shoot('home-demo');
  await page.page.getByText('The demo data is there.').waitFor({ timeout: 90_000 });
  await heading(page, 'Latest sales').waitFor();
  await heading(page, 'Latest declines').waitFor();
  await page.page.getByText('Research agent (demo), today').waitFor();
  expect(await settlementsOf(person)).toHaveLength(10);
  await page.shoot('home-returning');
  expect(await page.findings()).toEqual([]);

  // The sign-in as it is now: its first refresh token, used again so late, would end it.
  const now = { ...person, cookies: await page.context.cookies() };
  const phone = await opened({ person: now, width: 'phone', colours: 'dark' });
  await phone.go('/');
  await heading(phone, 'Latest sales').waitFor();
  await phone.shoot('home-returning');
  expect(await phone.wider()).toEqual([]);
  expect(await phone.findings()).toEqual([]);
});
