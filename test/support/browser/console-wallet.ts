import type { ConsolePage } from './console.ts';

/** The dialog that creates a wallet, as its user fills it. */

const PLACES = ['first', 'second', 'third', 'fourth', 'fifth', 'sixth', 'seventh'];

/** Types the requested groups of a recovery code. */
export const fillGroups = async ({ page }: ConsolePage, code: string): Promise<void> => {
  const groups = code.split('-');
  for (const [place, name] of PLACES.entries()) {
    const field = page.getByLabel(`The ${name} group`);
    if (await field.isVisible()) await field.fill(groups[place]!.toLowerCase());
  }
};

/**
 * Goes through the dialog, from the button that chooses how the key is stored to the created
 * wallet.
 * @returns the recovery code
 */
export const makeWallet = async (
  console: ConsolePage,
  how: 'Create with a passkey' | 'Use a recovery code only',
): Promise<string> => {
  const { page } = console;
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await button(how).click();
  await page.getByRole('heading', { name: 'Your recovery code' }).waitFor();
  const code = (await page.getByRole('dialog').locator('code').textContent())!;
  await button('I saved it').click();
  await fillGroups(console, code);
  await button('Create wallet').click();
  await page.getByText('Wallet created.').waitFor();
  return code;
};
