import { expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signIn } from '../../deploy/local/seed/sign-in.ts';
import { allowSpending, fund, linkWallet } from '../../deploy/local/seed/wallet.ts';
import { waitFor } from '../support/base/wait.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);

type Settings = { default_wallet_id: string | null; mail_payments: boolean };
const settings = (token: string) =>
  must(api<Settings>('GET /v1/accounts/me/settings', { token }), 'settings');

test('the default wallet of the settings pays for a settle with an access token', async () => {
  const [vendor, ada, eve] = [
    await createVendor(api, stack),
    await createConsumer(api, stack),
    await createConsumer(api, stack),
  ];
  const second = Keypair.generate();
  const linked = await linkWallet(api, ada.token, ada.signIn.account.account_id, second);
  // Enough for every payment until a change of the default wallet takes effect.
  await fund(api, ada.token, linked.wallet_id, 50_000_000n);
  await allowSpending(api, ada.token, linked.wallet_id, second, 50_000_000n);
  expect((await settings(ada.token)).default_wallet_id).toBe(ada.walletId);

  const choose = (wallet_id: string | null) =>
    api<Settings>('PATCH /v1/accounts/me/settings', {
      token: ada.token,
      body: { default_wallet_id: wallet_id, mail_payments: true },
    });
  expect(await choose(eve.walletId)).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_error', details: [{ path: 'default_wallet_id' }] } },
  });
  // Refused as a whole: no part of it was applied.
  expect((await settings(ada.token)).mail_payments).toBe(false);

  const pays = async () => {
    const before = await Promise.all([ada.wallet, second].map(({ publicKey }) => chain.balance(publicKey)));
    await must(settleWith(api, ada.token, await quoteOf(api, vendor)), 'settle');
    const after = await Promise.all([ada.wallet, second].map(({ publicKey }) => chain.balance(publicKey)));
    return after.map((balance, i) => before[i]! - balance);
  };
  expect(await choose(linked.wallet_id)).toMatchObject({
    status: 200,
    body: { default_wallet_id: linked.wallet_id, mail_payments: true },
  });
  expect(await pays()).toEqual([0n, 2_500_000n]);
  expect((await choose(null)).body.default_wallet_id).toBe(ada.walletId);
  // A change takes effect within 2 s, because settlement reads it once a second.
  await waitFor(pays, ([ofDefault]) => ofDefault === 2_500_000n, 5000);
});

test('payments are mailed to payer and vendor once each, the first one once more, with an alert when the day passes its threshold', async () => {
  const [vendor, ada] = [await createVendor(api, stack), await createConsumer(api, stack)];
  const set = (token: string, body: object) =>
    must(api('PATCH /v1/accounts/me/settings', { token, body }), 'settings');
  await set(vendor.signIn.access_token, { mail_payments: true });
  await set(ada.token, { mail_payments: true, spending_alert_threshold: '4000000' });
  const pay = async () => must(settleWith(api, ada.token, await quoteOf(api, vendor)), 'settle');
  const mailed = async (to: string) => {
    const response = await fetch(`${stack.mail_url}/messages?to=${encodeURIComponent(to)}`);
    return ((await response.json()) as { text: string }[]).map(({ text }) => text);
  };
  const both = async () => [
    ...(await mailed(ada.signIn.account.email)),
    ...(await mailed(vendor.signIn.account.email)),
  ];
  const untilMailed = (phrase: string) =>
    waitFor(both, (texts) => texts.some((text) => text.includes(phrase)));

  const first = await pay();
  await untilMailed('your account paid 2.50 USDC to the service “Weather API”');
  await untilMailed('was paid 2.50 USDC. You receive 2.4875 USDC; the fee is 0.0125 USDC.');
  expect((await both()).filter((text) => text.includes('your alert of'))).toEqual([]);
  await pay();
  await untilMailed('has spent 5.00 USDC so far, more than your alert of 4.00 USDC.');
  const last = await pay();
  await waitFor(both, (texts) => texts.filter((text) => text.includes(last.settlement_id)).length >= 2);
  const count = async (phrase: string) => (await both()).filter((text) => text.includes(phrase)).length;
  expect([await count('your alert of'), await count(first.settlement_id)]).toEqual([1, 3]);
  expect(await count(last.settlement_id)).toBe(2);
});

test('one sign-in revokes another, whose access token is refused within 2 s', async () => {
  const email = `sessions-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const [here, there] = [await signIn(api, stack, email, 'test'), await signIn(api, stack, email, 'test')];
  const me = async (token: string) => (await api('GET /v1/accounts/me', { token })).status;
  expect([await me(here.access_token), await me(there.access_token)]).toEqual([200, 200]);
  const { data } = await must(
    api<{ data: { session_id: string; current: boolean }[] }>('GET /v1/accounts/me/sessions', {
      token: here.access_token,
    }),
    'sessions',
  );
  const other = data.find(({ current }) => !current)!;
  const ended = await api(`DELETE /v1/accounts/me/sessions/${other.session_id}`, {
    token: here.access_token,
  });
  expect(ended.status).toBe(204);
  await waitFor(
    () => me(there.access_token),
    (status) => status === 401,
    2000,
  );
  expect(await me(here.access_token)).toBe(200);
  const again = await api('POST /v1/auth/refresh', { body: { refresh_token: there.refresh_token } });
  expect(again.status).toBe(401);
});
