import { expect, test } from '@jest/globals';
import {
  createDelegate,
  createVendor,
  type Delegate,
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
 * Approvals in real Chromium: the owner sees exactly what a delegate asks for, and approves it with
 * a passkey or denies it.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

const { opened } = consoleSuite(stack);
const button = (console: ConsolePage, name: string) =>
  console.page.getByRole('button', { name, exact: true });
const field = (console: ConsolePage, label: string) => console.page.getByLabel(label, { exact: true });
const ADDRESS = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';

type Asked = { approval_id: string; repeat: () => ReturnType<typeof settleWith> };
/** A delegate asks for a payment. */
const ask = async (vendor: Vendor, agent: Delegate, amount = '3000001'): Promise<Asked> => {
  const quote = await quoteOf(api, vendor, { quote_amount: amount });
  const attempt = crypto.randomUUID();
  const repeat = () => settleWith(api, agent.api_key, quote, attempt);
  const { body } = await repeat();
  return { approval_id: (body.error as unknown as { approval_id: string }).approval_id, repeat };
};
const agentOf = (payer: Payer, name = 'Research agent') =>
  createDelegate(api, payer, {}, { name, approval_above: '1000000' });
const addPasskey = async (page: ConsolePage) => {
  await page.go('/account');
  await button(page, 'Add a passkey').click();
  await page.page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Laptop');
  await button(page, 'Continue').click();
  await page.page.getByText('Passkey added.').waitFor();
};

test('a payment that waits is shown with amount and payee, and is approved with a passkey', async () => {
  const payer = await signInPayer(stack);
  const vendor = await createVendor(api, stack);
  const agent = await agentOf(payer);
  const page = await opened({ person: payer });
  await page.go('/approvals');
  await page.page.getByText('Nothing to approve').waitFor();
  await page.page.getByText('No requests yet').waitFor();
  await page.shoot('approvals-empty');
  expect(await page.findings()).toEqual([]);

  const { approval_id, repeat } = await ask(vendor, agent);
  await page.go('/');
  await page.page.getByText('1 payment needs your approval').waitFor();
  await page.page.getByRole('link', { name: /Approvals\s*1 waiting/ }).waitFor();
  await page.shoot('home-approval');
  expect(await page.findings()).toEqual([]);
  await page.page.getByRole('link', { name: 'Review', exact: true }).click();
  await page.page.getByRole('table', { name: 'Payments to approve' }).waitFor();
  await page.page.getByRole('cell', { name: 'Research agent' }).first().waitFor();
  await page.shoot('approvals');
  expect(await page.findings()).toEqual([]);
  await page.page.getByRole('link', { name: 'Review the payment to Weather API' }).click();

  // Without a passkey nothing can be approved.
  await page.page.getByText('You have no passkey yet').waitFor();
  expect(await button(page, 'Approve with a passkey').isDisabled()).toBe(true);
  await page.shoot('approval-no-passkey');
  expect(await page.findings()).toEqual([]);
  await addPasskey(page);

  await page.go(`/approvals/${approval_id}`);
  for (const text of ['3.000001', vendor.payout.publicKey.toBase58(), 'a Quittance service']) {
    await page.page.getByText(text, { exact: false }).first().waitFor();
  }
  await page.page.getByRole('heading', { name: '“Research agent” asks to pay Weather API' }).waitFor();
  await page.shoot('approval');
  expect(await page.findings()).toEqual([]);
  await button(page, 'Approve with a passkey').focus();
  await page.page.keyboard.press('Enter');
  await page.page.getByText('You approved this payment').waitFor();
  await page.shoot('approval-approved');
  expect(await page.findings()).toEqual([]);

  const paid = await must(repeat(), 'settle');
  await page.page.getByText('Paid').waitFor();
  await page.page.getByRole('link', { name: 'View the receipt' }).click();
  await page.page.waitForURL(`**/payments/${paid.settlement_id}`);
  await page.go('/approvals');
  await page.page.getByText('Nothing to approve').waitFor();
  await page.page.getByText('used', { exact: true }).waitFor();
});

test('a payment is denied, also after its approval, and an expired one cannot be approved', async () => {
  const payer = await signInPayer(stack);
  const vendor = await createVendor(api, stack);
  const agent = await agentOf(payer);
  const page = await opened({ person: payer });
  const first = await ask(vendor, agent);
  await page.go(`/approvals/${first.approval_id}`);
  await button(page, 'Deny').click();
  await page.page.getByText('You denied this payment').waitFor();
  await page.shoot('approval-denied');
  expect((await first.repeat()).body.error?.code).toBe('approval_denied');

  await addPasskey(page);
  const second = await ask(vendor, agent);
  await page.go(`/approvals/${second.approval_id}`);
  await button(page, 'Approve with a passkey').click();
  await button(page, 'Deny after all').click();
  await page.page.getByText('You denied this payment').waitFor();
  expect((await second.repeat()).body.error?.code).toBe('approval_denied');

  const quote = await quoteOf(api, vendor, { quote_amount: '3000000', expires_in_seconds: 6 });
  const { body } = await settleWith(api, agent.api_key, quote);
  const { approval_id } = body.error as unknown as { approval_id: string };
  await page.go(`/approvals/${approval_id}`);
  await page.page.getByText('This request has expired', { exact: true }).waitFor();
  expect(await button(page, 'Approve with a passkey').count()).toBe(0);
  expect(await page.findings()).toEqual([]);

  await page.go('/approvals/apr_01kaj5w0c0e8h9x2m4n6p8q0rs');
  await page.page.getByText('No such approval').waitFor();
});

/** An outgoing payment that asks, as the API shows it: its texts are the delegate's own words. */
const OUTGOING = {
  rail: 'x402_out',
  service_id: null,
  quote_id: null,
  service_name: 'api.example.com',
  resource: `https://api.example.com/<b>report</b>?q=${'long'.repeat(60)}`,
};

test('what a delegate says is marked as its own word and shown as text, on a phone and in the dark', async () => {
  const payer = await signInPayer(stack);
  const vendor = await createVendor(api, stack);
  const agent = await agentOf(payer, 'An agent whose name is far too long for any one line of a phone');
  const { approval_id } = await ask(vendor, agent, '98765432');
  for (const [width, colours] of [
    ['desktop', 'light'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const) {
    const page = await opened({ person: await again(stack, payer), width, colours });
    await page.page.route(`**/v1/approvals/${approval_id}`, async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ json: { ...(await answer.json()), ...OUTGOING } });
    });
    await page.go(`/approvals/${approval_id}`);
    await page.page.getByText('<b>report</b>').first().waitFor();
    expect(await page.page.getByText('reported by the agent, not verified').count()).toBe(2);
    expect(await page.page.getByRole('link', { name: /api\.example\.com/ }).count()).toBe(0);
    expect(await page.wider()).toEqual([]);
    await page.shoot('approval-outgoing');
    expect(await page.findings()).toEqual([]);
    await page.go('/approvals');
    expect(await page.wider()).toEqual([]);
    await page.shoot('approvals-waiting');
    expect(await page.findings()).toEqual([]);
    if (width === 'phone') await button(page, 'All pages (1)').waitFor();
  }
});

test('a payment that is split is shown with every address and its part, and its mail too', async () => {
  const payer = await signInPayer(stack);
  const external = { pay_to: 'any', origins: null };
  const agent = await createDelegate(api, payer, {}, { name: 'Agent', approval_above: '1000000', external });
  const { environments } = await must(
    api<{ environments: { test: { usdc_mint: string } } }>('GET /v1/environments'),
    'environments',
  );
  const recipient = 'Vote111111111111111111111111111111111111111';
  const request = {
    ...{ amount: '100000000', currency: environments.test.usdc_mint, recipient },
    methodDetails: {
      ...{ network: 'devnet', feePayer: true, feePayerKey: recipient },
      splits: [{ recipient: ADDRESS, amount: '99999999' }],
    },
  };
  const challenge = {
    ...{ id: 'c1', realm: 'api.example.com', method: 'solana', intent: 'charge' },
    request: Buffer.from(JSON.stringify(request)).toString('base64url'),
  };
  const body = { payment_attempt_id: crypto.randomUUID(), resource: 'https://api.example.com/a', challenge };
  const answer = await api('POST /v1/payments', { token: agent.api_key, body });
  const { approval_id } = answer.body.error as unknown as { approval_id: string };
  for (const width of ['desktop', 'phone'] as const) {
    const page = await opened({ person: await again(stack, payer), width });
    await page.go(`/approvals/${approval_id}`);
    const addresses = page.page.locator('.paid-addresses li');
    await addresses.first().waitFor();
    expect(await addresses.allTextContents()).toEqual([
      expect.stringMatching(new RegExp(`0\\.000001.*${recipient}`)),
      expect.stringMatching(new RegExp(`99\\.999999.*${ADDRESS}`)),
    ]);
    await page.page.getByText('Addresses', { exact: true }).waitFor();
    expect(await page.wider()).toEqual([]);
    await page.shoot('approval-split');
    expect(await page.findings()).toEqual([]);
  }
  const to = encodeURIComponent(payer.email);
  const text = await waitFor(
    async () => (await fetch(`${stack.mail_url}/messages?to=${to}`)).text(),
    (mails) => mails.includes('A payment needs your approval'),
  );
  expect(text).toContain(
    `The money would go to 2 addresses: 0.000001 USDC to ${recipient}, 99.999999 USDC to ${ADDRESS}.`,
  );
});

test('a delegate gets the right to pay other vendors and an amount to ask from, and loses them again', async () => {
  const payer = await signInPayer(stack);
  for (const width of ['desktop', 'phone'] as const) {
    const page = await opened({ person: await again(stack, payer), width });
    await page.go('/delegates');
    await button(page, 'New agent').click();
    await field(page, 'Name').fill(`Agent ${width}`);
    await field(page, 'Per day (UTC)').fill('10');
    await field(page, 'Ask for approval above').fill('2.5');
    await page.page.getByText('Advanced', { exact: true }).click();
    await page.page.getByRole('button', { name: /May pay outside vendors/ }).click();
    await page.page.getByRole('option', { name: 'Certain addresses' }).click();
    await field(page, 'Allowed addresses').fill('weather');
    await field(page, 'Allowed origins (optional)').fill('https://api.example.com/report');
    await button(page, 'Create and show the key').click();
    await page.page.getByText('“weather” is not an address.').waitFor();
    await page.page.getByText('is not an origin').waitFor();
    await page.shoot('delegates-other-vendors');
    expect(await page.wider()).toEqual([]);
    expect(await page.findings()).toEqual([]);
    await field(page, 'Allowed addresses').fill(ADDRESS);
    await field(page, 'Allowed origins (optional)').fill('https://api.example.com');
    await button(page, 'Create and show the key').click();
    await page.page.getByRole('heading', { name: `Key of “Agent ${width}”` }).waitFor();
    const [key] = await page.page.locator('[role=dialog] .copyable code').allTextContents();
    const own = async () => (await api('GET /v1/delegates/me', { token: key! })).body;
    expect(await own()).toMatchObject({
      external: { pay_to: [ADDRESS], origins: ['https://api.example.com'] },
      approval_above: '2500000',
    });
    await button(page, 'I saved it').click();
    await page.page.getByText('one address (x402, MPP), at https://api.example.com').first().waitFor();
    await page.shoot('delegates-other-vendors-card');
    expect(await page.findings()).toEqual([]);

    await button(page, `Edit Agent ${width}`).click();
    await page.page.getByRole('button', { name: /May pay outside vendors/ }).click();
    await page.page.getByRole('option', { name: 'No', exact: true }).click();
    await field(page, 'Ask for approval above').fill('1');
    await button(page, 'Save').click();
    await page.page.getByText('Saved.').waitFor();
    expect(await own()).toMatchObject({ external: null, approval_above: '1000000' });
  }
});

test('an outgoing payment: signed while it may be used, paid once it is on the chain', async () => {
  const payer = await signInPayer(stack);
  const vendor = await createVendor(api, stack);
  const paid = await must(settleWith(api, payer.token, await quoteOf(api, vendor)), 'settle');
  const page = await opened({ person: payer });
  const shown = await must(api(`GET /v1/settlements/${paid.settlement_id}`, { token: payer.token }), 'get');
  const payment = {
    ...shown,
    ...OUTGOING,
    fee_amount: '0',
    payees: [{ address: ADDRESS, amount: shown.quote_amount }],
    redeem_expires_at: null,
  };
  const signed = { ...payment, status: 'pending', chain_status: 'pending', tx_hash: null };
  let answer: object = signed;
  await page.page.route(`**/v1/settlements/${paid.settlement_id}`, (route) =>
    route.fulfill({ json: answer }),
  );
  await page.page.route('**/v1/settlements?*status=pending*', (route) =>
    route.fulfill({ json: { data: [signed], next_cursor: null } }),
  );
  await page.go(`/payments/${paid.settlement_id}`);
  await page.page.getByText('Signed, not on chain yet.').waitFor();
  await page.page.getByText('The vendor can still use it.').waitFor();
  await page.page.getByText('as the buyer reported').waitFor();
  await page.page.getByText(ADDRESS).waitFor();
  expect(await page.page.getByRole('heading', { name: 'Tokens' }).count()).toBe(0);
  await page.shoot('receipt-outgoing');
  expect(await page.findings()).toEqual([]);
  answer = { ...payment, status: 'issued', chain_status: 'confirmed' };
  await page.page.getByText('Paid to an outside vendor').waitFor();

  await page.go('/activity');
  await page.page.getByRole('table', { name: 'Signed payments' }).waitFor();
  await page.shoot('activity-outgoing');
  expect(await page.findings()).toEqual([]);
  expect(await page.wider()).toEqual([]);
});
