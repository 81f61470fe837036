import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { signAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type GatewayFixture,
  newSigningKey,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/** The cookies of a page: its refresh token with the proof, and the nonce of a sign-in link. */
const ORIGIN = 'https://console.example';
const signing = newSigningKey('test.session.1');
let fixture: GatewayFixture;
beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [signing.entry],
    limits: { scale: 100 },
    env: { BROWSER_ORIGINS: `https://other.example,http://localhost:3000,${ORIGIN}` },
  });
});
afterAll(() => fixture.stop());

const newToken = () =>
  signAccessToken(
    {
      ...{ accountId: newId('acct'), sessionId: newId('ses'), environment: 'test', amr: ['email'] },
      ...{ authTime: Math.floor(Date.now() / 1000), now: Date.now() },
    },
    signing.signing,
  );

const session = (generation: number) => ({
  access_token: 'a.b.c',
  token_type: 'Bearer',
  expires_in: 900,
  refresh_token: `rt_test_${generation}`,
  account: { account_id: newId('acct'), email: 'ada@example.com' },
});
const post = async (
  path: string,
  { body, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
) => {
  const response = await fetch(fixture.gateway.url + path, {
    method: 'POST',
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  return {
    status: response.status,
    cookies: response.headers.getSetCookie(),
    body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
  };
};
const inputs: Record<string, unknown>[] = [];
beforeAll(() => {
  for (const name of ['verifyMagicLink', 'passkeyLoginVerify', 'refresh']) {
    fixture.services.answers[`identity.${name}`] = (input) => {
      inputs.push(input);
      if (input.refresh_token === 'rt_test_bad')
        throw new ServiceError('unauthorized', 'the session has ended');
      return session(2);
    };
  }
  fixture.services.answers['identity.logout'] = () => null;
});
const hashOf = (text: string) => createHash('sha256').update(text).digest('base64url');
const PROOF = '__Host-quittance_refresh_proof_test';
const proofOf = (token: string) => `${PROOF}=${hashOf(token)}`;
const cookie = `quittance_refresh_test=rt_test_1; ${proofOf('rt_test_1')}`;
const ATTRIBUTES = 'Max-Age=2592000; HttpOnly; Secure; SameSite=Strict';
const SET = [
  `quittance_refresh_test=rt_test_2; Path=/v1/auth/refresh; ${ATTRIBUTES}`,
  `${proofOf('rt_test_2')}; Path=/; ${ATTRIBUTES}`,
];
const link = { token: 'ml_test_x' };
const fromPage = { origin: ORIGIN };

test('sign-in: the token is in the body by default, and only in the cookie on request', async () => {
  const inBody = await post('/v1/auth/magic-link/verify', { body: link, headers: fromPage });
  expect(inBody).toMatchObject({ status: 200, cookies: [], body: { refresh_token: 'rt_test_2' } });
  const inCookie = await post('/v1/auth/magic-link/verify', {
    body: { ...link, refresh_in: 'cookie' },
    headers: fromPage,
  });
  expect(inCookie).toMatchObject({ status: 200, cookies: SET, body: { access_token: 'a.b.c' } });
  expect(inCookie.body).not.toHaveProperty('refresh_token');
});

test('refresh: the token of the cookie is used and replaced, with or without a body', async () => {
  for (const body of [undefined, {}, { environment: 'test' }]) {
    const answer = await post('/v1/auth/refresh', {
      ...(body ? { body } : {}),
      headers: { ...fromPage, cookie: `theme=dark; ${cookie}; x=y` },
    });
    expect(answer).toMatchObject({ status: 200, cookies: SET });
    expect(answer.body).not.toHaveProperty('refresh_token');
    expect(inputs.at(-1)).toMatchObject({ refresh_token: 'rt_test_1' });
  }
});

test('refresh: a token in the body is exchanged in the body, whatever the cookie', async () => {
  const answer = await post('/v1/auth/refresh', {
    body: { refresh_token: 'rt_test_7' },
    headers: { cookie },
  });
  expect(answer).toMatchObject({ status: 200, cookies: [], body: { refresh_token: 'rt_test_2' } });
  expect(inputs.at(-1)).toEqual({ refresh_token: 'rt_test_7' });
});

test.each([
  ['another site', { origin: 'https://evil.example', cookie }],
  ['another origin of the same site', { origin: 'https://blog.console.example', cookie }],
  ['our host over http', { origin: 'http://console.example', cookie }],
  ['a hidden origin', { origin: 'null', cookie }],
  ['no origin', { cookie }],
])('refresh from %s is refused, and the token is not used', async (_name, headers) => {
  const before = inputs.length;
  const answer = await post('/v1/auth/refresh', { headers });
  expect(answer).toMatchObject({ status: 403, cookies: [], body: { error: { code: 'forbidden' } } });
  const signIn = await post('/v1/auth/magic-link/verify', {
    body: { ...link, refresh_in: 'cookie' },
    headers,
  });
  expect(signIn).toMatchObject({ status: 403, cookies: [] });
  expect(inputs).toHaveLength(before);
});

test.each([
  ['no cookie', ''],
  ['an empty cookie', `quittance_refresh_test=; ${proofOf('')}`],
  ['a cookie of the other environment', `quittance_refresh_live=rt_live_1; ${proofOf('rt_live_1')}`],
  ['two cookies of one name', `${cookie}; quittance_refresh_test=rt_test_planted`],
  [
    'a cookie that another origin of the site planted into an empty jar',
    'quittance_refresh_test=rt_test_planted',
  ],
  [
    'a cookie planted with a proof cookie whose name another origin may set',
    `quittance_refresh_test=rt_test_9; quittance_refresh_proof_test=${hashOf('rt_test_9')}`,
  ],
  [
    'a cookie planted with the proof of an expired one',
    `quittance_refresh_test=rt_test_planted; ${proofOf('rt_test_1')}`,
  ],
  ['a cookie that identity refuses', `quittance_refresh_test=rt_test_bad; ${proofOf('rt_test_bad')}`],
  ['a cookie that is not a token', `quittance_refresh_test="><script>; ${proofOf('"><script>')}`],
])('refresh with %s is refused', async (_name, value) => {
  const answer = await post('/v1/auth/refresh', { headers: { ...fromPage, cookie: value } });
  expect([400, 401]).toContain(answer.status);
  expect(answer.cookies).toEqual([]);
});

test('the log contains neither cookie nor token', async () => {
  const log = () => fixture.gateway.log();
  await post('/v1/auth/refresh', { headers: { ...fromPage, cookie } });
  // Log lines are written in batches and in order, so the line of a last call follows those before
  // it.
  await post('/v1/auth/nothing', { headers: {} });
  await waitUntil(() => /"status":404[^\n]*\n$/.test(log()));
  expect(log()).toContain('/v1/auth/refresh');
  expect(log()).not.toMatch(/rt_test_|quittance_refresh/);
});

test('a page of localhost over http gets cookies without the prefix', async () => {
  const local = { origin: 'http://localhost:3000' };
  const signIn = await post('/v1/auth/magic-link/verify', {
    body: { ...link, refresh_in: 'cookie' },
    headers: local,
  });
  expect(signIn.cookies.map((each) => each.split('=')[0])).toEqual([
    'quittance_refresh_test',
    'quittance_refresh_proof_test',
  ]);
  const jar = signIn.cookies.map((each) => each.split(';')[0]).join('; ');
  expect(await post('/v1/auth/refresh', { headers: { ...local, cookie: jar } })).toMatchObject({
    status: 200,
  });
});

describe('the browser of a sign-in link', () => {
  const BROWSER = '__Host-quittance_browser';
  const request = { email: 'ada@example.com' };
  beforeAll(() => {
    for (const [name, answer] of Object.entries({
      requestMagicLink: { status: 'sent' },
      createAccount: { status: 'sent' },
      readMagicLink: { email: 'ada@example.com', same_browser: true, continue_to: null },
    }))
      fixture.services.answers[`identity.${name}`] = (input) => {
        inputs.push(input);
        return answer;
      };
  });

  test.each(['/v1/auth/magic-link', '/v1/accounts'])(
    '%s sets a nonce that no script can read, and keeps an existing one',
    async (path) => {
      const first = await post(path, { body: request, headers: fromPage });
      expect(first.cookies).toEqual([
        expect.stringMatching(
          new RegExp(
            `^${BROWSER}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=15552000; HttpOnly; Secure; SameSite=Strict$`,
          ),
        ),
      ]);
      const value = first.cookies[0]!.slice(BROWSER.length + 1).split(';')[0]!;
      expect(inputs.at(-1)).toEqual({ ...request, browser_nonce: value });
      const again = await post(path, {
        body: request,
        headers: { ...fromPage, cookie: `${BROWSER}=${value}` },
      });
      expect(again.cookies).toEqual(first.cookies);
      expect(inputs.at(-1)).toEqual({ ...request, browser_nonce: value });
    },
  );

  test('a malformed, repeated or planted nonce is replaced', async () => {
    const planted = 'p'.repeat(43);
    for (const cookie of [
      `${BROWSER}=short`,
      `${BROWSER}=${planted}; ${BROWSER}=${'q'.repeat(43)}`,
      `quittance_browser=${planted}`,
    ]) {
      const { cookies } = await post('/v1/auth/magic-link', {
        body: request,
        headers: { ...fromPage, cookie },
      });
      expect(cookies).toHaveLength(1);
      expect(cookies[0]).not.toMatch(/p{43}|q{43}|short/);
    }
  });

  test('reading and using a link pass the nonce to identity; a caller that is not a page has none', async () => {
    const value = 'n'.repeat(43);
    const headers = { ...fromPage, cookie: `${BROWSER}=${value}` };
    expect(await post('/v1/auth/magic-link/read', { body: link, headers })).toMatchObject({
      status: 200,
      cookies: [],
      body: { email: 'ada@example.com', same_browser: true, continue_to: null },
    });
    expect(inputs.at(-1)).toEqual({ ...link, browser_nonce: value });
    await post('/v1/auth/magic-link/verify', { body: { ...link, refresh_in: 'cookie' }, headers });
    expect(inputs.at(-1)).toMatchObject({ browser_nonce: value });

    for (const from of [{}, { origin: 'https://evil.example' }]) {
      const answer = await post('/v1/auth/magic-link', {
        body: request,
        headers: { ...from, cookie: headers.cookie },
      });
      expect(answer.cookies).toEqual([]);
      expect(inputs.at(-1)).toEqual(request);
      await post('/v1/auth/magic-link/read', { body: link, headers: { ...from, cookie: headers.cookie } });
      expect(inputs.at(-1)).toEqual(link);
    }
  });
});

test('signing out clears the refresh cookie', async () => {
  const answer = await post('/v1/auth/logout', {
    headers: { ...fromPage, authorization: `Bearer ${await newToken()}` },
  });
  expect(answer).toMatchObject({
    status: 204,
    cookies: [
      'quittance_refresh_test=; Path=/v1/auth/refresh; Max-Age=0; HttpOnly; Secure; SameSite=Strict',
      `${PROOF}=; Path=/; Max-Age=0; HttpOnly; Secure; SameSite=Strict`,
    ],
  });
});
