import type { Page } from 'playwright-core';
import { linkToken } from '../../../deploy/local/seed/sign-in.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { addAuthenticator, type ConsolePage } from './console.ts';
import { makeWallet } from './console-wallet.ts';

/** A person without an account and without a wallet, at a page that takes a payment. */

/**
 * Signs in by the mailed link, in another tab of the same browser, as a mail program opens it.
 * @returns that tab, in which the payment continues
 */
export const signInByMail = async (
  { page, context }: ConsolePage,
  stack: Stack,
  { email, part = 'Sign in to pay' }: { email: string; part?: string },
): Promise<Page> => {
  await page.getByRole('button', { name: part }).click();
  const since = Date.now();
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('button', { name: 'Mail me a link' }).click();
  await page.getByText('Check your e-mail').waitFor();
  const token = await linkToken(stack.mail_url, email, 'test', since);
  const tab = await context.newPage();
  await addAuthenticator(context, tab);
  await tab.goto(`${stack.console_url}/sign-in/link#token=${token}`);
  await tab.getByText('Then your payment continues here').waitFor();
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  return tab;
};

/** The three steps: a wallet by a passkey, test money, and the payment. */
export const payAsNewcomer = async (console: ConsolePage, tab: Page, email: string): Promise<void> => {
  const at = { ...console, page: tab };
  await tab.getByRole('button', { name: 'Create a wallet' }).click();
  await makeWallet(at, 'Create with a passkey');
  await tab.getByRole('button', { name: 'Get test money' }).click();
  await tab.getByRole('button', { name: `Pay 0.05 USDC as ${email}` }).click();
  await tab.getByRole('button', { name: 'Sign with your passkey' }).click();
};

/**
 * Buys money for an order from its page, as far as the provider has taken the payment.
 * @param order the tab of the order, at the step of the money
 * @returns the tab of the purchase, back from the provider
 */
export const buyMoney = async (order: Page, provider: 'MoonPay' | 'Coinbase Onramp'): Promise<Page> => {
  const opening = order.context().waitForEvent('page');
  await order.getByRole('link', { name: 'Buy by card or bank' }).click();
  const tab = await opening;
  if (provider === 'Coinbase Onramp') {
    await tab.getByRole('button', { name: /Provider$/ }).click();
    await tab.getByRole('option', { name: provider }).click();
  }
  await tab.getByLabel('Amount').fill('20');
  await tab.getByRole('button', { name: `Continue to ${provider}` }).click();
  await tab.getByRole('button', { name: provider === 'MoonPay' ? 'Approve' : 'Pay', exact: true }).click();
  await tab.getByRole('link', { name: /back|return/i }).click();
  await tab.getByRole('heading', { name: 'Deposits', exact: true }).waitFor();
  return tab;
};
