import { createRequire } from 'node:module';
import { type Browser, type CDPSession, type Page, chromium as playwright } from 'playwright-core';
import { startOptions } from './browser-server.ts';

/** The bundle that a page loads. It defines `SimpleWebAuthnBrowser` there. */
const BUNDLE = createRequire(import.meta.url)
  .resolve('@simplewebauthn/browser')
  .replace(/(@simplewebauthn\/browser)\/.*$/, '$1/dist/bundle/index.umd.min.js');

/**
 * How long an action or a navigation may take. Playwright's own 30 s have been too short on a busy
 * machine. A test should have more time than this, so that the message names what was missing.
 */
const ACTION_MS = 60_000;

const connect = async (url: string): Promise<Browser> => {
  const response = await fetch(url);
  const said = await response.text();
  if (!response.ok) throw new Error(said);
  return playwright.connect(said).catch((error: Error) => {
    throw new Error(`the browser of this run does not answer: ${error.message}`);
  });
};

/**
 * Real Chromium, from npm: nothing is downloaded or installed. In a run of the tests it is a
 * connection to the one that all suites use. Closing it closes its contexts.
 */
export const startBrowser = async (): Promise<Browser> => {
  const { BROWSER_URL } = process.env;
  const browser =
    BROWSER_URL === undefined ? await playwright.launch(await startOptions()) : await connect(BROWSER_URL);
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(ACTION_MS);
    return context;
  };
  return browser;
};

type StoredCredential = {
  credentialId: string;
  isResidentCredential: boolean;
  privateKey: string;
  signCount: number;
  rpId?: string;
  userHandle?: string;
};

export type PasskeyPage = {
  page: Page;
  /**
   * navigator.credentials.create on this page, as `@simplewebauthn/browser` calls it. Rejects with
   * `<name>: …`.
   */
  create: (options: object) => Promise<object>;
  /** The same for navigator.credentials.get. */
  get: (options: object) => Promise<object>;
  /** POSTs from this page's origin, cookies included. */
  post: (
    path: string,
    body?: object,
    token?: string,
  ) => Promise<{ status: number; body: Record<string, never> }>;
  userVerified: (verified: boolean) => Promise<unknown>;
  credentials: () => Promise<StoredCredential[]>;
  /** Removes a credential from the authenticator, or adds one. */
  forget: (credentialId: string) => Promise<unknown>;
  put: (credential: StoredCredential) => Promise<unknown>;
  close: () => Promise<void>;
};

/**
 * A page of this origin with its own authenticator, which holds resident keys and verifies its
 * user. The test answers the request for the page with an empty document. All other requests are
 * sent.
 */
export const openPage = async (browser: Browser, origin: string): Promise<PasskeyPage> => {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.route(`${origin}/empty`, (route) =>
    route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Passkeys</title>' }),
  );
  await page.goto(`${origin}/empty`);
  await page.addScriptTag({ path: BUNDLE });
  const cdp: CDPSession = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  const ceremony = async (method: 'startRegistration' | 'startAuthentication', optionsJSON: object) =>
    page.evaluate(
      ([name, options]) => {
        type Library = Record<string, (input: { optionsJSON: object }) => Promise<object>>;
        const library = (globalThis as unknown as { SimpleWebAuthnBrowser: Library }).SimpleWebAuthnBrowser;
        return library[name]!({ optionsJSON: options }).catch((error: Error) => {
          throw new Error(`${error.name}: ${error.message}`);
        });
      },
      [method, optionsJSON] as const,
    );
  return {
    page,
    create: (options) => ceremony('startRegistration', options),
    get: (options) => ceremony('startAuthentication', options),
    post: (path, body, token) =>
      page.evaluate(
        async ([to, sent, bearer]) => {
          const response = await fetch(to, {
            method: 'POST',
            headers: {
              ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
              ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
            },
            ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
          });
          const text = await response.text();
          return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
        },
        [path, body, token] as const,
      ),
    userVerified: (isUserVerified) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    credentials: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials,
    forget: (credentialId) => cdp.send('WebAuthn.removeCredential', { authenticatorId, credentialId }),
    put: (credential) => cdp.send('WebAuthn.addCredential', { authenticatorId, credential }),
    close: () => context.close(),
  };
};
