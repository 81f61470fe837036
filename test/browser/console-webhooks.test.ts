import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { Webhook } from 'standardwebhooks';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { type Answer, answer, type Receiver, startReceiver } from '../support/servers/receiver.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/** The webhook pages of the console with a receiver that this test runs. */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let receiver: Receiver;
let behave: Answer;
beforeAll(async () => {
  receiver = await startReceiver((response, request) => behave(response, request));
});
afterAll(() => receiver?.stop());

const { opened } = consoleSuite(stack);
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const log = ({ page }: ConsolePage) => page.getByRole('table', { name: 'Deliveries' });
const seen = (page: ConsolePage, text: string | RegExp) => page.page.getByText(text).first().waitFor();
type Made = { endpoint_id: string; secret: string };
const endpointOf = ({ token }: Person, body: object = {}) =>
  must(api<Made>('POST /v1/webhook-endpoints', { token, body: { url: receiver.url, ...body } }), 'endpoint');
/** An event of the account: a key is rotated. */
const keyEvent = async ({ token }: Person): Promise<void> => {
  const payout_address = Keypair.generate().publicKey.toBase58();
  const body = { name: 'Weather API', price: '2500000', payout_address };
  const { service_id } = await must(
    api<{ service_id: string }>('POST /v1/services', { token, body }),
    'service',
  );
  await must(api(`POST /v1/services/${service_id}/key/rotate`, { token, body: {} }), 'rotate');
};
/** Whether the last delivery to the receiver is signed with this secret. */
const isSignedBy = (secret: string): boolean => {
  const { body, headers } = receiver.received.at(-1)!;
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
};

test('an endpoint is created with a secret shown once, tested, redelivered to, rotated, turned off and on, and deleted', async () => {
  behave = answer(200, {}, 'thank you');
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await page.go('/webhooks');
  await seen(page, 'No endpoints yet');
  await page.shoot('webhooks-empty');
  expect(await page.findings()).toEqual([]);

  await button(page, 'New endpoint').click();
  await page.page.getByLabel('URL').fill(receiver.url);
  await page.page.getByLabel('Description (optional)').fill('Order service');
  await page.page.getByRole('button', { name: /Events/ }).click();
  await page.page.getByRole('option', { name: 'Selected events' }).click();
  await page.page.getByRole('group', { name: 'Keys' }).getByText('Rotated').click();
  await page.shoot('webhooks-new');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Create endpoint').click();
  await page.page.getByRole('heading', { name: 'Signing secret' }).waitFor();
  const secret = (await page.page.getByRole('dialog').locator('.copyable code').textContent()) ?? '';
  expect(secret).toMatch(/^whsec_/);
  // An accidental key press must not lose it.
  await page.page.keyboard.press('Escape');
  await page.shoot('webhooks-secret');
  expect(await page.findings()).toEqual([]);
  await button(page, 'I saved it').click();
  await expect(page.page.getByText(secret).count()).resolves.toBe(0);

  await page.page.getByRole('link', { name: receiver.url }).click();
  await seen(page, 'settlement.*, key.rotated');
  await seen(page, 'No deliveries yet');
  await button(page, 'Send a test event').click();
  await log(page).getByText('delivered').waitFor();
  expect(isSignedBy(secret)).toBe(true);
  const { body, headers } = receiver.received.at(-1)!;
  await page.shoot('webhook');
  expect(await page.findings()).toEqual([]);

  await log(page).getByRole('button', { name: /^Show/ }).click();
  const request = page.page.getByRole('dialog').locator('pre');
  await request.waitFor();
  const [head, json] = ((await request.textContent()) ?? '').split('\n\n');
  expect(head).toContain(`webhook-id: ${headers['webhook-id']}`);
  expect(JSON.stringify(JSON.parse(json!))).toBe(body);
  await page.page.getByRole('dialog').getByText('thank you').waitFor();
  await page.shoot('webhook-delivery');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Close').click();

  const before = receiver.received.length;
  await log(page)
    .getByRole('button', { name: /^Redeliver/ })
    .click();
  await log(page).getByRole('cell', { name: '2', exact: true }).waitFor();
  expect(receiver.received.length).toBe(before + 1);
  expect(receiver.received.at(-1)!.body).toBe(body);

  await button(page, 'Rotate secret').click();
  await page.page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click();
  await page.page.getByRole('heading', { name: 'Signing secret' }).waitFor();
  const next = (await page.page.getByRole('dialog').locator('.copyable code').textContent()) ?? '';
  expect(next).not.toBe(secret);
  await button(page, 'I saved it').click();
  await seen(page, /Two secrets are valid for 2[34] h/);
  await button(page, 'Send a test event').click();
  await log(page).getByRole('row').nth(2).getByText('delivered').waitFor();
  await log(page).getByRole('row').nth(1).getByText('delivered').waitFor();
  expect([isSignedBy(secret), isSignedBy(next)]).toEqual([true, true]);

  await button(page, 'Turn off').click();
  await seen(page, 'You turned this endpoint off.');
  expect(await button(page, 'Send a test event').isDisabled()).toBe(true);
  await page.shoot('webhook-off');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Turn on').click();
  await page.page.getByText('You turned this endpoint off.').waitFor({ state: 'hidden' });

  await button(page, 'Edit').click();
  await page.page.getByLabel('Description (optional)').fill('Other service');
  await button(page, 'Save').click();
  await seen(page, 'Other service');

  await button(page, 'Delete').click();
  await button(page, 'Delete endpoint').click();
  await seen(page, 'No endpoints yet');
  expect(await api('GET /v1/webhook-endpoints', { token: person.token })).toMatchObject({
    body: { data: [] },
  });
});

test('a failing receiver has its answers and the next attempt in the log, and gets all events since a time once it works', async () => {
  behave = answer(500, {}, 'database is away');
  const person = await signInPerson(stack);
  const { endpoint_id } = await endpointOf(person, { event_types: ['key.*'] });
  const page = await opened({ person });
  await page.go(`/webhooks/${endpoint_id}`);
  await keyEvent(person);
  await log(page).getByText('500, not a 2xx').waitFor();
  await page.page.reload();
  await seen(page, 'Deliveries are failing');
  await log(page).getByText('500, not a 2xx').waitFor();
  await page.shoot('webhook-failing');
  await log(page).getByRole('button', { name: /^Show/ }).click();
  await page.page.getByRole('dialog').getByText('database is away').first().waitFor();
  await button(page, 'Close').click();

  behave = answer(200);
  const failed = receiver.received.length;
  await button(page, 'Redeliver since…').click();
  await page.page.getByRole('button', { name: /Events$/ }).click();
  await page.page.getByRole('option', { name: 'since a certain time' }).click();
  await button(page, 'Redeliver').click();
  await seen(page, 'Enter a date and a time.');
  await page.page.getByRole('textbox', { name: 'Since' }).fill('2020-01-01T10:00');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Redeliver').click();
  await seen(page, 'One event is being redelivered.');
  await log(page).getByText('delivered').waitFor();
  expect(receiver.received.length).toBeGreaterThan(failed);
  // With the filter it is among the delivered and not among the failed.
  await page.page.getByRole('button', { name: /^all deliveries/ }).click();
  await page.page.getByRole('option', { name: 'failed' }).click();
  await seen(page, 'No failed deliveries');
});

test('an endpoint that answered 410 Gone is off, and the page shows why', async () => {
  behave = answer(410);
  const person = await signInPerson(stack);
  const { endpoint_id } = await endpointOf(person);
  const page = await opened({ person });
  await page.go(`/webhooks/${endpoint_id}`);
  await button(page, 'Send a test event').click();
  await log(page).getByText('410, not a 2xx').waitFor();
  await page.page.reload();
  await seen(page, /answered 410 Gone/);
  await page.shoot('webhook-gone');
  expect(await page.findings()).toEqual([]);
  await page.go('/webhooks');
  await seen(page, 'off: gone');
});

test('many endpoints and deliveries with long names fit a phone in dark colours', async () => {
  behave = answer(200, {}, 'x'.repeat(400));
  const person = await signInPerson(stack);
  const long = `${receiver.url}/${'a-path-that-does-not-end-'.repeat(12)}`;
  const made = await atOnce(9, (i) =>
    endpointOf(person, {
      url: i === 8 ? long : `${receiver.url}/${i}`,
      description:
        i % 3 === 0 ? 'A description that goes on for longer than anybody reads '.repeat(3).trim() : 'Orders',
      event_types:
        i === 8 ? ['quote.*', 'settlement.*', 'refund.*', 'deposit.completed', 'key.ended'] : ['*'],
    }),
  );
  const { endpoint_id } = made[8]!;
  for (let sent = 0; sent < 8; sent += 1)
    await must(
      api(`POST /v1/webhook-endpoints/${endpoint_id}/test`, { token: person.token, body: {} }),
      'test',
    );
  for (const [width, colours] of [
    ['desktop', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const) {
    // A separate sign-in, because its cookie is valid in one browser.
    const again = await signInPerson(stack, { email: person.email });
    const page = await opened({ person: again, width, colours });
    await page.go('/webhooks');
    await page.page.getByRole('table', { name: 'Endpoints' }).waitFor();
    await page.shoot('webhooks-many');
    expect(await page.findings()).toEqual([]);
    expect(await page.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await page.go(`/webhooks/${endpoint_id}`);
    await log(page).getByRole('row').nth(8).waitFor();
    await page.shoot('webhook-many');
    expect(await page.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    expect(await page.findings()).toEqual([]);
    await log(page).getByRole('button', { name: /^Show/ }).first().click();
    await page.page.getByRole('dialog').locator('pre').waitFor();
    await page.shoot('webhook-delivery');
    expect(await page.findings()).toEqual([]);
    expect(await page.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }
});

test('the page shows what it loads from a slow API, and the error of a failed call', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  let answerNow: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    answerNow = resolve;
  });
  await page.page.route('**/v1/webhook-endpoints**', async (route) => {
    await held;
    await route.fulfill({
      status: 400,
      json: { error: { code: 'validation_error', message: 'no such page' } },
    });
  });
  await page.page.goto(`${stack.console_url}/webhooks`);
  await seen(page, 'Loading your endpoints…');
  await page.shoot('webhooks-slow');
  answerNow();
  await page.page.getByRole('alert').getByText('validation_error').waitFor();
  await page.shoot('webhooks-failed');
  expect(await page.findings()).toEqual([]);
});
