import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { quoteOf } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/** A vendor's services in the console: created, changed, given new keys, ended. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const newAddress = () => Keypair.generate().publicKey.toBase58();
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const inDialog = (console: ConsolePage, name: string) =>
  console.page.getByRole('dialog').getByRole('button', { name, exact: true });
const heading = (console: ConsolePage, name: string) => console.page.getByRole('heading', { name });

type Service = { service_id: string; api_key: string; name: string };
const createService = ({ token }: Person, more: object = {}): Promise<Service> =>
  must(
    api<Service>('POST /v1/services', {
      token,
      body: { name: 'Weather API', price: '50000', payout_address: newAddress(), ...more },
    }),
    'create service',
  );
const works = async (apiKey: string) => (await api('GET /v1/quotes', { token: apiKey })).status === 200;

test('a service is created from an empty page, errors are shown first, and its key is shown once', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/services');
  await page.page.getByRole('heading', { name: 'Services', exact: true }).waitFor();
  await page.page.getByText('No services yet').waitFor();
  await page.shoot('services-empty');
  expect(await page.findings()).toEqual([]);

  await button(page, 'Create a service').click();
  await page.page.getByLabel('Price per call').fill('0.0000001');
  await page.page.getByLabel('Payout address').fill('not an address');
  await page.page.getByText('Advanced').click();
  await page.page.getByLabel('Redeem window').fill('29');
  const calls: string[] = [];
  page.page.on('request', (request) => calls.push(`${request.method()} ${request.url()}`));
  await button(page, 'Create service').click();
  for (const wrong of ['Enter a name.', 'at most six decimals', '32 to 44 characters', '30 to 604,800'])
    await page.page.getByText(wrong).waitFor();
  expect(calls).toEqual([]);
  await page.shoot('service-create-wrong');
  expect(await page.findings()).toEqual([]);

  await page.page.getByLabel('Name', { exact: true }).fill('Weather API');
  await page.page.getByLabel('Price per call').fill('0.01');
  await page.page.getByText('The lowest price is 0.010001 USDC.').waitFor();
  await page.page.getByLabel('Price per call').fill('0.05');
  await page.page.getByText('You receive 0.04 USDC per call after the 0.01 USDC fee.').waitFor();
  // A token program cannot own money, which the API reads from the chain.
  await page.page.getByLabel('Payout address').fill('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
  await page.page.getByLabel('Redeem window').fill('3600');
  await page.page.getByText('redeem a payment: 1 h.').waitFor();
  await button(page, 'Create service').click();
  await page.page.getByRole('alert').getByText('validation_error').waitFor();
  const payout = newAddress();
  await page.page.getByLabel('Payout address').fill(payout);
  await button(page, 'Create service').click();
  await heading(page, 'Service key of “Weather API”').waitFor();
  await page.page.keyboard.press('Escape');
  const key = (await page.page.getByRole('dialog').locator('code').first().textContent()) ?? '';
  expect(key).toMatch(/^vendor_test_/);
  await page.shoot('service-key');
  expect(await page.findings()).toEqual([]);
  await button(page, 'I saved it').click();
  expect(await page.page.content()).not.toContain(key);
  expect(await works(key)).toBe(true);

  const row = page.page.getByRole('table', { name: 'Your services' }).getByRole('row').nth(1);
  expect(await row.textContent()).toContain('0.05 USDC');
  expect(await row.textContent()).toContain('0.04 USDC');
  await row.getByRole('link', { name: 'Weather API' }).click();
  await heading(page, 'Settings').waitFor();
  const list = await must(api<{ data: object[] }>('GET /v1/services', { token: person.token }), 'list');
  expect(list.data).toMatchObject([
    { name: 'Weather API', price: '50000', payout_address: payout, redeem_window_seconds: 3600 },
  ]);
});

test('a key is limited to addresses, and to any again', async () => {
  const person = await signInPerson(stack);
  const { service_id, api_key } = await createService(person);
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  const field = page.page.getByLabel('IP addresses');
  await field.fill('no address');
  await button(page, 'Save addresses').click();
  await page.page.getByRole('alert').getByText('validation_error').waitFor();
  await field.fill('203.0.113.7\n198.51.100.0/24');
  await button(page, 'Save addresses').click();
  await page.page.getByText('Keys work from these addresses only.').waitFor();
  // The gateway reads a key anew after a second.
  await waitFor(
    () => works(api_key),
    (isUsable) => !isUsable,
  );
  await field.fill('');
  await button(page, 'Save addresses').click();
  await page.page.getByText('Keys work from any address.').waitFor();
  await waitFor(
    () => works(api_key),
    (isUsable) => isUsable,
  );
});

test('only changed settings are sent', async () => {
  const person = await signInPerson(stack);
  const { service_id } = await createService(person);
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  const sent: unknown[] = [];
  page.page.on('request', (request) => request.method() === 'PATCH' && sent.push(request.postDataJSON()));
  await page.page.getByLabel('Price per call').fill('1.234567');
  await page.page.getByText('Advanced').click();
  await page.page.getByLabel('Old key stays valid for').fill('48');
  await button(page, 'Save settings').click();
  await page.page.getByText('Settings saved.').waitFor();
  expect(sent).toEqual([{ price: '1234567', key_grace_hours: 48 }]);
  await page.shoot('service');
  expect(await page.findings()).toEqual([]);
  const payout = newAddress();
  await page.page.getByLabel('Payout address').fill(payout);
  await button(page, 'Save settings').click();
  const path = `GET /v1/services/${service_id}` as const;
  const saved = await waitFor(
    async () => (await api<{ payout_address: string }>(path, { token: person.token })).body,
    ({ payout_address }) => payout_address === payout,
  );
  expect(saved).toMatchObject({ price: '1234567' });
});

test('in live a new payout address waits for a day, other settings do not affect it, and it can be cancelled', async () => {
  if (!('live' in stack.environments)) return;
  const person = await signInPerson(stack, { environment: 'live' });
  const { service_id } = await createService(person);
  const shown = async () =>
    (
      await must(
        api<{ payout_address: string; next_payout: { payout_address: string } | null }>(
          `GET /v1/services/${service_id}`,
          { token: person.token },
        ),
        'get',
      )
    ).next_payout?.payout_address;
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  const payout = newAddress();
  await page.page.getByLabel('Payout address').fill(payout);
  await button(page, 'Save settings').click();
  await page.page.getByText('New payout address pending').waitFor();
  expect(await page.page.textContent('.notice')).toMatch(/In 23 h 59 min/);
  expect(await shown()).toBe(payout);
  await page.shoot('service-live-payout');
  expect(await page.findings()).toEqual([]);

  await page.go(`/services/${service_id}`);
  await page.page.getByLabel('Price per call').fill('7');
  await button(page, 'Save settings').click();
  await page.page.getByText('Settings saved.').waitFor();
  expect(await shown()).toBe(payout);
  await button(page, 'Keep current address').click();
  await page.page.getByText('New payout address pending').waitFor({ state: 'hidden' });
  expect(await shown()).toBeUndefined();
});

test('after a rotation both keys work and the page counts down, also after a reload, or the other keys are revoked at once', async () => {
  const person = await signInPerson(stack);
  const { service_id, api_key } = await createService(person);
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  const rotate = async (atOnce: boolean) => {
    await button(page, 'Rotate the key').click();
    if (atOnce) await page.page.getByText('Revoke all other keys now').click();
    await page.shoot(atOnce ? 'service-rotate-at-once' : 'service-rotate');
    await button(page, 'Rotate key').click();
    await heading(page, 'New key of').waitFor();
    const key = (await page.page.getByRole('dialog').locator('code').first().textContent()) ?? '';
    await button(page, 'I saved it').click();
    return key;
  };
  const second = await rotate(false);
  await page.page.getByText('Two keys are valid').waitFor();
  expect(await page.page.textContent('main')).toMatch(/stops working in 23 h 59 min/);
  expect([await works(api_key), await works(second)]).toEqual([true, true]);
  await page.go(`/services/${service_id}`);
  await page.page.getByText('Two keys are valid').waitFor();
  const before = await page.page.locator('.notice time').first().textContent();
  expect(before).toMatch(/^23 h/);
  await page.shoot('service-grace');
  expect(await page.findings()).toEqual([]);

  const third = await rotate(true);
  await page.page.getByText('Two keys are valid').waitFor({ state: 'hidden' });
  expect([await works(api_key), await works(second), await works(third)]).toEqual([false, false, true]);
});

test('a link to a new key is mailed, and the key changes when the link is used', async () => {
  const person = await signInPerson(stack);
  const { service_id, api_key } = await createService(person);
  const page = await opened({ person });
  await page.go(`/services/${service_id}`);
  await button(page, 'E-mail a link').click();
  expect(await page.findings()).toEqual([]);
  await button(page, 'Send e-mail').click();
  await page.page.getByText('Link sent').waitFor();
  expect(await works(api_key)).toBe(true);
  const [link] = await waitFor(
    async () => {
      const response = await fetch(`${stack.mail_url}/messages?to=${encodeURIComponent(person.email)}`);
      const messages = (await response.json()) as { text: string }[];
      return messages.flatMap(({ text }) => text.match(/https?:\S+\/reveal\S+/g) ?? []);
    },
    (links) => links.length > 0,
  );
  expect(link).toContain(`service=${service_id}`);
});

test('a service with open quotes can only be closed, and one without is deleted', async () => {
  const person = await signInPerson(stack);
  const service = await createService(person);
  await quoteOf(api, { apiKey: service.api_key, serviceId: service.service_id });
  const page = await opened({ person });
  await page.go(`/services/${service.service_id}`);
  await button(page, 'Delete service').click();
  await page.page.getByText('1 open quote').waitFor();
  await page.shoot('service-end-open');
  expect(await page.findings()).toEqual([]);
  await inDialog(page, 'Delete service').click();
  await page.page.getByText('Not deleted: there are open payments').waitFor();
  await button(page, 'Close service').click();
  await page.page.getByText('This service is closing').waitFor();
  const again = await api('POST /v1/quote', {
    token: service.api_key,
    body: { service_id: service.service_id },
  });
  expect(again.status).toBe(409);
  await page.shoot('service-closing');

  const other = await createService(person, { name: 'Unused' });
  await page.go(`/services/${other.service_id}`);
  await button(page, 'Delete service').click();
  await page.page.getByText('No open payments').waitFor();
  await inDialog(page, 'Delete service').click();
  await heading(page, 'Your services').waitFor();
  await page.page.getByText('“Unused” deleted.').waitFor();
  expect(await works(other.api_key)).toBe(false);
  const path = `GET /v1/services/${other.service_id}` as const;
  expect((await api(path, { token: person.token })).status).toBe(404);
});

test('many services with long names fit a phone in dark colours', async () => {
  const person = await signInPerson(stack);
  for (let i = 0; i < 60; i += 1)
    await createService(person, {
      name: i % 3 === 0 ? `${'Hyperlocalprecipitationforecast'.repeat(2)} ${i}` : `Weather API ${i}`,
      price: i % 4 === 0 ? '123456789012' : '10001',
    });
  const [wide, phone] = [
    await opened({ person }),
    await opened({
      person: await signInPerson(stack, { email: person.email }),
      width: 'phone',
      colours: 'dark',
    }),
  ];
  await wide.go('/services');
  await wide.shoot('services-many');
  expect(await wide.page.getByRole('row').count()).toBe(51);
  await button(wide, 'Show more').click();
  await wide.page.getByText('Weather API 1', { exact: true }).waitFor();
  expect(await wide.page.getByRole('row').count()).toBe(61);
  await phone.go('/services');
  await phone.shoot('services-many');
  expect(await phone.findings()).toEqual([]);
  expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await phone.page.getByRole('link', { name: 'Hyperlocal' }).first().click();
  await heading(phone, 'Settings').waitFor();
  await phone.shoot('service');
  expect(await phone.findings()).toEqual([]);
  expect(await phone.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
});

test('the page shows a list that fails or loads, and an unknown service', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  let answer: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.page.route('**/v1/services?**', async (route) => {
    await asked;
    await route.fulfill({
      status: 403,
      headers: { 'x-request-id': 'request-7' },
      json: { error: { code: 'forbidden', message: 'not for you' } },
    });
  });
  await page.page.goto(`${stack.console_url}/services`);
  await page.page.getByText('Loading your services…').waitFor();
  await page.shoot('services-waiting');
  answer();
  expect(await page.page.getByRole('alert').textContent()).toMatch(/forbidden.*request-7/);
  await page.shoot('services-failing');
  await page.go('/services/0192f0c1-7d1a-7c3e-9b5d-2f6a8e4c0b17');
  await page.page.getByRole('alert').getByText('not_found').waitFor();
  expect(await page.findings()).toEqual([]);
});
