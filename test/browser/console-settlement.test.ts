import { beforeAll, expect, test } from '@jest/globals';
import { createTransferCheckedInstruction, getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, type PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signPrepared } from '../../deploy/local/seed/wallet.ts';
import { type ConsolePage, type Person, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/** One payment as its vendor sees it, and its refunds, signed by a wallet of the browser. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);

const suite = consoleSuite(stack);
let consumer: Consumer;
let vendor: Vendor & { person: Person };
beforeAll(async () => {
  const email = `seller-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const made = await createVendor(api, stack, { email });
  vendor = { ...made, person: await signInPerson(stack, { email }) };
  consumer = await createConsumer(api, stack);
});

/** A console of the vendor, in a separate sign-in. */
const opened = async (options: Parameters<typeof suite.opened>[0] = {}): Promise<ConsolePage> => {
  const person = await signInPerson(stack, { email: vendor.person.email });
  return suite.opened({ person, ...options });
};
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const text = (console: ConsolePage, content: string | RegExp) => console.page.getByText(content).first();
const region = (console: ConsolePage, name: string) => console.page.getByRole('region', { name });
const pay = async (body: object = {}): Promise<Paid> =>
  must(settleWith(api, consumer.token, await quoteOf(api, vendor, body)), 'settle');

/**
 * Adds a wallet to the page as an extension does, by the Wallet Standard's events. Its keys stay
 * outside of the page. Its signature requests are counted, and refused while `refuses` is set.
 */
const addWallet = async (console: ConsolePage, name: string, keys: Keypair, lateMs = 0) => {
  const wallet = { asked: 0, refuses: false };
  const binding = `sign${name.replaceAll(' ', '')}`;
  await console.context.exposeFunction(binding, (transaction: string) => {
    wallet.asked += 1;
    return wallet.refuses ? null : signPrepared(transaction, keys);
  });
  await console.context.addInitScript(
    ([walletName, sign, address, key, late]) => {
      type Bytes = Uint8Array<ArrayBuffer>;
      const page = globalThis as unknown as EventTarget &
        Record<string, (sent: string) => Promise<string | null>>;
      const account = {
        address,
        publicKey: Uint8Array.from(key),
        chains: ['solana:devnet'],
        features: ['solana:signTransaction'],
      };
      const found = {
        version: '1.0.0',
        name: walletName,
        icon: 'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=',
        chains: ['solana:devnet'],
        accounts: [],
        features: {
          // Wallets have it, but a refund does not need it.
          'solana:signMessage': { version: '1.0.0' },
          'standard:connect': { version: '1.0.0', connect: async () => ({ accounts: [account] }) },
          'solana:signTransaction': {
            version: '1.0.0',
            supportedTransactionVersions: ['legacy', 0],
            signTransaction: async ({ transaction }: { transaction: Bytes }) => {
              const signed = await page[sign]!(btoa(String.fromCharCode(...transaction)));
              if (signed === null) throw new Error('The owner refused.');
              return [{ signedTransaction: Uint8Array.from(atob(signed), (byte) => byte.charCodeAt(0)) }];
            },
          },
        },
      };
      const register = ({ register: add }: { register: (wallet: object) => void }) => add(found);
      if (late === 0)
        page.addEventListener('wallet-standard:app-ready', (event) =>
          register((event as CustomEvent).detail),
        );
      // At any time: after the page was loaded, before or during the signing of a refund.
      setTimeout(
        () => page.dispatchEvent(new CustomEvent('wallet-standard:register-wallet', { detail: register })),
        late,
      );
    },
    [name, binding, keys.publicKey.toBase58(), [...keys.publicKey.toBytes()], lateMs] as const,
  );
  return wallet;
};

test('a partial refund is prepared, refused in the wallet, signed and paid, and the history and amounts follow', async () => {
  const paid = await pay();
  const page = await opened();
  const wallet = await addWallet(page, 'Payout Wallet', vendor.payout, 1500);
  await page.go(`/sales/${paid.settlement_id}`);
  await text(page, 'Paid, awaiting delivery').waitFor();
  expect(await page.page.locator('time').first().textContent()).toMatch(/\d:\d\d.*(UTC|GMT)/);
  expect(await region(page, 'Amounts').textContent()).toMatch(/2\.4875 USDC.*2\.50 USDC.*−0\.0125 USDC/);
  await text(page, 'Final').waitFor();
  await page.shoot('settlement');
  expect(await page.findings()).toEqual([]);

  await button(page, 'Refund').click();
  await page.page.getByRole('textbox', { name: 'Amount' }).fill('2.487501');
  await button(page, 'Review and sign').click();
  await text(page, 'At most 2.4875 USDC can be refunded.').waitFor();
  await page.page.getByRole('textbox', { name: 'Amount' }).fill('1');
  await page.page.getByLabel('Reason').fill('The report was empty');
  await page.shoot('refund-prepare');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Review and sign').click();
  await button(page, 'Sign with Payout Wallet').waitFor();
  // The shown values were read from the transaction.
  const dialog = page.page.getByRole('dialog', { name: 'Sign the refund' });
  expect(await dialog.textContent()).toMatch(/Refund 1\.00 USDC from your payout address to the payer/);
  expect(await dialog.textContent()).toContain(consumer.wallet.publicKey.toBase58());
  await page.shoot('refund-sign');
  expect(await page.findings()).toEqual([]);
  const before = await chain.balance(consumer.wallet.publicKey);
  wallet.refuses = true;
  await button(page, 'Sign with Payout Wallet').click();
  await text(page, 'The owner refused.').waitFor();
  expect(await chain.balance(consumer.wallet.publicKey)).toBe(before);
  wallet.refuses = false;
  await button(page, 'Sign with Payout Wallet').click();
  await text(page, /^Refund (paid|sent)\.$/).waitFor();
  expect(wallet.asked).toBe(2);
  const row = page.page.getByRole('table', { name: 'Refunds of this payment' }).getByRole('row').nth(1);
  await row.getByText(/^(confirmed|final)$/).waitFor();
  expect((await chain.balance(consumer.wallet.publicKey)) - before).toBe(1_000_000n);
  await region(page, 'Amounts').getByText('1.4875').waitFor();
  expect(await region(page, 'What happened').textContent()).toMatch(
    /Quoted.*Payment started.*Paid.*Refund.*“The report was empty”.*Awaiting delivery/,
  );
  await page.shoot('settlement-refunded');
  expect(await page.findings()).toEqual([]);
});

/** The transaction of a refund as an attacker with access to the API's answers would make it. */
const tampered = (
  transaction: string,
  { to = consumer.wallet.publicKey, mint = chain.mint, amount = 1_000_000n } = {},
): string => {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
  const account = (of: PublicKey) => getAssociatedTokenAddressSync(mint, of, true);
  const payout = vendor.payout.publicKey;
  const built = new TransactionMessage({
    payerKey: message.staticAccountKeys[0]!,
    recentBlockhash: message.recentBlockhash,
    instructions: [createTransferCheckedInstruction(account(payout), mint, account(to), payout, amount, 6)],
  }).compileToLegacyMessage();
  return Buffer.from(new VersionedTransaction(built).serialize()).toString('base64');
};
const stranger = Keypair.generate().publicKey;
test.each<[string, Parameters<typeof tampered>[1] & object, { amount?: string }, RegExp]>([
  ['another destination', { to: stranger }, {}, /the destination differs/],
  ['a larger amount', { amount: 2_000_000n }, {}, /the amount differs/],
  [
    'a larger amount, with an answer that fits it',
    { amount: 2_000_000n },
    { amount: '2000000' },
    /The API returned a different refund/,
  ],
  ['another mint', { mint: stranger }, {}, /another token/],
])('a refund’s transaction with %s reaches no wallet', async (_name, change, answer, why) => {
  const paid = await pay();
  const page = await opened();
  const wallet = await addWallet(page, 'Payout Wallet', vendor.payout);
  await page.page.route(/\/v1\/refunds(\/[^/]+\/submit)?$/, async (route) => {
    const response = await route.fetch();
    const json = (await response.json()) as { transaction?: string };
    if (json.transaction === undefined) return route.fulfill({ response, json });
    await route.fulfill({
      response,
      json: { ...json, ...answer, transaction: tampered(json.transaction, change) },
    });
  });
  await page.go(`/sales/${paid.settlement_id}`);
  await button(page, 'Refund').click();
  await page.page.getByRole('textbox', { name: 'Amount' }).fill('1');
  await button(page, 'Review and sign').click();
  const refused = page.page.getByRole('alert');
  const signing = button(page, 'Sign with Payout Wallet');
  await refused.or(signing).first().waitFor();
  if (await signing.isVisible()) await signing.click();
  await refused.waitFor({ timeout: 5000 }).catch(() => undefined);
  const messages = await refused.allTextContents();
  expect({ asked: wallet.asked, messages }).toEqual({ asked: 0, messages: [expect.stringMatching(why)] });
  expect(await page.page.locator('code').allTextContents()).not.toContain(stranger.toBase58());
});

test('a waiting refund is signed later by the right account only, or cancelled', async () => {
  const paid = await pay();
  const page = await opened();
  const wrong = await addWallet(page, 'Wrong Wallet', Keypair.generate());
  await page.go(`/sales/${paid.settlement_id}`);
  await button(page, 'Refund').click();
  await text(page, 'A full refund blocks delivery').waitFor();
  // The API's answer to a sign-in that is older than five minutes, once.
  await page.page.route(
    '**/v1/refunds',
    (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: 'reauthentication_required', message: 'sign in again' } },
      }),
    { times: 1 },
  );
  await button(page, 'Review and sign').click();
  await page.page.getByRole('heading', { name: 'Confirm it is you' }).waitFor();
  await page.shoot('refund-step-up');
  expect(await page.findings()).toEqual([]);
  await page.page
    .getByRole('dialog', { name: 'Confirm it is you' })
    .getByRole('button', { name: 'Cancel' })
    .click();
  await text(page, 'You did not confirm, so nothing was changed.').waitFor();
  await button(page, 'Review and sign').click();
  await button(page, 'Sign with Wrong Wallet').click();
  await text(page, 'does not show this address').waitFor();
  expect(wrong.asked).toBe(0);
  await button(page, 'Later').click();
  const row = page.page.getByRole('table', { name: 'Refunds of this payment' }).getByRole('row').nth(1);
  await row.getByText('awaiting signature').waitFor();
  expect(await region(page, 'Amounts').textContent()).toMatch(/Reserved for refunds−2\.4875/);
  expect(await button(page, 'Refund').count()).toBe(0);
  await text(page, 'so it cannot be redeemed').waitFor();
  await text(page, 'Awaiting delivery').waitFor({ state: 'hidden' });
  await page.shoot('refund-waiting');
  await row.getByRole('button', { name: 'Cancel' }).click();
  expect(await page.findings()).toEqual([]);
  await button(page, 'Cancel the refund').click();
  await row.getByText('cancelled').waitFor();
  await button(page, 'Refund').waitFor();
  await text(page, 'to redeem it').waitFor();
  const redeemed = await api(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
    token: vendor.apiKey,
    body: { settlement_token: paid.settlement_token, redeem_id: 'replica-7' },
  });
  expect(redeemed.status).toBe(200);
  await text(page, 'Delivered').waitFor();
  await text(page, 'replica-7').waitFor();
});

test('a refund is signed elsewhere: the transaction is copied as text and pasted back signed', async () => {
  const paid = await pay();
  const page = await opened();
  await page.go(`/sales/${paid.settlement_id}`);
  await button(page, 'Refund').click();
  await button(page, 'Review and sign').click();
  await text(page, 'No wallet in this browser').waitFor();
  await page.page.locator('summary', { hasText: 'Sign elsewhere' }).click();
  await page.shoot('refund-elsewhere');
  expect(await page.findings()).toEqual([]);
  await page.page.getByLabel('Signed transaction').fill('AAAA');
  await button(page, 'Submit').click();
  await page.page.getByRole('alert').getByText('validation_error').waitFor();
  expect(await page.page.getByRole('alert').textContent()).toContain('No money moved.');
  const answered = page.page.waitForResponse(/\/submit$/);
  await button(page, 'Prepare again').click();
  const { transaction } = (await (await answered).json()) as { transaction: string };
  await page.page.getByRole('dialog').locator('code', { hasText: transaction }).waitFor();
  const signed = signPrepared(transaction, vendor.payout);
  await page.page.getByLabel('Signed transaction').fill(signed);
  await button(page, 'Submit').click();
  await text(page, /^Refund (paid|sent)\.$/).waitFor();
});

test('prepaid units and a scope fit a phone in dark colours', async () => {
  const paid = await pay({
    scope: { units: 1000, resource: `https://api.example.com/${'long/'.repeat(30)}` },
  });
  await must(
    api(`POST /v1/settlements/${paid.settlement_id}/consume`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token, units: 3, request_id: 'r-1' },
    }),
    'consume',
  );
  const page = await opened({ width: 'phone', colours: 'dark' });
  await page.go(`/sales/${paid.settlement_id}`);
  await text(page, '3 of 1,000 units used, 997 left').waitFor();
  await page.shoot('settlement-prepaid');
  expect(await page.findings()).toEqual([]);
  expect(await page.page.evaluate('document.documentElement.scrollWidth')).toBe(390);
  await button(page, 'Refund').click();
  await text(page, 'No units can be used').waitFor();
  await page.shoot('refund-prepare');
  expect(await page.findings()).toEqual([]);
});

test('the page shows a payment that does not exist or belongs to another account, and a list that fails', async () => {
  const paid = await pay();
  const page = await opened({ person: await signInPerson(stack) });
  await page.go(`/sales/${paid.settlement_id}`);
  await page.page.getByRole('alert').getByText('not_found').waitFor();
  await page.page.getByText('another account or environment').waitFor();
  await page.shoot('settlement-unknown');
  await page.page.getByRole('link', { name: 'All sales' }).click();
  await page.page.waitForURL(/\/sales$/);
  const own = await opened();
  await own.page.route('**/v1/refunds?**', (route) =>
    route.fulfill({ status: 403, json: { error: { code: 'forbidden', message: 'not for you' } } }),
  );
  await own.go(`/sales/${paid.settlement_id}`);
  await own.page.getByRole('alert').getByText('forbidden').waitFor();
  // The remaining net amount is unknown then, so no refund is offered.
  expect(await button(own, 'Refund').count()).toBe(0);
  expect(await region(own, 'Amounts').textContent()).toContain('refunds are loading');
  await own.shoot('settlement-failing');
  expect(await own.findings()).toEqual([]);
});
