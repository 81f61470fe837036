import { beforeAll, expect, test } from '@jest/globals';
import {
  createDelegate,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { waitFor } from '../support/base/wait.ts';
import type { ConsolePage } from '../support/browser/console.ts';
import { again, type Payer, signInPayer } from '../support/browser/console-payer.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The receipt of one payment in real Chromium: its content, its tokens verified in the page,
 * alterations detected.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const suite = consoleSuite(stack);
let [payer, vendor, paid]: [Payer?, Vendor?, Paid?] = [];
let delegateId: string;
beforeAll(async () => {
  payer = await signInPayer(stack);
  vendor = await createVendor(api, stack, { price: 2_500_001n });
  const robot = await createDelegate(api, payer, {});
  delegateId = robot.delegate_id;
  // The record keeps the names of a scope in another order than the token.
  const scope = { resource: 'https://weather.example/report', days: 7 };
  const quote = await quoteOf(api, vendor, { scope });
  paid = await must(settleWith(api, robot.api_key, quote), 'settle');
  const path = `GET /v1/settlements/${paid.settlement_id}` as const;
  await waitFor(
    async () => (await api<{ chain_status: string }>(path, { token: payer!.token })).body.chain_status,
    (status) => status === 'finalized',
    60_000,
  );
});

const opened = async (options: Parameters<typeof suite.opened>[0] = {}): Promise<ConsolePage> =>
  suite.opened({ person: await again(stack, payer!), ...options });
const text = (console: ConsolePage) => console.page.locator('main').innerText();

type Payment = Record<string, string> & { quote_token: string; settlement_token: string };
/** Opens the receipt with a changed answer of the API. */
const altered = async (change: (payment: Payment) => void): Promise<ConsolePage> => {
  const page = await opened();
  await page.page.route('**/v1/settlements/*', async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as Payment;
    change(json);
    await route.fulfill({ response, json });
  });
  await page.go(`/payments/${paid!.settlement_id}`);
  return page;
};

test('the receipt shows the payment, and the key and environment of both tokens, also on paper', async () => {
  for (const [width, colours] of [
    ['desktop', 'light'],
    ['phone', 'light'],
    ['desktop', 'dark'],
  ] as const) {
    const page = await opened({ width, colours });
    await page.go(`/payments/${paid!.settlement_id}`);
    await page.page.getByText('The settlement token is genuine').waitFor();
    const shown = await text(page);
    for (const each of [
      'Paid to Weather API',
      '2.500001 USDC',
      '0.0125 USDC',
      'The quote token is genuine',
      'test.quote.1',
      'test.settlement.1',
      'of the test environment',
      'Final on chain.',
      'https://weather.example/report',
    ])
      expect(shown).toContain(each);
    // Whole where there is room, else by its ends and in its title.
    for (const id of [delegateId, paid!.tx_hash])
      await page.page.getByText(id).or(page.page.getByTitle(id)).last().waitFor();
    expect(await page.page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await page.shoot('receipt');
    expect(await page.findings()).toEqual([]);
    if (width === 'phone') continue;
    await page.page.emulateMedia({ media: 'print' });
    expect(await page.page.getByRole('button').count()).toBe(0);
    expect(await page.page.getByRole('navigation').count()).toBe(0);
    await page.page.getByText('Test mode: no real money').first().waitFor();
    // On paper nothing can be copied, so all of it is printed.
    const printed = await page.page.evaluate(
      `getComputedStyle(document.querySelector('[title="${paid!.tx_hash}"]'), '::after').content`,
    );
    expect(printed).toBe(`"${paid!.tx_hash}"`);
    expect(
      await page.page.evaluate(
        'getComputedStyle(document.body).colorScheme + getComputedStyle(document.documentElement).backgroundColor',
      ),
    ).toContain('light');
    await page.shoot('receipt-print');
  }
});

/** Replaces one character of a token by another of the same alphabet. */
const at = (token: string, index: number) => {
  const place = index < 0 ? token.length + index : index;
  return token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1);
};

test.each<[string, (payment: Payment) => void, string[]]>([
  [
    'the content of the quote',
    (payment) => {
      const [payload, signature] = payment.quote_token.split('.') as [string, string];
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
      claims.quote_amount = '1';
      payment.quote_token = `${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
    },
    ['The quote token is not genuine', 'one of them was changed', 'The settlement token is genuine'],
  ],
  [
    'the signature of the settlement token',
    (payment) => {
      payment.settlement_token = at(payment.settlement_token, -20);
    },
    ['The quote token is genuine', 'The settlement token is not genuine', 'one of them was changed'],
  ],
  [
    'the amount of the record',
    (payment) => {
      payment.quote_amount = '1000000';
    },
    ['this record was altered', 'signed is 2500001, the record says 1000000'],
  ],
  [
    'the fee of the record',
    (payment) => {
      payment.fee_amount = '0';
    },
    [
      'The quote token is genuine, but this record was altered',
      'Fee in micro-units',
      'The settlement token is genuine',
    ],
  ],
  [
    'one token for the other',
    (payment) => {
      payment.settlement_token = payment.quote_token;
    },
    ['The settlement token is not genuine', 'not a settlement token of the test environment'],
  ],
])('an alteration is detected: %s', async (name, change, expected) => {
  const page = await altered(change);
  await page.page
    .getByText(/token is (not )?genuine/)
    .first()
    .waitFor();
  const shown = await text(page);
  for (const each of expected) expect(shown).toContain(each);
  await page.shoot(`receipt-altered-${name.replaceAll(' ', '-')}`);
  expect(await page.findings()).toEqual([]);
});

test('keys that are not published, or cannot be read, make no token genuine', async () => {
  const page = await opened();
  await page.page.route('**/.well-known/jwks.json*', (route) => route.fulfill({ json: { keys: [] } }));
  await page.go(`/payments/${paid!.settlement_id}`);
  await page.page.getByText('It names an unknown key.').first().waitFor();
  expect(await text(page)).not.toContain('is genuine');
  await page.page.unrouteAll();
  await page.page.route('**/.well-known/jwks.json*', (route) => route.abort());
  await page.go(`/payments/${paid!.settlement_id}`);
  await page.page.getByText('Not checked').waitFor({ timeout: 60_000 });
  expect(await text(page)).not.toContain('is genuine');
  await page.shoot('receipt-unchecked');
  expect(await page.findings()).toEqual([]);
});

test('the vendor sees no token and a stranger no payment, and the API does not return the quote token to them', async () => {
  const show = (token: string) => api(`GET /v1/settlements/${paid!.settlement_id}`, { token });
  expect((await show(payer!.token)).body).toMatchObject({
    quote_token: expect.any(String),
    delegate_id: delegateId,
  });
  for (const token of [vendor!.apiKey, vendor!.signIn.access_token]) {
    const { status, body } = await show(token);
    expect(status).toBe(200);
    expect(body).not.toHaveProperty('quote_token');
    expect(body).not.toHaveProperty('delegate_id');
  }
  const stranger = await signInPayer(stack, 1_000_000n);
  const page = await opened({ person: stranger });
  await page.go(`/payments/${paid!.settlement_id}`);
  await page.page.getByText('not_found').waitFor();
  await page.shoot('receipt-not-found');

  const sold = await opened({
    person: await again(stack, { ...payer!, email: vendor!.signIn.account.email }),
  });
  await sold.go(`/payments/${paid!.settlement_id}`);
  await sold.page.getByText('Paid for Weather API').waitFor();
  await sold.page.getByText('Only the buyer can see both tokens.').waitFor();
  await sold.shoot('receipt-of-vendor');
});
