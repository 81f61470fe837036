import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { createApi } from '../../deploy/local/seed/api.ts';
import { linkToken } from '../../deploy/local/seed/sign-in.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';

/**
 * The console of a running stack in real Chromium: pages that are signed in, and errors that they
 * must not have.
 */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const SHOTS = path.resolve(import.meta.dirname, '../../.local/console-shots');
const WIDTHS = { desktop: { width: 1280, height: 860 }, phone: { width: 390, height: 844 } };

type Where = Pick<Stack, 'gateway_url' | 'mail_url' | 'console_url'>;
type Environment = 'test' | 'live';

/**
 * A sign-in whose refresh token is in a cookie, as a page has it. Tests use the access token to
 * prepare data by the API.
 */
export type Person = {
  environment: Environment;
  email: string;
  accountId: string;
  token: string;
  cookies: { name: string; value: string; path: string }[];
};

/**
 * Signs in as the console does, by the API, which takes some 100 ms. A new address is a new
 * account.
 */
export const signInPerson = async (
  stack: Where,
  {
    email = `console-${crypto.randomUUID().slice(0, 8)}@example.com`,
    environment = 'test',
  }: { email?: string; environment?: Environment } = {},
): Promise<Person> => {
  const api = createApi(stack.gateway_url);
  const since = Date.now();
  await api('POST /v1/auth/magic-link', { body: { email, environment } });
  const { status, headers, body } = await api<{ access_token: string; account: { account_id: string } }>(
    'POST /v1/auth/magic-link/verify',
    {
      // No page requested the link, so its account has to be confirmed.
      body: {
        token: await linkToken(stack.mail_url, email, environment, since),
        refresh_in: 'cookie',
        email,
      },
      headers: { origin: new URL(stack.console_url).origin },
    },
  );
  const cookies = headers.getSetCookie().map((text) => {
    const [, name, value, path] = /^([^=]+)=([^;]+); Path=([^;]+)/.exec(text)!;
    return { name: name!, value: value!, path: path! };
  });
  if (cookies.length === 0) throw new Error(`the sign-in set no cookie: ${status}`);
  return {
    environment,
    email,
    accountId: body.account.account_id,
    token: body.access_token,
    cookies,
  };
};

export type ConsolePage = {
  page: Page;
  context: BrowserContext;
  /** Opens a page of the console by its path below /console and waits until nothing is loading. */
  go: (path: string) => Promise<void>;
  /**
   * The errors of the page so far: errors of scripts, violations of the policy, requests to other
   * origins. Must be empty.
   */
  trouble: () => string[];
  /** Serious and critical findings of axe in the present view. Must be empty. */
  findings: () => Promise<string[]>;
  /** Elements that extend beyond the screen when the page is wider than it. Must be empty. */
  wider: () => Promise<string[]>;
  /**
   * Stores a picture as `.local/console-shots/<name>-<width>.png` when CONSOLE_SHOTS is set: a
   * picture takes a browser 200 to 400 ms.
   */
  shoot: (name: string) => Promise<void>;
  close: () => Promise<void>;
};

/**
 * A page of the console in a separate browser context, with an authenticator (resident keys, user
 * verification, PRF).
 * @param person whose sign-in the page has; without one the page is signed out
 */
export const openConsole = async (
  browser: Browser,
  stack: Where,
  {
    person,
    width = 'desktop',
    colours = 'light',
  }: { person?: Person; width?: keyof typeof WIDTHS; colours?: 'light' | 'dark' } = {},
): Promise<ConsolePage> => {
  const { origin } = new URL(stack.console_url);
  const context = await browser.newContext({
    viewport: WIDTHS[width],
    colorScheme: colours,
    permissions: ['clipboard-read', 'clipboard-write'],
  });
  if (person !== undefined) {
    const attributes = { httpOnly: true, secure: true, sameSite: 'Strict' } as const;
    await context.addCookies(
      person.cookies.map((cookie) => ({ ...cookie, domain: 'localhost', ...attributes })),
    );
    // The empty document that a tab begins with is skipped, and a later choice of the page stays.
    const key = "'quittance.environment'";
    await context.addInitScript(
      `if (location.protocol !== 'about:' && localStorage.getItem(${key}) === null)
        localStorage.setItem(${key}, '${person.environment}')`,
    );
  }
  const trouble: string[] = [];
  context.on('page', (opened) => {
    opened.on('pageerror', (error) => trouble.push(`error: ${error.message}`));
    opened.on('console', (message) => {
      // The browser's message about a refused call repeats the API's error, which the page shows.
      if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
        trouble.push(`console: ${message.text()}`);
    });
    opened.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && !/^(data|blob):$/.test(url.protocol))
        trouble.push(`foreign: ${request.url()}`);
    });
  });
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      hasPrf: true,
    },
  });
  return {
    page,
    context,
    go: async (to) => {
      await page.goto(`${stack.console_url}${to}`, { waitUntil: 'networkidle' });
      await page.locator('.loading').first().waitFor({ state: 'hidden' });
    },
    trouble: () => [...trouble],
    findings: async () => {
      if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
      return page.evaluate(async () => {
        type Found = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };
        const { axe } = globalThis as unknown as {
          axe: { run: (options: object) => Promise<{ violations: Found[] }> };
        };
        const { violations } = await axe.run({ resultTypes: ['violations'] });
        return violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .flatMap(({ id, nodes }) =>
            nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
          );
      });
    },
    wider: () =>
      page.evaluate(`document.documentElement.scrollWidth <= innerWidth ? [] :
        [...document.querySelectorAll('body *')]
          .filter((element) => element.getBoundingClientRect().right > innerWidth)
          .map((element) => element.outerHTML.slice(0, 200))`),
    shoot: async (name) => {
      if (process.env.CONSOLE_SHOTS === undefined) return;
      mkdirSync(SHOTS, { recursive: true });
      const dark = colours === 'dark' ? '-dark' : '';
      await page.screenshot({
        path: path.join(SHOTS, `${name}-${width}${dark}.png`),
        fullPage: true,
        animations: 'disabled',
      });
    },
    close: async () => {
      // A test may end while the page reads again, and a callback of a route is still running.
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    },
  };
};
