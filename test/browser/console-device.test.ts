import { expect, test } from '@jest/globals';
import { createConsumer } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** The page where a person confirms the sign-in of a device, in real Chromium. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { opened } = consoleSuite(stack);

type Begun = { device_code: string; user_code: string; verification_uri_complete: string };
const begin = async (client_name: string, environment = 'test'): Promise<Begun> =>
  (await api<Begun>('POST /v1/auth/device', { body: { client_name, environment } })).body;
const poll = async ({ device_code }: Begun) => {
  const { status, body } = await api<{ status?: string; account?: { email: string } }>(
    'POST /v1/auth/device/token',
    { body: { device_code } },
  );
  return { status, answer: body };
};
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const heading = (console: ConsolePage, name: string) => console.page.getByRole('heading', { name });
const typeCode = (console: ConsolePage, text: string) =>
  console.page.getByRole('textbox', { name: 'Code' }).fill(text);
const path = ({ verification_uri_complete }: Begun): string => {
  const { pathname, search } = new URL(verification_uri_complete);
  return `${pathname.replace('/console', '')}${search}`;
};

test('a link fills nothing in; the page shows who asks from where, and Allow signs the device in, which the account lists', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  const begun = await begin('quittance on <b>build-7</b>');
  await page.go(path(begun));
  expect(begun.verification_uri_complete).toContain(begun.user_code);
  expect(await page.page.getByRole('textbox', { name: 'Code' }).inputValue()).toBe('');
  expect(await page.page.textContent('main')).not.toContain(begun.user_code);
  await page.shoot('device-code');
  expect(await page.findings()).toEqual([]);
  expect((await poll(begun)).status).toBe(202);

  await typeCode(page, begun.user_code);
  await button(page, 'Continue').click();
  await heading(page, 'Sign in this device?').waitFor();
  const text = (await page.page.textContent('main')) ?? '';
  expect(text).toContain('“quittance on <b>build-7</b>”');
  expect(text).toContain('If somebody sent you this code');
  // The network of this machine, and the program of this test.
  expect(text).toContain('127.0.0.0/24, Node');
  expect(text).toContain(person.email);
  await page.shoot('device-decide');
  expect(await page.findings()).toEqual([]);
  expect((await poll(begun)).status).toBe(202);

  await button(page, 'Allow').click();
  await page.page.getByText('Go back to your terminal').waitFor();
  await page.shoot('device-allowed');
  expect(await page.findings()).toEqual([]);
  expect(await poll(begun)).toMatchObject({
    status: 200,
    answer: { status: 'authorized', account: { email: person.email } },
  });
  await page.go('/account');
  await page.page.getByText('Device “quittance on <b>build-7</b>”', { exact: true }).waitFor();
  await page.page.getByText('The device “quittance on <b>build-7</b>” signed in.').waitFor();
});

test('a code is typed in any spelling, and Deny refuses the device', async () => {
  const page = await opened({ person: await signInPerson(stack), width: 'phone' });
  const begun = await begin('A stranger');
  await page.go('/device');
  await typeCode(page, 'not a code');
  await button(page, 'Continue').click();
  await page.page.getByText('A code has eight letters').waitFor();
  await typeCode(page, begun.user_code.toLowerCase().replace('-', ' '));
  await button(page, 'Continue').click();
  await heading(page, 'Sign in this device?').waitFor();
  expect(await page.wider()).toEqual([]);
  await button(page, 'Deny').click();
  await page.page.getByText('Sign-in denied').waitFor();
  expect((await poll(begun)).status).toBe(403);

  await page.go(path(begun));
  await typeCode(page, begun.user_code);
  await button(page, 'Continue').click();
  await page.page.getByText('This code does not work').waitFor();
  expect(await page.findings()).toEqual([]);
});

test('Allow needs a fresh sign-in', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  const begun = await begin('quittance');
  await page.go(path(begun));
  await typeCode(page, begun.user_code);
  await button(page, 'Continue').click();
  await page.page.route(
    '**/v1/auth/device/decide',
    (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: 'reauthentication_required', message: 'sign in again' } },
      }),
    { times: 1 },
  );
  await button(page, 'Allow').click();
  await heading(page, 'Confirm it is you').waitFor();
  await button(page, 'Cancel').click();
  await page.page.getByText('You did not confirm, so nothing was changed.').waitFor();
  expect((await poll(begun)).status).toBe(202);
});

test('a visitor signs in first; a link for the other environment names it', async () => {
  const page = await opened();
  const begun = await begin('quittance');
  await page.go(path(begun));
  await heading(page, 'Sign in').waitFor();
  expect((await poll(begun)).status).toBe(202);

  const signedIn = await opened({ person: await signInPerson(stack) });
  await signedIn.go(`/device?code=${begun.user_code}&environment=live`);
  await signedIn.page.getByText('The device wants to sign in to live').waitFor();
  expect(await signedIn.findings()).toEqual([]);
});

test('the owner sees what a device made, and ends it with its sign-in', async () => {
  const consumer = await createConsumer(api, stack);
  const { account, access_token: token } = consumer.signIn;
  const begun = await begin('quittance on build-7');
  const decide = { token, body: { user_code: begun.user_code, allow: true } };
  await must(api('POST /v1/auth/device/decide', decide), 'allow the device');
  const { access_token: device } = (await poll(begun)).answer as { access_token: string };
  const limits = { per_payment: '500000', daily: '5000000' };
  const body = { name: 'Night agent', wallet_id: consumer.walletId, limits };
  const made = await must(
    api<{ api_key: string }>('POST /v1/delegates', { token: device, body }),
    'create the delegate',
  );

  const page = await opened({ person: await signInPerson(stack, { email: account.email }) });
  await page.go('/account');
  const row = page.page.getByRole('row').filter({ hasText: 'quittance on build-7' });
  await row.getByText('“Night agent”').waitFor();
  await page.shoot('sign-ins-delegates');
  expect(await page.findings()).toEqual([]);
  await row.getByRole('button', { name: 'Revoke' }).click();
  await page.page.getByText('Its agents are revoked too').waitFor();
  await page.shoot('sign-ins-revoke');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Revoke session').click();
  await page.page.getByText('Session revoked.').waitFor();
  expect((await api('GET /v1/delegates/me', { token: made.api_key })).status).toBe(401);
});

test('the owner closes the account by typing its address', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/account');
  // The data first, as one file with an object per line.
  const downloading = page.page.waitForEvent('download');
  await button(page, 'Download your data').click();
  const file = await downloading;
  expect(file.suggestedFilename()).toMatch(/^quittance-account-test-\d{4}-\d\d-\d\d\.jsonl$/);
  const stream = await file.createReadStream();
  const lines = Buffer.concat(await stream.toArray())
    .toString()
    .trimEnd()
    .split('\n');
  expect(JSON.parse(lines[0]!)).toMatchObject({ from: 'identity.getAccount', data: { email: person.email } });
  expect(lines.length).toBeGreaterThan(3);

  await button(page, 'Close account').click();
  const confirm = page.page.getByRole('dialog').getByRole('button', { name: 'Close account' });
  await confirm.click();
  await page.page.getByText('Type the e-mail address of this account first.').waitFor();
  await page.page.getByRole('textbox', { name: 'Your e-mail address' }).fill(person.email);
  await page.shoot('account-close');
  expect(await page.findings()).toEqual([]);
  await confirm.click();
  await heading(page, 'Sign in').waitFor();
});
