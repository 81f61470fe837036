import { expect, test } from '@jest/globals';
import { createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { linkToken } from '../../deploy/local/seed/sign-in.ts';
import { type ConsolePage, signInPerson, visit } from '../support/browser/console.ts';
import { again, signInPayer } from '../support/browser/console-payer.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/**
 * The delegates page in real Chromium: delegates are created, pay, are changed, get new keys and
 * are revoked.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const heading = (console: ConsolePage, name: string) => console.page.getByRole('heading', { name });
const field = (console: ConsolePage, label: string) => console.page.getByLabel(label, { exact: true });
/** The meter of a limit of 10 USDC a day, by what is spent. */
const METER: Record<string, string> = {
  2500000: '2.50 spent, 0.00 held, 7.50 left of 10.00 USDC',
  0: '0.00 spent, 0.00 held, 10.00 left of 10.00 USDC',
};
/** What the only delegate of an account has spent on this UTC day. */
const spentToday = async (token: string): Promise<bigint> => {
  type List = { data: { usage: { daily: { spent: string } } }[] };
  const { data } = await must(api<List>('GET /v1/delegates', { token }), 'list of delegates');
  return BigInt(data[0]!.usage.daily.spent);
};
const own = (key: string) =>
  api<{ name: string; limits: object; allowed_service_ids: string[] | null; expires_at: string | null }>(
    'GET /v1/delegates/me',
    { token: key },
  );

test('a delegate is created with limits, its key is shown once and pays, an edit that allows more needs a step-up, and it is revoked', async () => {
  const payer = await signInPayer(stack);
  const vendor = await createVendor(api, stack, { price: 2_500_000n });
  // An agent pays no service of its own account, so none is offered.
  const body = { name: 'Own shop', price: '500000', payout_address: vendor.payout.publicKey.toBase58() };
  await must(api('POST /v1/services', { token: payer.token, body }), 'service');
  const page = await opened({ person: payer });
  await page.go('/delegates');
  await page.page.getByText('No agents yet').waitFor();
  await page.shoot('delegates-empty');
  expect(await page.findings()).toEqual([]);

  await button(page, 'New agent').click();
  // The form begins with limits. Without them it warns. What few need is under Advanced.
  expect(await field(page, 'Per day (UTC)').inputValue()).toBe('5.00');
  expect(await field(page, 'Per month (UTC)').isVisible()).toBe(false);
  await page.page.getByText('Advanced', { exact: true }).click();
  expect(await page.page.getByRole('dialog').getByText('Own shop').count()).toBe(0);
  await field(page, 'Per day (UTC)').fill('');
  await page.page.getByText('can spend the whole spending limit').waitFor();
  await field(page, 'Name').fill('Research agent');
  await field(page, 'Per payment').fill('5');
  await field(page, 'Per day (UTC)').fill('10.0000001');
  await field(page, 'Allowed services').fill(`${vendor.serviceId}\nweather`);
  await button(page, 'Create and show the key').click();
  await page.page.getByText('at most six decimals').first().waitFor();
  await page.page.getByText('“weather” is not the id of a service.').waitFor();
  await page.shoot('delegates-new-faults');
  expect(await page.findings()).toEqual([]);
  await field(page, 'Per day (UTC)').fill('10');
  await field(page, 'Allowed services').fill(vendor.serviceId);
  await button(page, 'Create and show the key').click();
  await heading(page, 'Key of “Research agent”').waitFor();
  const [key] = await page.page.locator('[role=dialog] .copyable code').allTextContents();
  expect(key).toMatch(/^dk_test_/);
  // The key is in the environment and not in the code.
  const copy = (name: RegExp) => page.copied(page.page.getByRole('button', { name }));
  expect(await copy(/^Copy: In your shell/)).toContain(`\nexport DELEGATE_KEY=${key}`);
  const snippet = await copy(/^Copy: In your code/);
  expect(snippet).toContain('delegateKey: process.env.DELEGATE_KEY!');
  expect(snippet).toContain('maxAmount: 5000000n');
  expect(snippet).not.toContain(key);
  await page.page.keyboard.press('Escape');
  await heading(page, 'Key of “Research agent”').waitFor();
  await page.shoot('delegates-key');
  expect(await page.findings()).toEqual([]);
  await button(page, 'I saved it').click();
  expect(await page.page.content()).not.toContain(key);
  expect((await own(key!)).body).toMatchObject({
    limits: { per_payment: '5000000', daily: '10000000', monthly: null, total: null },
    allowed_service_ids: [vendor.serviceId],
  });

  // It pays. The meter follows, and the service now has a name.
  expect((await settleWith(api, key!, await quoteOf(api, vendor))).status).toBe(200);
  const spent = await spentToday(payer.token);
  await page.go('/delegates');
  const today = page.page.getByRole('meter', { name: 'Today' });
  // Midnight may pass between the payment and the page.
  const texts = [spent, await spentToday(payer.token)].map((micro) => METER[`${micro}`]);
  expect(texts).toContain(await today.getAttribute('aria-valuetext'));
  await page.page.getByText('resets').waitFor();
  await page.page.getByText('Weather API', { exact: true }).waitFor();
  await page.shoot('delegates');
  expect(await page.findings()).toEqual([]);

  // A stricter limit needs no fresh sign-in, and only the changed field is sent.
  const sent: unknown[] = [];
  page.page.on('request', (request) => {
    if (request.method() === 'PATCH') sent.push(request.postDataJSON());
  });
  await page.go('/delegates');
  await button(page, 'Edit Research agent').click();
  await field(page, 'Per day (UTC)').fill('1');
  await button(page, 'Save').click();
  await page.page.getByText('Saved.').waitFor();
  expect(sent).toEqual([{ limits: { daily: '1000000' } }]);
  await page.page.getByText(/ USDC left of 1\.00 USDC$/).waitFor();

  await button(page, 'Edit Research agent').click();
  await field(page, 'Per day (UTC)').fill('');
  await page.page.getByRole('dialog').getByText('Weather API').click();
  // The API's answer to a sign-in that is older than five minutes.
  await page.page.route(
    '**/v1/delegates/*',
    (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: 'reauthentication_required', message: 'sign in again' } },
      }),
    { times: 1 },
  );
  const since = Date.now();
  await button(page, 'Save').click();
  await heading(page, 'Confirm it is you').waitFor();
  expect((await own(key!)).body).toMatchObject({ limits: { daily: '1000000' } });
  await button(page, 'Mail me a link').click();
  await page.page.getByText('Check your e-mail').waitFor();
  const token = await linkToken(stack.mail_url, payer.email, 'test', since);
  const tab = await page.context.newPage();
  await visit(tab, `${stack.console_url}/sign-in/link#token=${token}`);
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('heading', { name: 'Home' }).waitFor();
  await tab.close();
  await page.page.getByText('any service', { exact: true }).waitFor();
  expect((await own(key!)).body).toMatchObject({
    limits: { per_payment: '5000000', daily: null },
    allowed_service_ids: null,
  });

  // A new key: the old one stays valid, unless it is revoked at once.
  await button(page, 'New key for Research agent').click();
  await button(page, 'Create and show the key').click();
  await heading(page, 'New key of “Research agent”').waitFor();
  const [second] = await page.page.locator('[role=dialog] .copyable code').allTextContents();
  await page.page.getByText('The previous key works until').waitFor();
  expect(await atOnce(2, async (i) => (await own(i === 0 ? key! : second!)).status)).toEqual([200, 200]);
  await button(page, 'I saved it').click();
  await button(page, 'New key for Research agent').click();
  await page.page.getByText('Revoke the current key now').click();
  await button(page, 'Create and show the key').click();
  await page.page.getByText('The old key is revoked.').waitFor();
  const [third] = await page.page.locator('[role=dialog] .copyable code').allTextContents();
  expect((await own(second!)).status).toBe(401);
  await button(page, 'I saved it').click();

  // A pause takes effect at the next payment, and the key still works for the rest.
  await button(page, 'Pause Research agent').click();
  await button(page, 'Resume Research agent').waitFor();
  const refused = await settleWith(api, third!, await quoteOf(api, vendor));
  expect(refused).toMatchObject({
    status: 403,
    body: { error: { code: 'forbidden', message: expect.stringContaining('paused') } },
  });
  await page.shoot('delegates-paused');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Resume Research agent').click();
  await button(page, 'Pause Research agent').waitFor();
  expect((await settleWith(api, third!, await quoteOf(api, vendor))).status).toBe(200);
  await button(page, 'Pause all').click();
  await page.page.getByText('New payments of every agent are refused').waitFor();
  await page.shoot('delegates-stop-all');
  await page.page.getByRole('dialog').getByRole('button', { name: 'Pause all' }).click();
  await button(page, 'Resume Research agent').waitFor();

  await button(page, 'Revoke Research agent').click();
  await page.page.getByText('Its keys stop working now').waitFor();
  await button(page, 'Cancel').click();
  expect((await own(third!)).status).toBe(200);
  await button(page, 'Revoke Research agent').click();
  await button(page, 'Revoke agent').click();
  await page.page.getByText('No agents yet').waitFor();
  expect((await own(third!)).status).toBe(401);
  const revoked = page.page.getByRole('table', { name: 'Revoked agents' });
  await revoked.getByRole('link', { name: 'Research agent' }).click();
  await heading(page, 'Activity').waitFor();
  await page.page.getByText('Research agent (revoked)').first().waitFor();
});

test('many delegates with long names, caps and spending fit a phone in dark colours, with more pages', async () => {
  const payer = await signInPayer(stack);
  const names = Array.from({ length: 24 }, (_, i) =>
    i % 5 === 0
      ? `A program whose name nobody kept short enough for any list that it stands in ${i}`
      : `Agent ${i}`,
  );
  for (const [i, name] of names.entries()) {
    await must(
      api('POST /v1/delegates', {
        token: payer.token,
        body: {
          name,
          wallet_id: payer.walletId,
          limits:
            i % 3 === 0 ? {} : { daily: '999999999999999999', monthly: `${i}000001`, total: '50000000' },
        },
      }),
      'delegate',
    );
  }
  for (const [width, colours] of [
    ['desktop', 'light'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const) {
    const page = await opened({ person: await again(stack, payer), width, colours });
    await page.go('/delegates');
    const cards = page.page.getByRole('button', { name: /^Revoke / });
    expect(await cards.count()).toBe(20);
    await button(page, 'Show more agents').click();
    await page.page.getByRole('button', { name: /^Revoke Agent 1$/ }).waitFor();
    expect(await cards.count()).toBe(24);
    expect(await page.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.shoot('delegates-overfull');
    expect(await page.findings()).toEqual([]);
  }
});

test('the page shows a missing wallet, a failing API and a slow one', async () => {
  const payer = await signInPerson(stack);
  const page = await opened({ person: payer });
  await page.go('/delegates');
  await page.page.getByText('You need a wallet first').waitFor();
  expect(await button(page, 'New agent').count()).toBe(0);
  await page.shoot('delegates-no-wallet');

  let answered = 0;
  await page.page.route('**/v1/delegates*', async (route) => {
    answered += 1;
    const error = {
      code: 'internal_error',
      message: 'something went wrong',
      request_id: 'req_1',
      details: [],
    };
    await route.fulfill({ status: 500, json: { error } });
  });
  await page.go('/delegates');
  await page.page.getByText('Something went wrong on our side').waitFor();
  await page.shoot('delegates-failing');
  expect(await page.findings()).toEqual([]);
  expect(answered).toBeGreaterThan(0);
  await page.page.unroute('**/v1/delegates*');
  await button(page, 'Try again').click();
  await page.page.getByText('You need a wallet first').waitFor();

  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.page.route('**/v1/delegates*', async (route) => {
    await held;
    await route.continue();
  });
  await page.page.goto(`${stack.console_url}/delegates`);
  await page.page.getByText('Loading your agents').waitFor();
  await page.shoot('delegates-slow');
  release();
  await page.page.getByText('You need a wallet first').waitFor();
});
