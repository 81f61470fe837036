import { expect, test } from '@jest/globals';
import { generateKeyPairSigner } from '@solana/kit';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/browser/console.ts';
import { signInPayer } from '../support/browser/console-payer.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { makeWallet } from '../support/browser/console-wallet.ts';
import { runningStack } from '../support/servers/stack.ts';

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

/** The cards whose content is wider than they are. Must be empty. */
const overfullCards = ({ page }: ConsolePage) =>
  page.evaluate(`[...document.querySelectorAll('.section, .figure-card')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map((card) => card.textContent.slice(0, 80))`);

test('a new vendor sells the first call with at most eleven clicks and four fields', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  const effort = await count(page);
  await page.go('/');
  await heading(page, 'What do you want to do?').waitFor();
  await page.shoot('home-new');
  expect(await page.findings()).toEqual([]);
  await page.page.getByRole('button', { name: /^Sell an API/ }).click();
  await page.page.getByText('0 of 3 done').waitFor();

  await button(page, 'Create a service').click();
  await button(page, 'Create service').click();
  await page.page.getByText('Next: put it in your server').waitFor();
  await button(page, 'I saved it').click();
  await done(page, 'Create a service').waitFor();

  await button(page, 'Create a wallet').click();
  await makeWallet(page, 'Create with a passkey');
  // The test money comes with the wallet.
  await button(page, 'Allow 50 USDC').click();
  await button(page, 'Sign with your passkey').click();
  await button(page, 'Pay').waitFor();
  await page.shoot('home-half');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Pay').click();
  await done(page, 'Make a test sale').waitFor();
  const { clicks, fields } = await effort();
  console.log(`console: ${clicks} clicks and ${fields} fields to the first sale`);
  expect(clicks).toBeLessThanOrEqual(11);
  expect(fields).toBeLessThanOrEqual(4);
  expect(await settlementsOf(person)).toMatchObject([{ status: 'redeemed' }]);
  const revenue = page.page.getByRole('region', { name: 'Net revenue' });
  await revenue.getByText('Today').waitFor();
  // 0.05 USDC less the fee of 0.01: net, as in the list below.
  expect(await revenue.textContent()).toMatch(/Today0\.04 USDC30 days0\.04 USDC/);
  // The axis has its steps in order, each with its own number.
  const steps = revenue.locator('svg text').filter({ hasText: /^\d+\.\d\d$/ });
  await steps.nth(4).waitFor();
  expect(await steps.allTextContents()).toEqual(['0.00', '0.01', '0.02', '0.03', '0.04']);
  const latest = page.page.getByRole('region', { name: 'Latest sales' });
  await latest.getByText('delivered').waitFor();
  expect(await latest.textContent()).toContain('+0.04 USDC');
  await page.shoot('home-paid');
  expect(await page.findings()).toEqual([]);

  // What is done is read from the API, and the role is kept.
  await page.go('/');
  await page.page.getByText('2 of 3 done').waitFor();
  await button(page, 'Hide').click();
  await page.go('/');
  await button(page, 'Show getting started').click();
  // The list ends with the vendor's own code: a quote that this page did not make.
  await page.page.getByRole('link', { name: 'Show the code' }).waitFor();
  const { data } = await must(
    api<{ data: { service_id: string }[] }>('GET /v1/services', { token: person.token }),
    'services',
  );
  const { service_id } = data[0]!;
  const { api_key } = await must(
    api<{ api_key: string }>(`POST /v1/services/${service_id}/key/rotate`, { token: person.token, body: {} }),
    'rotate',
  );
  await must(api('POST /v1/quote', { token: api_key, body: { service_id } }), 'quote');
  await done(page, 'Put it in your server').waitFor();
  await page.go('/');
  await heading(page, 'Latest sales').waitFor();
  expect(await heading(page, 'Getting started').count()).toBe(0);
});

test('a buyer and the owner of an agent have three steps of their own', async () => {
  const payer = await signInPayer(stack);
  const page = await opened({ person: payer });
  await page.go('/');
  // The account has a wallet, so it is not asked.
  await heading(page, 'Getting started: pay for APIs').waitFor();
  await page.page.getByText('2 of 3 done').waitFor();
  await button(page, 'Pay').click();
  await done(page, 'Make a payment').waitFor();
  expect(await settlementsOf(payer)).toMatchObject([{ status: 'redeemed' }]);
  await button(page, 'Change').click();
  await page.page.getByRole('button', { name: /^Give an agent a budget/ }).click();
  await page.page.getByRole('link', { name: 'Create an agent' }).waitFor();
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

test('demo data fills an account that has used up its token accounts, twice, and every card holds its content', async () => {
  const person = await signInPayer(stack);
  await useUpAccounts(person);
  const page = await opened({ person });
  await page.go('/');
  await button(page, 'Add demo data').click();
  await page.page.getByText(/\d+ of 14 done…/).waitFor();
  await page.shoot('home-demo');
  await page.page.getByText('Demo data added.').waitFor({ timeout: 90_000 });
  await page.page.getByText('Demo data added.').waitFor({ state: 'hidden' });
  await button(page, 'Add demo data').click();
  await page.page.getByText('Demo data added.').waitFor({ timeout: 90_000 });
  await heading(page, 'Latest sales').waitFor();
  await heading(page, 'Latest declines').waitFor();
  await page.page.getByText('Research agent (demo), today').waitFor();
  expect(await settlementsOf(person)).toHaveLength(20);

  // A long name stands in the narrow card of a decline too.
  const { data } = await must(
    api<{ data: { delegate_id: string }[] }>('GET /v1/delegates', { token: person.token }),
    'agents',
  );
  const path = `PATCH /v1/delegates/${data[0]!.delegate_id}` as const;
  const name = 'Night crawler of the archive, second shift';
  await must(api(path, { token: person.token, body: { name } }), 'rename');
  // The sign-in as it is now: its first refresh token, used again so late, would end it.
  const now = { ...person, cookies: await page.context.cookies() };
  const phone = await opened({ person: now, width: 'phone', colours: 'dark' });
  for (const [each, width, height] of [
    [phone, 390, 844],
    [phone, 1280, 860],
    [phone, 1440, 900],
  ] as const) {
    await each.page.setViewportSize({ width, height });
    await each.go('/');
    await each.page.getByRole('region', { name: 'Latest declines' }).getByText(name).first().waitFor();
    await each.page.locator('.recharts-bar-rectangle').first().waitFor();
    await each.shoot(`home-returning-${width}`);
    expect([width, await overfullCards(each)]).toEqual([width, []]);
    expect(await each.wider()).toEqual([]);
    expect(await each.findings()).toEqual([]);
  }
});
