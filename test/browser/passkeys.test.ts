import { afterEach, expect, test } from '@jest/globals';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { type SignIn, signIn } from '../../deploy/local/seed/sign-in.ts';
import { waitFor } from '../support/base/wait.ts';
import { openPage, type PasskeyPage } from '../support/browser/browser.ts';
import { browserOfSuite } from '../support/browser/browser-suite.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Passkeys in real Chromium with the running system. The page is at the gateway's address under the
 * name `localhost`: browsers allow passkeys there without a certificate, and at no bare address.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const origin = `http://localhost:${new URL(stack.gateway_url).port}`;

const browser = browserOfSuite();
let open: PasskeyPage[] = [];
afterEach(async () => {
  await Promise.all(open.map((page) => page.close()));
  open = [];
});

const newPage = async (at = origin): Promise<PasskeyPage> => {
  const page = await openPage(browser(), at);
  open.push(page);
  return page;
};
const newPerson = () => signIn(api, stack, `passkey-${crypto.randomUUID().slice(0, 8)}@example.com`, 'test');

type Passkey = { passkey_id: string; label: string; last_used_at: string | null };
const register = async (page: PasskeyPage, { access_token: token }: SignIn, label = 'Laptop') => {
  const options = await must(
    api<object>('POST /v1/auth/passkey/register/options', { token, body: {} }),
    'register options',
  );
  const response = await page.create(options);
  return api<Passkey>('POST /v1/auth/passkey/register/verify', { token, body: { response, label } });
};
const loginOptions = () => must(api<object>('POST /v1/auth/passkey/login/options', { body: {} }), 'options');
const verify = (response: object) =>
  api<SignIn & { error?: { code: string } }>('POST /v1/auth/passkey/login/verify', { body: { response } });
const registered = async () => {
  const [page, person] = [await newPage(), await newPerson()];
  const passkey = await must(register(page, person), 'register');
  return { page, person, passkey };
};
const refusal = { status: 401, body: { error: { code: 'unauthorized' } } };

test('a passkey is registered, signs in without an account name, and its session is refreshed by the cookie', async () => {
  const { page, person, passkey } = await registered();
  expect(passkey).toMatchObject({ label: 'Laptop', last_used_at: null });
  const token = person.access_token;
  expect(await api('POST /v1/auth/logout', { token })).toMatchObject({ status: 204 });
  // The event that makes the gateway forget the session may arrive after the answer.
  await waitFor(
    () => api('GET /v1/accounts/me', { token }),
    ({ status }) => status === 401,
  );

  // As a page does it: all from the browser, with the refresh token where no script can read it.
  const options = await page.post('/v1/auth/passkey/login/options', {});
  const response = await page.get(options.body);
  const entered = await page.post('/v1/auth/passkey/login/verify', { response, refresh_in: 'cookie' });
  expect(entered).toMatchObject({ status: 200, body: { account: person.account } });
  expect(entered.body).not.toHaveProperty('refresh_token');
  expect(await page.page.evaluate('document.cookie')).toBe('');

  const refreshed = await page.post('/v1/auth/refresh');
  expect(refreshed).toMatchObject({ status: 200, body: { account: person.account } });
  const again = await page.post('/v1/auth/refresh');
  expect(again.status).toBe(200);
  const next: string = again.body.access_token!;
  const list = await must(
    api<{ data: Passkey[] }>('GET /v1/accounts/me/passkeys', { token: next }),
    'passkeys',
  );
  expect(list.data).toEqual([{ ...passkey, last_used_at: expect.any(String) }]);
  // A passkey is a fresh sign-in, so another one may be registered with it.
  expect(await api('POST /v1/auth/passkey/register/options', { token: next, body: {} })).toMatchObject({
    status: 200,
  });
  await page.post('/v1/auth/logout', {}, next);
  expect((await page.post('/v1/auth/refresh')).status).toBe(401);
});

test('a page of another origin cannot sign in, even on the same host', async () => {
  const { page, person } = await registered();
  const [credential] = await page.credentials();
  const elsewhere = await newPage('http://localhost:59999');
  await elsewhere.put(credential!);
  expect(await verify(await elsewhere.get(await loginOptions()))).toMatchObject(refusal);
  // Its answer to a registration is refused as well.
  expect(await register(await newPage('http://localhost:59999'), person)).toMatchObject({ status: 400 });
  // By its address the same machine is another site, and the browser refuses.
  const byAddress = await newPage(stack.gateway_url);
  await expect(byAddress.get(await loginOptions())).rejects.toThrow('SecurityError');
});

test('a replayed assertion is refused', async () => {
  const { page } = await registered();
  const response = await page.get(await loginOptions());
  expect((await verify(response)).status).toBe(200);
  expect(await verify(response)).toMatchObject(refusal);
});

test('64 concurrent uses of one assertion give one sign-in', async () => {
  const { page } = await registered();
  const response = await page.get(await loginOptions());
  const answers = await Promise.all(Array.from({ length: 64 }, () => verify(response)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(63);
});

test('a removed credential signs in no user, whether the browser or the account removed it', async () => {
  const { page, person, passkey } = await registered();
  const response = await page.get(await loginOptions());
  const token = person.access_token;
  expect(await api(`DELETE /v1/accounts/me/passkeys/${passkey.passkey_id}`, { token })).toMatchObject({
    status: 204,
  });
  expect(await verify(response)).toMatchObject(refusal);

  const other = await registered();
  await other.page.forget((await other.page.credentials())[0]!.credentialId);
  await expect(other.page.get(await loginOptions())).rejects.toThrow('NotAllowedError');
});

test('without user verification the browser returns nothing', async () => {
  const { page, person } = await registered();
  await page.userVerified(false);
  await expect(page.get(await loginOptions())).rejects.toThrow('NotAllowedError');
  await expect(register(await newPage(), person)).resolves.toMatchObject({ status: 201 });
  const careless = await newPage();
  await careless.userVerified(false);
  await expect(register(careless, person)).rejects.toThrow('NotAllowedError');
});

test('an account may have several passkeys, one for each authenticator', async () => {
  const { page, person } = await registered();
  await expect(register(page, person)).rejects.toThrow('InvalidStateError');
  const second = await newPage();
  expect((await register(second, person, 'Phone')).status).toBe(201);
  for (const each of [page, second]) {
    const entered = await must(verify(await each.get(await loginOptions())), 'sign-in');
    expect(entered.account).toEqual(person.account);
  }
});

test('a copy with an older counter is refused, and the owner is notified', async () => {
  const { page, person } = await registered();
  const [copy] = await page.credentials();
  for (let i = 0; i < 2; i += 1) await must(verify(await page.get(await loginOptions())), 'sign-in');
  const thief = await newPage();
  await thief.put(copy!);
  expect(await verify(await thief.get(await loginOptions()))).toMatchObject(refusal);

  const inbox = `${stack.mail_url}/messages?to=${encodeURIComponent(person.account.email)}`;
  const newest = async () => ((await (await fetch(inbox)).json()) as { subject: string }[])[0]?.subject;
  const refused = await waitFor(newest, (subject) => subject?.includes('refused') === true);
  expect(refused).toBe('A sign-in with a passkey was refused (Quittance)');
});
