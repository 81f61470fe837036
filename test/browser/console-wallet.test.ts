import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { linkWallet, type WalletView } from '../../deploy/local/seed/wallet.ts';
import { walletScript } from '../support/browser/browser-wallet.ts';
import { type ConsolePage, openConsole, type Person, signInPerson } from '../support/browser/console.ts';
import { consoleSuite } from '../support/browser/console-suite.ts';
import { fillGroups, makeWallet } from '../support/browser/console-wallet.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The wallet page in real Chromium: wallets are linked, created and recovered, allowances are
 * changed, and unsafe requests are refused.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

/** Requests of the list, with any query. */
const LIST = /\/v1\/wallets(\?.*)?$/;

const suite = consoleSuite(stack);

type Options = Parameters<typeof openConsole>[2] & { wallet?: Keypair };
const opened = async ({ wallet, ...options }: Options = {}): Promise<ConsolePage> => {
  const page = await suite.opened(options);
  if (wallet !== undefined) await page.context.addInitScript(walletScript(wallet));
  return page;
};
const button = ({ page }: ConsolePage, name: string) => page.getByRole('button', { name, exact: true });
const heading = ({ page }: ConsolePage, name: string) => page.getByRole('heading', { name });
const dialog = ({ page }: ConsolePage) => page.getByRole('dialog');
const walletsOf = async ({ token }: Person): Promise<WalletView[]> =>
  (await must(api<{ data: WalletView[] }>('GET /v1/wallets', { token }), 'wallets')).data;

/** Enters an allowance and continues to the signature. */
const allow = async (page: ConsolePage, amount: string) => {
  await page.page.getByRole('button', { name: /^(Allow spending|Change the spending limit):/ }).click();
  await page.page.getByLabel('Spending limit', { exact: true }).fill(amount);
  await button(page, 'Continue').click();
};
const addPasskey = async (page: ConsolePage, name = 'Laptop') => {
  await page.go('/account');
  await button(page, 'Add a passkey').click();
  await dialog(page).getByLabel('Name', { exact: true }).fill(name);
  await button(page, 'Continue').click();
  await page.page.getByRole('table', { name: 'Passkeys' }).getByText(name).waitFor();
};
/** Creates a wallet, from the empty page to its card. */
const make = async (page: ConsolePage, how: Parameters<typeof makeWallet>[1]): Promise<string> => {
  await page.go('/wallet');
  await button(page, 'Create a wallet').first().click();
  await page.page.getByLabel('Wallet name').fill('Everyday');
  const code = await makeWallet(page, how);
  await heading(page, 'Everyday').waitFor();
  return code;
};
test('a browser wallet is linked and funded, and its allowance is approved, changed and revoked', async () => {
  const person = await signInPerson(stack);
  const wallet = Keypair.generate();
  const page = await opened({ person, wallet });
  await page.go('/wallet');
  await page.page.getByText('No wallet yet').waitFor();
  await page.shoot('wallet-empty');
  expect(await page.findings()).toEqual([]);

  await button(page, 'Link a wallet').click();
  await page.shoot('wallet-link');
  await button(page, 'Test Wallet').click();
  await dialog(page).getByText(wallet.publicKey.toBase58()).waitFor();
  expect(await page.findings()).toEqual([]);
  await button(page, 'Sign and link').click();
  await heading(page, 'Test Wallet').waitFor();
  expect(await walletsOf(person)).toMatchObject([{ address: wallet.publicKey.toBase58(), balance: '0' }]);

  await button(page, 'Get test money: Test Wallet').click();
  await page.page.getByLabel('Amount').fill('120.5');
  await button(page, 'Get test money').click();
  await page.page.getByText('120.50').waitFor();

  await allow(page, '25');
  await dialog(page).getByText('may spend up to 25.00 USDC').waitFor();
  await page.shoot('wallet-allow');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Sign with Test Wallet').click();
  await page.page.getByText('Spending is allowed.').waitFor();
  await page.page.getByText('Payments use up this spending limit.').waitFor();
  expect(await walletsOf(person)).toMatchObject([
    { delegation: { status: 'active', allowance: '25000000' } },
  ]);
  await page.shoot('wallet-typical');
  expect(await page.findings()).toEqual([]);

  await allow(page, '500.000001');
  await dialog(page).getByText('Replaces').waitFor();
  await button(page, 'Sign with Test Wallet').click();
  await page.page.getByText('500.000001').waitFor();
  // The allowance exceeds the balance.
  await page.page.getByText('Payable now').waitFor();

  await button(page, 'More actions: Test Wallet').click();
  await page.page.getByRole('menuitem', { name: 'Revoke the spending limit' }).click();
  await dialog(page).getByText('Quittance can no longer spend from this wallet').waitFor();
  await page.shoot('wallet-revoke');
  await button(page, 'Sign with Test Wallet').click();
  await page.page.getByText('You revoked the spending limit').waitFor();
  expect(await walletsOf(person)).toMatchObject([{ delegation: { status: 'revoked', allowance: '0' } }]);
});

test('a created wallet checks the code, keeps its key in the browser, and signs by passkey after a reload', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await addPasskey(page);
  const sent: string[] = [];
  page.page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`));
  await page.go('/wallet');
  await button(page, 'Create a wallet').first().click();
  await page.shoot('wallet-make');
  expect(await page.findings()).toEqual([]);
  await page.page.getByLabel('Wallet name').fill('Everyday');
  await button(page, 'Create with a passkey').click();
  await heading(page, 'Your recovery code').waitFor();
  const code = (await dialog(page).locator('code').textContent())!;
  expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){6}[0-9A-HJKMNP-TV-Z]{4}$/);
  expect(await page.findings()).toEqual([]);
  await page.shoot('wallet-code');
  await page.page.emulateMedia({ media: 'print' });
  await page.shoot('wallet-print');
  await page.page.emulateMedia({ media: 'screen' });
  // An accidental key press must not lose it.
  await page.page.keyboard.press('Escape');
  await button(page, 'I saved it').click();
  for (const field of await dialog(page).getByRole('textbox').all()) await field.fill('AAAA');
  await button(page, 'Create wallet').click();
  await dialog(page).getByText('This does not match the code.').first().waitFor();
  await page.shoot('wallet-check');
  expect(await page.findings()).toEqual([]);
  expect(await walletsOf(person)).toEqual([]);
  await fillGroups(page, code);
  await button(page, 'Create wallet').click();
  await heading(page, 'Everyday').waitFor();

  // What left the page: a backup that contains neither the code nor a group of it.
  const provision = sent.find((each) => each.includes('/v1/wallets/provision'))!;
  const backup = JSON.parse(JSON.parse(provision.slice(provision.indexOf(' ') + 1)).backup);
  expect(backup).toMatchObject({ version: 1, slots: [{ kind: 'passkey' }, { kind: 'code' }] });
  expect(sent.filter((each) => each.includes(code) || each.includes(code.replaceAll('-', '')))).toEqual([]);
  expect(await page.page.evaluate('JSON.stringify([localStorage, sessionStorage])')).not.toContain(code);

  await page.go('/wallet');
  await allow(page, '40');
  await dialog(page).getByText('and creates the token account').waitFor({ state: 'hidden' });
  await button(page, 'Sign with your passkey').click();
  await page.page.getByText('Payments use up this spending limit.').waitFor();
  expect(await walletsOf(person)).toMatchObject([
    { kind: 'provisioned', delegation: { status: 'active', allowance: '40000000' } },
  ]);
  await page.shoot('wallet-made');
});

test('on a new device the code opens the wallet, and a wrong code, a mistyped one and a missing passkey show errors', async () => {
  const person = await signInPerson(stack);
  const first = await opened({ person });
  await addPasskey(first);
  const code = await make(first, 'Create with a passkey');
  const stranger = await opened({ person: await signInPerson(stack) });
  const another = await make(stranger, 'Use a recovery code only');

  const again = await signInPerson(stack, { email: person.email });
  const page = await opened({ person: again, width: 'phone' });
  await page.go('/wallet');
  await allow(page, '7.5');
  await dialog(page).getByText('may spend up to 7.50 USDC').waitFor();
  await button(page, 'Sign with your passkey').click();
  await dialog(page).getByText('this device has none').waitFor();
  await button(page, 'Use the recovery code').click();
  const tries: [string, string][] = [
    ['ABCD-1', 'This is not a recovery code of Quittance'],
    [code.slice(1) + (code.startsWith('0') ? '1' : '0'), 'This is not a recovery code of Quittance'],
    [another, 'This recovery code is of another wallet'],
  ];
  for (const [typed, why] of tries) {
    await page.page.getByLabel('Recovery code').fill(typed);
    await button(page, 'Sign with the code').click();
    await dialog(page).getByText(why).waitFor();
  }
  await page.shoot('wallet-recover');
  expect(await page.findings()).toEqual([]);
  await page.page.getByLabel('Recovery code').fill(code.toLowerCase().replaceAll('-', ' '));
  await button(page, 'Sign with the code').click();
  await page.page.getByText('Payments use up this spending limit.').waitFor();
  expect(await walletsOf(again)).toMatchObject([{ delegation: { status: 'active', allowance: '7500000' } }]);
});

test('another passkey is added by the code and signs afterwards, and both devices can sign', async () => {
  const person = await signInPerson(stack);
  const first = await opened({ person });
  await addPasskey(first);
  const code = await make(first, 'Create with a passkey');
  const page = await opened({ person: await signInPerson(stack, { email: person.email }), width: 'phone' });
  await addPasskey(page, 'Phone');
  await page.go('/wallet');
  const add = async (typed: string) => {
    await page.page.getByLabel('Recovery code').fill(typed);
    await button(page, 'Choose a passkey').click();
  };
  await button(page, 'More actions: Everyday').click();
  await page.page.getByRole('menuitem', { name: 'Add a passkey' }).click();
  await add(code.slice(5));
  await dialog(page).getByText('This is not a recovery code of Quittance').waitFor();
  await page.shoot('wallet-another-passkey');
  expect(await page.findings()).toEqual([]);
  await add(code);
  await page.page.getByText('This passkey can now open the wallet.').waitFor();
  for (const [each, amount] of [
    [page, '3'],
    [first, '4'],
  ] as const) {
    await each.go('/wallet');
    await allow(each, amount);
    await button(each, 'Sign with your passkey').click();
    await each.page.getByText('Spending is allowed.').waitFor();
  }
  expect(await walletsOf(person)).toMatchObject([{ delegation: { allowance: '4000000' } }]);
});

test('nothing else than the request is signed: not another transaction, another backup, another PRF', async () => {
  const person = await signInPerson(stack);
  const page = await opened({ person });
  await addPasskey(page);
  await make(page, 'Create with a passkey');
  const [wallet] = await walletsOf(person);
  const submits: string[] = [];
  page.page.on('request', (request) => {
    if (request.url().endsWith('/delegate')) submits.push(request.postData() ?? '');
  });

  // The service, or an attacker in between, prepares another allowance than the user entered.
  await page.page.route('**/onboarding', (route) =>
    route.continue({ postData: JSON.stringify({ allowance: '999000000' }) }),
  );
  await page.go('/wallet');
  await allow(page, '5');
  await dialog(page)
    .getByText('This is not the transaction you asked for: the spending limit differs')
    .waitFor();
  await page.shoot('wallet-refused');
  expect(await page.findings()).toEqual([]);
  await expect(button(page, 'Sign with your passkey').count()).resolves.toBe(0);
  await page.page.unroute('**/onboarding');

  // The second transaction, after the first was read and shown, is another.
  await page.go('/wallet');
  let asked = 0;
  await page.page.route('**/onboarding', async (route) => {
    asked += 1;
    if (asked > 1) return route.continue({ postData: JSON.stringify({ allowance: '999000000' }) });
    const response = await route.fetch();
    const body = (await response.json()) as object;
    return route.fulfill({ response, json: { ...body, expires_at: new Date().toISOString() } });
  });
  await allow(page, '5');
  await dialog(page).getByText('may spend up to 5.00 USDC').waitFor();
  await button(page, 'Sign with your passkey').click();
  await dialog(page).getByText('the spending limit differs').waitFor();
  expect(asked).toBe(2);
  await page.page.unroute('**/onboarding');

  const backup = await must(
    api<{ backup: string }>(`GET /v1/wallets/${wallet!.wallet_id}/backup`, { token: person.token }),
    'backup',
  );
  const answer = async (text: string, why: string) => {
    await page.page.route('**/backup', (route) =>
      route.fulfill({ json: { wallet_id: wallet!.wallet_id, backup: text } }),
    );
    await page.go('/wallet');
    await allow(page, '5');
    await button(page, 'Sign with your passkey').click();
    await dialog(page).getByText(why).waitFor();
    await page.page.unroute('**/backup');
  };
  const stranger = Keypair.generate().publicKey.toBase58();
  await answer(backup.backup.replace(wallet!.address, stranger), 'The backup is of another wallet');
  const other = JSON.parse(backup.backup);
  other.slots[0].prf_salt = Buffer.alloc(32, 7).toString('base64');
  await answer(JSON.stringify(other), 'This passkey does not open this wallet');
  expect(submits).toEqual([]);
});

test('an injected script can start no worker, and create no policy for one', async () => {
  // Not opened by the suite, because its violations are expected.
  const page = await openConsole(suite.browser(), stack, { person: await signInPerson(stack) });
  await page.go('/wallet');
  const tried = (script: string) =>
    page.page.evaluate(
      `(() => { try { ${script}; return 'done'; } catch (error) { return error.name; } })()`,
    );
  const worker = "new Worker('/console/assets/wallet-worker.js', { type: 'module' })";
  expect(await tried(worker)).toBe('TypeError');
  for (const name of ['quittance-worker', 'mine', 'default'])
    expect(await tried(`trustedTypes.createPolicy('${name}', { createScriptURL: (url) => url })`)).toBe(
      'TypeError',
    );
  expect(
    await tried("const part = document.createElement('script'); part.src = '/console/assets/x.js'"),
  ).toBe('TypeError');
  await page.close();
});

test('many wallets with long names fit a phone in dark colours', async () => {
  const person = await signInPerson(stack);
  for (let at = 0; at < 23; at += 1) {
    const key = Keypair.generate();
    const wallet = await linkWallet(api, person.token, person.accountId, key);
    if (at === 22)
      await must(
        api('POST /v1/dev/fund', {
          token: person.token,
          body: { wallet_id: wallet.wallet_id, amount: '9999999999' },
        }),
        'fund',
      );
  }
  for (const [width, colours] of [
    ['phone', 'dark'],
    ['desktop', 'light'],
  ] as const) {
    const page = await opened({ person: await signInPerson(stack, { email: person.email }), width, colours });
    await page.page.route(LIST, async (route) => {
      const response = await route.fetch();
      const body = (await response.json()) as { data: { label: string }[] };
      body.data[1]!.label = 'Verylongnamewithoutanyspacesinitthatgoesonandonandonfor64letters';
      await route.fulfill({ response, json: body });
    });
    await page.go('/wallet');
    await page.page.getByText('9,999.999999').waitFor();
    await page.shoot('wallet-overfull');
    expect(await page.findings()).toEqual([]);
    expect(await page.wider()).toEqual([]);
    await button(page, 'Show more').click();
    await page.page.locator('section.section').nth(22).waitFor();
  }
});

test('a slow or failing API is shown with what is loading and what to do', async () => {
  const page = await opened({ person: await signInPerson(stack) });
  let slow = true;
  await page.page.route(LIST, async (route) => {
    if (slow) await new Promise((resolve) => setTimeout(resolve, 3000));
    await route.fulfill({
      status: 503,
      headers: { 'x-request-id': 'request-9' },
      json: { error: { code: 'service_unavailable', message: 'try again in a moment' } },
    });
  });
  await page.page.goto(`${stack.console_url}/wallet`);
  await page.page.getByText('Loading your wallets…').waitFor();
  await page.shoot('wallet-slow');
  slow = false;
  await page.page.getByRole('alert').getByText('request-9').waitFor({ timeout: 60_000 });
  await page.shoot('wallet-failing');
  expect(await page.findings()).toEqual([]);
  await page.page.unroute(LIST);
  await button(page, 'Try again').click();
  await page.page.getByText('No wallet yet').waitFor();
});
