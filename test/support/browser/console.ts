import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { Browser, BrowserContext, Locator, Page, Request } from 'playwright-core';
import { createApi } from '../../../deploy/local/seed/api.ts';
import { linkToken } from '../../../deploy/local/seed/sign-in.ts';
import { whileClaimed } from '../../../deploy/local/setup/once.mjs';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { waitFor } from '../base/wait.ts';

/**
 * The console of a running stack in real Chromium: pages that are signed in, and errors that they
 * must not have.
 */

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LOCAL = path.resolve(import.meta.dirname, '../../../.local');
const SHOTS = path.join(LOCAL, 'console-shots');
const CLIPBOARD = path.join(LOCAL, 'clipboard.claim');
const PHONE = { width: 390, height: 844 };
/** `touch` is a real phone: its pointer is a finger. */
const WIDTHS = {
  desktop: { width: 1280, height: 860 },
  wide: { width: 1440, height: 900 },
  phone: PHONE,
  touch: PHONE,
};

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

/** The requests of a page that have no answer yet, and how many it has made. */
type Traffic = { open: Set<Request>; made: number };
const traffic = new WeakMap<Page, Traffic>();

const follow = (page: Page): void => {
  const own: Traffic = { open: new Set(), made: 0 };
  traffic.set(page, own);
  page.on('request', (request) => {
    own.made += 1;
    own.open.add(request);
  });
  for (const event of ['requestfinished', 'requestfailed'] as const)
    page.on(event as 'requestfinished', (request) => own.open.delete(request));
};

/** Two frames later, an answer that has arrived is shown, or its page has made the next request. */
const NOTHING_LOADS = `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() =>
  resolve(document.querySelector('main') !== null && document.querySelector('.loading') === null))))`;

/**
 * Waits until a page of openConsole is settled: it shows its content and nothing that loads, and
 * all its requests are answered and shown.
 */
const settled = async (page: Page): Promise<void> => {
  const { open } = traffic.get(page)!;
  const made = () => traffic.get(page)!.made;
  await page.locator('main').waitFor();
  await waitFor(
    async () => {
      if (open.size > 0) return false;
      const before = made();
      return (await page.evaluate<boolean>(NOTHING_LOADS)) && open.size === 0 && made() === before;
    },
    (quiet) => quiet,
    60_000,
  );
};

/** Opens an address in a tab of openConsole, and waits until the page is settled. */
export const visit = async (page: Page, url: string): Promise<void> => {
  // Requests of the document that is left get no answer.
  traffic.get(page)!.open.clear();
  await page.goto(url);
  await settled(page);
};

/** The same for the page that is shown. */
export const reload = async (page: Page): Promise<void> => {
  traffic.get(page)!.open.clear();
  await page.reload();
  await settled(page);
};

export type ConsolePage = {
  page: Page;
  context: BrowserContext;
  /** Opens a page of the console by its path below /console and waits until it is settled. */
  go: (path: string) => Promise<void>;
  /** What this button copies. */
  copied: (button: Locator) => Promise<string>;
  /**
   * The errors of the page so far: errors of scripts, violations of the policy, requests to other
   * origins. Must be empty.
   */
  problem: () => string[];
  /** Serious and critical findings of axe in the present view. Must be empty. */
  findings: () => Promise<string[]>;
  /** Elements that extend beyond the screen when the page is wider than it. Must be empty. */
  wider: () => Promise<string[]>;
  /**
   * Stores a picture as `.local/console-shots/<name>-<width>.png` when CONSOLE_SHOTS is set: a
   * picture takes a browser 200 to 400 ms. Of another tab if one is given.
   */
  shoot: (name: string, tab?: Page) => Promise<void>;
  close: () => Promise<void>;
};

/** Gives a tab an authenticator, as a device has one. */
export const addAuthenticator = async (context: BrowserContext, page: Page): Promise<void> => {
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
    locale,
  }: {
    person?: Person;
    width?: keyof typeof WIDTHS;
    colours?: 'light' | 'dark';
    /** The browser's language; default: English. */
    locale?: string;
  } = {},
): Promise<ConsolePage> => {
  const { origin } = new URL(stack.console_url);
  const context = await browser.newContext({
    viewport: WIDTHS[width],
    ...(width === 'touch' && { hasTouch: true, isMobile: true }),
    colorScheme: colours,
    ...(locale !== undefined && { locale }),
    permissions: ['clipboard-read', 'clipboard-write'],
    // The skeleton of what loads takes a tenth of a core while it moves.
    reducedMotion: 'reduce',
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
  const problem: string[] = [];
  context.on('page', (opened) => {
    follow(opened);
    opened.on('pageerror', (error) => problem.push(`error: ${error.message}`));
    opened.on('console', (message) => {
      // The browser's message about a refused call repeats the API's error, which the page shows.
      if (message.type() === 'error' && !/^Failed to load resource/.test(message.text()))
        problem.push(`console: ${message.text()}`);
    });
    opened.on('request', (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && !/^(data|blob):$/.test(url.protocol))
        problem.push(`foreign: ${request.url()}`);
    });
  });
  const page = await context.newPage();
  await addAuthenticator(context, page);
  return {
    page,
    context,
    go: (to) => visit(page, `${stack.console_url}${to}`),
    copied: (button) =>
      // Pages of all suites are in one browser with one clipboard.
      whileClaimed(
        CLIPBOARD,
        () => undefined,
        async () => {
          await page.evaluate("navigator.clipboard.writeText('')");
          await button.click();
          return waitFor(
            () => page.evaluate<string>('navigator.clipboard.readText()'),
            (text) => text !== '',
          );
        },
      ),
    problem: () => [...problem],
    findings: async () => {
      if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(AXE);
      return page.evaluate(async () => {
        type Found = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };
        const { axe } = globalThis as unknown as {
          axe: { run: (options: object) => Promise<{ violations: Found[] }> };
        };
        // `region` takes a third of the time, and its findings are moderate.
        const { violations } = await axe.run({
          resultTypes: ['violations'],
          rules: { region: { enabled: false } },
        });
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
    shoot: async (name, tab = page) => {
      if (process.env.CONSOLE_SHOTS === undefined) return;
      mkdirSync(SHOTS, { recursive: true });
      const dark = colours === 'dark' ? '-dark' : '';
      await tab.screenshot({
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
