import { expect, test } from '@jest/globals';
import { createConsumer, createVendor, quoteOf, settleWith } from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { walletProof } from '../../deploy/local/seed/wallet.ts';
import { runningStack } from '../support/servers/stack.ts';

const stack = runningStack();
const api = createApi(stack.gateway_url);
// With external servers there is only one environment, because an external NATS has no account for
// the second.
const both = stack.environments.live === undefined ? test.skip : test;

both('a credential, a token and an object of one environment are unknown in the other', async () => {
  const [testVendor, liveVendor, consumer] = await Promise.all([
    createVendor(api, stack),
    createVendor(api, stack, { environment: 'live' }),
    createConsumer(api, stack),
  ]);
  expect(testVendor.apiKey).toMatch(/^vendor_test_/);
  expect(liveVendor.apiKey).toMatch(/^vendor_live_/);

  // The live quote is signed by a live key, so the test environment does not accept it as a quote.
  const liveQuote = await quoteOf(api, liveVendor);
  expect(await settleWith(api, consumer.token, liveQuote)).toMatchObject({
    status: 400,
    body: { error: { code: 'validation_error', money_moved: 'no' } },
  });
  // The live service does not exist for a test key, nor the test settlement for a live one.
  const wrong = await api('POST /v1/quote', {
    token: testVendor.apiKey,
    body: { service_id: liveVendor.serviceId },
  });
  expect(wrong.status).toBe(404);
  const paid = await must(settleWith(api, consumer.token, await quoteOf(api, testVendor)), 'settle');
  for (const token of [liveVendor.apiKey, liveVendor.signIn.access_token]) {
    expect((await api(`GET /v1/settlements/${paid.settlement_id}`, { token })).status).toBe(404);
  }
  // The same key text with the other prefix has a wrong checksum and an unknown hash.
  const respelled = testVendor.apiKey.replace('vendor_test_', 'vendor_live_');
  expect((await api('GET /v1/quotes', { token: respelled })).status).toBe(401);
});

both(
  'accounts are separate: the same mail address and the same wallet are new in the other environment',
  async () => {
    const email = `both-${crypto.randomUUID().slice(0, 8)}@example.com`;
    const inTest = await createConsumer(api, stack, { email });
    const inLive = await createVendor(api, stack, { email, environment: 'live' });
    expect(inLive.signIn.account.account_id).not.toBe(inTest.signIn.account.account_id);
    const body = await walletProof(inTest.wallet, inLive.signIn.account.account_id);
    const linked = await api<{ wallet_id: string; balance: string; token_account: string }>(
      'POST /v1/wallets',
      {
        token: inLive.signIn.access_token,
        body,
      },
    );
    expect(linked).toMatchObject({ status: 201, body: { balance: '0' } });
    // Another mint, so another token account of the same owner.
    expect(linked.body.token_account).not.toBe(inTest.view.token_account);
    const funded = await api('POST /v1/dev/fund', {
      token: inLive.signIn.access_token,
      body: { wallet_id: linked.body.wallet_id, amount: '1000000' },
    });
    expect(funded).toMatchObject({ status: 403, body: { error: { code: 'forbidden' } } });
  },
);

both('the public keys name their environment', async () => {
  type Jwks = { keys: { kid: string; env: string }[] };
  const all = await must(api<Jwks>('GET /.well-known/jwks.json'), 'jwks');
  expect(all.keys.map(({ kid }) => kid).toSorted()).toEqual(
    ['live', 'test'].flatMap((env) => ['quote', 'session', 'settlement'].map((use) => `${env}.${use}.1`)),
  );
  const live = await must(api<Jwks>('GET /.well-known/jwks.json?environment=live'), 'jwks');
  expect(live.keys.every(({ env, kid }) => env === 'live' && kid.startsWith('live.'))).toBe(true);
});
