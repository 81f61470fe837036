import { expect, test } from '@jest/globals';
import { createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { linkToken } from '../../deploy/local/seed/sign-in.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, signInPerson, visit } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Signing in and out of the console in real Chromium: by link, by passkey, and by step-up for
 * sensitive actions.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const newAddress = () => `door-${crypto.randomUUID().slice(0, 8)}@example.com`;
/** The newest link that was mailed to an address since, with this text in its URL. */
const mailedLink = async (email: string, since: number, part: string): Promise<string> => {
  const read = async () => {
    const response = await fetch(`${stack.mail_url}/messages?to=${encodeURIComponent(email)}`);
    const messages = (await response.json()) as { text: string; received_at: string }[];
    const [link] = messages
      .filter(({ received_at }) => Date.parse(received_at) >= since)
      .flatMap(({ text }) => text.match(/https?:\S+#token=\S+/g) ?? [])
      .filter((each) => each.includes(part));
    return link ?? null;
  };
  return (await waitFor(read, (link) => link !== null))!;
};
const asked = (console: ConsolePage): string[] => {
  const urls: string[] = [];
  console.page.on('request', (request) => urls.push(request.url()));
  return urls;
};
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const heading = (console: ConsolePage, name: string) =>
  console.page.getByRole('heading', { name, exact: name === 'Account' });

test('a link is requested on the page, opened in another tab, consumed by the click only, and the first tab follows', async () => {
  const first = await opened();
  await first.go('/account');
  await heading(first, 'Sign in').waitFor();
  await first.shoot('sign-in');
  expect(await first.findings()).toEqual([]);
  const [email, since] = [newAddress(), Date.now()];
  await first.page.getByLabel('E-mail').fill(email);
  await button(first, 'Mail me a link').click();
  await first.page.getByText('Check your e-mail').waitFor();
  // The link of this machine's mail catcher, and of the docs.
  const caught = first.page.getByRole('link', { name: 'open the caught e-mail' });
  expect(await caught.getAttribute('href')).toBe(`${stack.mail_url}/?to=${encodeURIComponent(email)}`);
  expect(await first.page.getByRole('link', { name: 'Read the docs' }).getAttribute('href')).toBe('/docs');
  const link = await mailedLink(email, since, '/console/sign-in/link');
  const token = new URL(link).hash.slice('#token='.length);

  // The requests of a mail scanner with a browser, and of one without.
  const scanner = await opened();
  await visit(scanner.page, link);
  await fetch(`${stack.gateway_url}/v1/auth/magic-link/verify?token=${token}`);

  const tab = await first.context.newPage();
  const urls: string[] = [];
  tab.on('request', (request) => urls.push(request.url()));
  await visit(tab, link);
  expect(tab.url()).toBe(`${stack.console_url}/sign-in/link`);
  expect(urls.filter((each) => each.includes(token) && !each.includes('#'))).toEqual([]);
  // Its requests consume nothing.
  expect(urls.filter((each) => /magic-link(?!\/read)/.test(each))).toEqual([]);
  expect(await tab.textContent('main')).toContain(email);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await tab.getByRole('heading', { name: 'Welcome' }).waitFor();
  // No script can read the refresh token, and the access token is not stored.
  expect(await tab.evaluate('document.cookie + JSON.stringify(localStorage)')).not.toMatch(/rt_|eyJ/);

  // The page that requested the link is signed in too, and has not changed.
  await heading(first, 'Account').waitFor();
  await first.page.getByText(email).first().waitFor();
  await first.go('/account');
  await heading(first, 'Sessions').waitFor();

  const again = await opened();
  await visit(again.page, link);
  await heading(again, 'This link no longer works').waitFor();
});

test('a link that another browser requested names its account and signs in only after a confirmation', async () => {
  const [victim, [stranger, since]] = [await signInPerson(stack), [newAddress(), Date.now()]];
  await api('POST /v1/auth/magic-link', { body: { email: stranger, environment: 'test' } });
  const link = await mailedLink(stranger, since, '/console/sign-in/link');
  const page = await opened({ person: victim });
  await visit(page.page, link);
  await heading(page, 'Is this your account?').waitFor();
  const text = (await page.page.textContent('main')) ?? '';
  expect(text).toContain(stranger);
  expect(text).toContain(`your sign-in as ${victim.email}`);
  // The plain button is absent, so that a hurried user does not press it.
  expect(await button(page, 'Sign in').count()).toBe(0);
  await page.shoot('sign-in-elsewhere');
  expect(await page.findings()).toEqual([]);

  await page.page.getByRole('link', { name: 'Do not sign in' }).click();
  await page.go('/account');
  await page.page.getByText(victim.email).first().waitFor();

  // A user who requested the link on another device confirms, and is signed in here.
  const own = await opened();
  await visit(own.page, link);
  await button(own, `Sign in here as ${stranger}`).click();
  await heading(own, 'Welcome').waitFor();
  expect(own.problem()).toEqual([]);
});

test('the page of a mailed link without a complete link shows this and consumes nothing', async () => {
  const page = await opened();
  const urls = asked(page);
  for (const path of [
    '/sign-in/link',
    '/sign-in/link#token=ml_prod_a',
    '/reveal',
    '/reveal#token=rv_test_a',
    '/reveal?service=../x#token=rv_test_a',
  ]) {
    await page.page.goto('about:blank');
    await page.go(path);
    await heading(page, 'Open the link from your e-mail').waitFor();
    expect(await page.page.evaluate('location.hash + location.search')).not.toContain('token');
  }
  expect(urls.filter((each) => /verify/.test(each))).toEqual([]);
});

test('the page of a link to a new key names its owner and environment, and the click creates the key once', async () => {
  const { signIn, serviceId, apiKey } = await createVendor(api, stack);
  const since = Date.now();
  await api(`POST /v1/services/${serviceId}/key/reveal`, { token: signIn.access_token, body: {} });
  const link = await mailedLink(signIn.account.email, since, '/console/reveal');
  const secret = new URL(link).hash.slice('#token='.length);
  const page = await opened();
  const urls = asked(page);
  await visit(page.page, link);
  expect(page.page.url()).toBe(`${stack.console_url}/reveal`);
  expect(urls.filter((each) => each.includes(secret) && !each.includes('#'))).toEqual([]);
  expect(await page.page.textContent('main')).toContain(serviceId);
  expect(await page.page.textContent('main')).toContain('(test)');
  expect(await api('GET /v1/quotes', { token: apiKey })).toMatchObject({ status: 200 });
  expect(await page.findings()).toEqual([]);

  await button(page, 'Create and show the key').click();
  await heading(page, 'Your new key').waitFor();
  const made = (await page.page.locator('code').textContent()) ?? '';
  expect(made).not.toBe(apiKey);
  expect(await api('GET /v1/quotes', { token: made })).toMatchObject({ status: 200 });
  expect(await page.findings()).toEqual([]);

  const again = await opened();
  await visit(again.page, link);
  await button(again, 'Create and show the key').click();
  await heading(again, 'This link no longer works').waitFor();
});

test('a passkey is added, signs in after a sign-out, and is removed', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/account');
  await page.page.getByText('No passkeys yet').waitFor();
  await page.shoot('account-empty');
  await button(page, 'Add a passkey').click();
  await page.page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Laptop');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Continue').click();
  await page.page.getByRole('table', { name: 'Passkeys' }).getByText('Laptop').waitFor();
  await page.shoot('account');
  expect(await page.findings()).toEqual([]);

  await button(page, 'Sign out').click();
  await button(page, 'Sign in with a passkey').click();
  await heading(page, 'Account').waitFor();
  await page.page.getByText(person.email).first().waitFor();
  // It survives a reload: the cookie signs the page in.
  await page.go('/account');
  await page.page.getByText('current', { exact: true }).waitFor();

  await button(page, 'Remove Laptop').click();
  await page.shoot('confirm');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Remove passkey').click();
  await page.page.getByText('No passkeys yet').waitFor();
  await button(page, 'Sign out').click();
  await button(page, 'Sign in with a passkey').click();
  // The device still offers it, but the API no longer has it.
  await page.page.getByRole('alert').getByText('unauthorized').waitFor();
});

test('a sign-in of another device is revoked here, and that device shows it', async () => {
  const email = newAddress();
  const [here, there] = [await signInPerson(stack, { email }), await signInPerson(stack, { email })];
  const [page, other] = [await opened({ person: here }), await opened({ person: there })];
  await other.go('/account');
  await page.go('/account');
  await button(page, 'Revoke').click();
  await button(page, 'Revoke session').click();
  await page.page.getByText('Session revoked.').waitFor();
  await expect(button(page, 'Revoke').count()).resolves.toBe(0);
  // What is loaded is still shown. The next change calls the API.
  await other.page.getByLabel('Name').fill('Ada');
  await button(other, 'Save').click();
  await other.page.getByText('Your session has ended.').waitFor();
});

test('an action that needs a fresh sign-in asks for one, by passkey or link, and then continues', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/account');
  const add = async (label: string) => {
    await button(page, 'Add a passkey').click();
    await page.page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(label);
    await button(page, 'Continue').click();
  };
  // The API's answer to a sign-in that is older than five minutes, once each.
  const refuseOnce = () =>
    page.page.route(
      '**/v1/auth/passkey/register/options',
      (route) =>
        route.fulfill({
          status: 403,
          json: { error: { code: 'reauthentication_required', message: 'sign in again' } },
        }),
      { times: 1 },
    );
  await refuseOnce();
  await add('Phone');
  await heading(page, 'Confirm it is you').waitFor();
  await page.shoot('step-up');
  expect(await page.findings()).toEqual([]);
  const since = Date.now();
  await button(page, 'Mail me a link').click();
  await page.page.getByText('Check your e-mail').waitFor();
  const tab = await page.context.newPage();
  await visit(tab, await mailedLink(person.email, since, '/sign-in/link'));
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('heading', { name: 'Welcome' }).waitFor();
  await tab.close();
  await page.page.getByRole('table', { name: 'Passkeys' }).getByText('Phone').waitFor();
  // The sign-in that the new one replaced is revoked.
  expect(await api('GET /v1/accounts/me', { token: person.token })).toMatchObject({ status: 401 });

  await refuseOnce();
  await add('Phone again');
  await button(page, 'Use a passkey').click();
  // It continued: the device answers that it has a passkey already.
  await page.page.getByText('This device already has a passkey for your account.').waitFor();
});

test('after a sign-in with another account in another tab, this tab shows that account and no data of the former', async () => {
  const [first, second] = [await signInPerson(stack), newAddress()];
  const page = await opened({ person: first });
  await page.go('/account');
  await page.page.getByText(first.email).first().waitFor();
  await page.page.getByLabel('Name').fill('Ada');
  const since = Date.now();
  await api('POST /v1/auth/magic-link', { body: { email: second, environment: 'test' } });
  const tab = await page.context.newPage();
  await visit(tab, await mailedLink(second, since, '/sign-in/link'));
  await tab.getByRole('button', { name: `Sign in here as ${second}` }).click();
  await page.page.getByText(second).first().waitFor();
  expect(await page.page.textContent('body')).not.toContain(first.email);
  expect(await page.page.getByLabel('Name').inputValue()).toBe('');
});

test('test and live are distinct on every page, and each has a separate sign-in', async () => {
  const email = newAddress();
  const person = await signInPerson(stack, { email });
  const page = await opened({ person });
  await page.go('/account');
  const band = page.page.getByRole('banner');
  expect(await band.textContent()).toContain('Test mode: no real money');
  if (!('live' in stack.environments)) return;
  await button(page, 'Switch to live').click();
  await heading(page, 'Sign in').waitFor();
  expect(await band.textContent()).toContain('Live: real money');
  const since = Date.now();
  await page.page.getByLabel('E-mail').fill(email);
  await button(page, 'Mail me a link').click();
  const token = await linkToken(stack.mail_url, email, 'live', since);
  const tab = await page.context.newPage();
  await visit(tab, `${stack.console_url}/sign-in/link#token=${token}`);
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('heading', { name: 'Welcome' }).waitFor();
  await tab.close();
  await heading(page, 'Account').waitFor();
  await page.shoot('account-live');
  expect(await page.findings()).toEqual([]);
  // Both environments stay signed in.
  await button(page, 'Switch to test').click();
  await heading(page, 'Account').waitFor();
  await page.page.getByTitle(person.accountId).waitFor();
});

test('all pages are reachable and fit a phone in dark colours', async () => {
  const page = await opened({ person: await signInPerson(stack), width: 'phone', colours: 'dark' });
  await page.go('/');
  await page.shoot('home');
  await button(page, 'All pages').click();
  await page.shoot('menu');
  expect(await page.findings()).toEqual([]);
  await page.page.getByRole('link', { name: 'Account' }).click();
  await heading(page, 'Sessions').waitFor();
  await page.page.getByText('You signed in with a mailed link.').first().waitFor();
  await page.page.getByText('current', { exact: true }).waitFor();
  await page.shoot('account');
  expect(await page.findings()).toEqual([]);
  expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});

test('an unavailable system is shown with its error and a way to try again', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  await page.page.route('**/v1/accounts/me', (route) =>
    route.fulfill({
      status: 404,
      headers: { 'x-request-id': 'request-7' },
      json: { error: { code: 'not_found', message: 'no such account' } },
    }),
  );
  await page.go('/account');
  const notice = page.page.getByRole('alert');
  expect(await notice.textContent()).toMatch(/No such account\..*not_found.*request-7/);
  await page.shoot('failing');
  expect(await page.findings()).toEqual([]);
  await page.page.unroute('**/v1/accounts/me');
  await button(page, 'Try again').click();
  await page.page.getByText('Environment', { exact: true }).waitFor();
});

test('the first load is below 250 kB compressed, and prints the time until it is usable', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  const sizes = new Map<string, Promise<number>>();
  page.page.on('response', (response) => {
    if (response.url().includes('/console'))
      sizes.set(
        response.url(),
        response
          .request()
          .sizes()
          .then(({ responseBodySize }) => responseBodySize),
      );
  });
  await page.go('/');
  const total = (await Promise.all(sizes.values())).reduce((sum, size) => sum + size, 0);
  const fresh = await opened({ person: await signInPerson(stack) });
  const startedAt = performance.now();
  await fresh.page.goto(`${stack.console_url}/`);
  await heading(fresh, 'Welcome').waitFor();
  console.log(
    `console: first load ${(total / 1000).toFixed(0)} kB in ${sizes.size} files, ` +
      `to be used after ${Math.round(performance.now() - startedAt)} ms`,
  );
  expect(sizes.size).toBeGreaterThan(2);
  expect(total).toBeLessThan(250_000);
});
