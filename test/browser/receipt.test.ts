import { beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import type { ReceiptClaims } from '../../shared/contract/settlement/receipts.ts';
import { signReceipt } from '../../shared/lib/tokens/receipt.ts';
import type { ConsolePage } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { runningStack } from '../support/servers/stack.ts';
import { forgedReceipts, receiptClaims } from '../support/stand-ins/receipts.ts';
import { KEYS, SIGNERS } from '../support/stand-ins/scripted-vendors.ts';

/** The page of a receipt in real Chromium, which verifies the signature itself. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const { origin } = new URL(stack.console_url);
const suite = consoleSuite(stack);

let [vendor, consumer, paid]: [Vendor?, Consumer?, Paid?] = [];
beforeAll(async () => {
  [vendor, consumer] = await Promise.all([
    createVendor(api, stack, { price: 2_500_001n }),
    createConsumer(api, stack),
  ]);
  const robot = await createDelegate(api, consumer, {});
  paid = await must(settleWith(api, robot.api_key, await quoteOf(api, vendor)), 'settle');
  await refund(api, vendor, paid.settlement_id, 1_000_000n);
});

const linkOf = async (): Promise<string> => {
  const { receipt_url } = await must(
    api<{ receipt_url: string }>(`GET /v1/settlements/${paid!.settlement_id}/receipt`, {
      token: consumer!.token,
    }),
    'receipt',
  );
  return receipt_url.replace(stack.gateway_url, origin);
};

const OUTCOME = /^(Signature valid|Not valid|Not verified|No receipt)/;

/** The whole text of the page after its check. A new document each time, so no state remains. */
const read = async ({ page }: ConsolePage, link: string): Promise<string> => {
  await page.goto('about:blank');
  await page.goto(link);
  await page.getByText(OUTCOME).waitFor();
  return page.locator('main').innerText();
};

/**
 * The whole text after the check of another receipt in the same document, because the page's files
 * have a limit for each address.
 */
const change = async ({ page }: ConsolePage, receipt: string): Promise<string> => {
  const hash = JSON.stringify(`#${receipt}`);
  await page.evaluate(`document.querySelector('#state').textContent = ''; location.hash = ${hash}`);
  await page.getByText(OUTCOME).waitFor();
  return page.locator('main').innerText();
};

/** Publishes the keys of the signers of test/support/stand-ins/scripted-vendors.ts. */
const withKeys = async (options: Parameters<typeof suite.opened>[0] = {}): Promise<ConsolePage> => {
  const opened = await suite.opened(options);
  await opened.page.route('**/.well-known/jwks.json*', (route) => route.fulfill({ json: { keys: KEYS } }));
  return opened;
};
const signedLink = async (changes: Partial<ReceiptClaims> = {}) =>
  `${origin}/receipt#${await signReceipt(receiptClaims(changes), SIGNERS.settlement)}`;

test('a receipt is shown with its amounts, refund and key, at both widths, in the dark and on paper', async () => {
  const link = await linkOf();
  for (const [width, colours] of [
    ['desktop', 'light'],
    ['phone', 'light'],
    ['desktop', 'dark'],
  ] as const) {
    const opened = await suite.opened({ width, colours });
    const { page } = opened;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const shown = await read(opened, link);
    for (const each of [
      'Signature valid',
      'TEST: no real money',
      '2.500001 USDC',
      'Paid to Weather API',
      '0.0125 USDC',
      '2.487501 USDC',
      '1.00 USDC',
      '1.487501 USDC',
      paid!.tx_hash,
      paid!.settlement_id,
      vendor!.payout.publicKey.toBase58(),
      consumer!.wallet.publicKey.toBase58(),
      'test.settlement.1',
      stack.gateway_url,
    ])
      expect(shown).toContain(each);
    expect(shown).not.toContain('acct_');
    // The chain of this machine is in no public explorer.
    expect(await page.locator('a[href*="explorer"]').count()).toBe(0);
    // Nothing but the page, its files and the public keys is requested.
    const others = asked.filter((each) => !each.startsWith('/console/assets/'));
    expect(new Set(others)).toEqual(new Set(['/receipt', '/.well-known/jwks.json']));
    expect(await opened.wider()).toEqual([]);
    await opened.shoot('signed-receipt');
    expect(await opened.findings()).toEqual([]);
    if (width === 'phone') continue;
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await page.getByText('How to verify it yourself').isVisible()).toBe(false);
    expect(await page.getByText('Signature valid').isVisible()).toBe(true);
    await opened.shoot('signed-receipt-print');
  }
});

test('no forged receipt is valid, and nothing of it is shown', async () => {
  const opened = await withKeys();
  const accepted: string[] = [];
  expect(await read(opened, `${origin}/receipt`)).toContain('No receipt');
  for (const [name, text] of (await forgedReceipts()).filter(([, each]) => each !== '')) {
    const shown = await change(opened, text);
    // Both environments have a page here, which shows the one of the receipt.
    if (name === 'the other environment') expect(shown).toContain('not published');
    const hidden = await opened.page.locator('#receipt').isHidden();
    if (!hidden || !shown.includes('Not valid: do not trust')) accepted.push(name);
  }
  expect(accepted).toEqual([]);
  await opened.shoot('signed-receipt-forged');
  expect(await opened.findings()).toEqual([]);
});

test('a link that is opened after another one shows its own receipt', async () => {
  const opened = await withKeys();
  expect(await read(opened, await signedLink())).toContain('2.50 USDC');
  const amount = { ...receiptClaims().amount, gross: '7000000', net: '6987500' };
  const shown = await change(opened, (await signedLink({ amount })).split('#')[1]!);
  expect(shown).toContain('7.00 USDC');
  expect(shown).not.toContain('2.50 USDC');
});

test('a live receipt has no mark of the test environment, and a public network has a link to an explorer', async () => {
  const opened = await withKeys();
  await opened.page.route('**/.well-known/jwks.json*', (route) => {
    const [settlement] = KEYS.filter(({ kid }) => kid === SIGNERS.settlement.kid);
    return route.fulfill({ json: { keys: [{ ...settlement, kid: 'live.settlement.1', env: 'live' }] } });
  });
  const claims = receiptClaims({ env: 'live', network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' });
  const live = { ...SIGNERS.settlement, kid: 'live.settlement.1' };
  const shown = await read(opened, `${origin}/receipt#${await signReceipt(claims, live)}`);
  expect(shown).toContain('Signature valid');
  expect(await opened.page.getByText('TEST').isVisible()).toBe(false);
  const link = opened.page.locator('a[href*="explorer"]');
  expect(await link.getAttribute('href')).toBe(
    `https://explorer.solana.com/tx/${claims.transaction.signature}`,
  );
  expect(await link.getAttribute('rel')).toBe('noopener noreferrer');
});

test('a payment that the chain reversed says so', async () => {
  const opened = await withKeys();
  const shown = await read(opened, await signedLink({ status: 'failed', chain_status: 'failed' }));
  expect(shown).toContain('Reversed: the chain removed this payment');
  await opened.shoot('signed-receipt-reversed');
  expect(await opened.findings()).toEqual([]);
});

test('markup in a name is shown as text', async () => {
  const opened = await withKeys();
  const service_name = '<img src=x onerror="document.title=1"><script>document.title=2</script>';
  const vendorOf = { ...receiptClaims().vendor, service_name };
  expect(await read(opened, await signedLink({ vendor: vendorOf }))).toContain(service_name);
  expect(await opened.page.title()).toBe('Receipt · Quittance');
  expect(await opened.page.locator('main img, main script').count()).toBe(0);
});

test.each<[string, (opened: ConsolePage) => Promise<unknown>, string]>([
  [
    'keys that cannot be loaded',
    ({ page }) => page.route('**/.well-known/jwks.json*', (route) => route.abort()),
    'could not be loaded',
  ],
  [
    'a browser without Ed25519',
    ({ page }) =>
      page.addInitScript(
        "if (crypto.subtle) crypto.subtle.importKey = () => Promise.reject(new Error('not supported'))",
      ),
    'cannot verify Ed25519',
  ],
  [
    'a page without WebCrypto',
    ({ page }) => page.addInitScript("Object.defineProperty(crypto, 'subtle', { value: undefined })"),
    'over https only',
  ],
])('%s: the receipt is not verified, and nothing of it is shown', async (_name, prepare, message) => {
  const opened = await withKeys();
  await prepare(opened);
  const shown = await read(opened, await signedLink());
  expect(shown).toContain('Not verified');
  expect(shown).toContain(message);
  expect(await opened.page.locator('#receipt').isHidden()).toBe(true);
});
