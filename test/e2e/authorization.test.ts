import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createApi } from '../../deploy/local/seed/api.ts';
import { signIn } from '../../deploy/local/seed/sign-in.ts';
import { contractList } from '../../shared/contract/index.ts';
import type { CredentialKind } from '../../shared/contract/principal.ts';
import type { HttpOperation } from '../../shared/contract/service.ts';
import { createKeyText } from '../../shared/lib/tokens/key-text.ts';
import { OF_OPEN_LINKS, SECRET } from '../support/actors/link-recipes.ts';
import { createSnapshot, createTenant, type Tenant } from '../support/actors/tenants.ts';
import { newTransaction, x402Request } from '../support/fixtures/settlement/settlement-incoming.ts';
import { requirementOf } from '../support/fixtures/settlement/settlement-outgoing.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Calls every operation of the contract with no credential, every wrong kind, a foreign tenant and
 * the other environment, always on Ada's objects. The answer is as specified, and nothing of Ada's
 * has changed. A new operation needs a line in RECIPES.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

type Recipe = {
  /** A call that would succeed for Ada. Path parameters are filled by name. */
  body?: (ada: Tenant) => object;
  query?: string;
  /**
   * The answer to a foreign tenant of the same environment; default 404. `hidden`: a success
   * without anything of Ada's.
   */
  foreign?: number | readonly number[] | 'hidden';
  /** The answer to a tenant of the other environment, if it differs. */
  elsewhere?: number | readonly number[] | 'hidden';
  /** The answer to a call without credential, for operations that need none. */
  open?: number;
  /** Ends or uses up the credential, so the call uses a separate sign-in. */
  throwaway?: true;
};
const one = '1000000';
const credential = { id: 'AA', rawId: 'AA', type: 'public-key', clientExtensionResults: {} };
const NO_REGISTRATION = { ...credential, response: { clientDataJSON: 'e30', attestationObject: 'oA' } };
const NO_ASSERTION = {
  ...credential,
  response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
};
const OPEN = 'gateway.health gateway.ready gateway.environments gateway.jwks settlement.getBlockhash';
const OF_ACCOUNT = ['getSettings', 'listSessions', 'listKeys', 'listSecurityEvents', 'listPasskeys'];
const HIDDEN = [...OF_ACCOUNT.map((name) => `identity.${name}`), 'settlement.getAccountLimits'];
/** Objects of the tenant, without a body. */
const OWN = [
  'quote.get quote.getPaymentLink quote.deactivatePaymentLink settlement.verify settlement.get',
  'settlement.getReceipt settlement.getApproval settlement.denyApproval wallet.backup',
  'funding.getDeposit funding.getWithdrawal funding.getRefund identity.deletePasskey',
  'identity.deleteSession identity.approvalOptions identity.getService identity.getDelegate',
  'identity.deleteDelegate webhook.getEndpoint webhook.deleteEndpoint webhook.rotateEndpointSecret',
  'webhook.listDeliveries webhook.testEndpoint webhook.getEvent identity.checkServiceDomain',
].flatMap((names) => names.split(' '));
/** A call of a vendor that presents a settlement token. */
const presented = (more: object): Recipe => ({
  body: ({ settlementToken }) => ({ settlement_token: settlementToken, ...more }),
  elsewhere: [400, 404],
});
const RECIPES: Record<string, Recipe> = {
  ...Object.fromEntries(OWN.map((id) => [id, {}])),
  ...Object.fromEntries(OPEN.split(' ').map((id) => [id, { open: 200 }])),
  ...Object.fromEntries(HIDDEN.map((id) => [id, { foreign: 'hidden' as const }])),
  'gateway.requests': { foreign: 'hidden' },
  'quote.create': { body: ({ objects }) => ({ service_id: objects.service_id }) },
  'quote.list': { foreign: 'hidden' },
  'quote.createPaymentLink': {
    body: ({ objects }) => ({ service_id: objects.service_id, title: 'Tour' }),
  },
  'quote.listPaymentLinks': { foreign: 'hidden' },
  ...OF_OPEN_LINKS,
  // Any account with a wallet may pay a quote. These two have none.
  'settlement.settle': {
    body: ({ quoteToken, attemptId }) => ({ quote_token: quoteToken, payment_attempt_id: attemptId }),
    foreign: [402, 409],
    elsewhere: 400,
  },
  'settlement.redeem': presented({}),
  'settlement.consume': presented({ units: 1, request_id: 'r-1' }),
  'settlement.usage': presented({ usage_id: 'u-1', amount: '1' }),
  ...Object.fromEntries(['capture', 'void', 'close'].map((name) => [`settlement.${name}`, {}])),
  'settlement.list': { foreign: 'hidden' },
  'settlement.listApprovals': { foreign: 'hidden' },
  // A stranger who tried to pay Ada’s quote sees the refusal of it, which names the quote.
  'settlement.listDeclines': { foreign: 200 },
  // The bytes are no transaction, for whatever service.
  'settlement.acceptForeign': {
    body: () => ({ rail: 'x402', quote_amount: one, memo: 'm', transaction: 'AQ==', redeem_id: 'r-1' }),
    foreign: 400,
  },
  // The accounts have no money, and their delegates may pay vendors of Quittance only. The network
  // of the other environment has another name.
  'settlement.payExternal': {
    body: ({ attemptId, walletProof }) => ({
      payment_attempt_id: attemptId,
      resource: 'https://api.example.com/',
      requirement: {
        ...requirementOf(walletProof.public_key),
        asset: stack.environments.test!.usdc_mint,
      },
    }),
    foreign: [402, 403, 409],
    elsewhere: 400,
  },
  'settlement.reportExternal': { body: () => ({ payment_response: 'e30=' }) },
  'settlement.foreignTerms': { foreign: 'hidden' },
  'settlement.reissueForeign': { body: () => ({ redeem_id: 'r-1' }) },
  'settlement.getFees': { foreign: 'hidden' },
  // The other accounts owe nothing.
  'settlement.createFeeQuote': { foreign: 409 },
  // A refusal of x402 has the status 200.
  'settlement.x402Supported': { foreign: 'hidden' },
  'settlement.x402Verify': { body: () => x402Request(newTransaction()), foreign: 'hidden' },
  'settlement.x402Settle': { body: () => x402Request(newTransaction()), foreign: 'hidden' },
  // The proof names the account, so it proves nothing for another one.
  'wallet.link': { body: ({ walletProof }) => walletProof, foreign: 400 },
  'wallet.provision': { body: ({ walletProof }) => walletProof, foreign: 400 },
  'wallet.list': { foreign: 'hidden' },
  'wallet.replaceBackup': {
    body: ({ walletProof }) => ({ proof: walletProof.proof, replaces: 'a', backup: 'b' }),
  },
  'wallet.onboarding': { body: () => ({ allowance: one }) },
  'wallet.delegate': { body: () => ({}) },
  'wallet.revoke': { body: () => ({}) },
  'wallet.listTransactions': { foreign: 'hidden' },
  'wallet.spendingSummary': { query: 'group_by=service', foreign: 'hidden' },
  'wallet.salesSummary': { query: 'group_by=service', foreign: 'hidden' },
  'funding.devFund': {
    body: ({ objects }) => ({ wallet_id: objects.wallet_id, amount: one }),
    elsewhere: 403,
  },
  'funding.createDeposit': {
    body: ({ objects }) => ({
      wallet_id: objects.wallet_id,
      provider: 'moonpay',
      fiat_currency: 'USD',
      fiat_amount: '50.00',
    }),
  },
  'funding.listDeposits': { foreign: 'hidden' },
  'funding.createWithdrawal': {
    body: ({ objects, walletProof }) => ({
      wallet_id: objects.wallet_id,
      amount: '1000',
      destination_address: walletProof.public_key,
    }),
  },
  'funding.approveWithdrawal': { body: () => ({}) },
  'funding.cancelWithdrawal': { body: () => ({}) },
  'funding.listWithdrawals': { foreign: 'hidden' },
  'funding.createRefund': {
    body: ({ objects }) => ({ settlement_id: objects.settlement_id, amount: '1000' }),
  },
  'funding.submitRefund': { body: () => ({}) },
  'funding.cancelRefund': { body: () => ({}) },
  'funding.listRefunds': { foreign: 'hidden' },
  // The provider's signature is its credential. No other signature is accepted.
  'funding.providerWebhook': { body: () => ({ type: 'transaction_updated' }), open: 401 },
  'identity.createAccount': { body: () => ({ email: `new-${crypto.randomUUID()}@example.com` }), open: 202 },
  'identity.requestMagicLink': {
    body: () => ({ email: `new-${crypto.randomUUID()}@example.com` }),
    open: 202,
  },
  'identity.readMagicLink': { body: () => ({ token: `ml_test_${'A'.repeat(43)}` }), open: 401 },
  'identity.followMagicLink': { body: () => ({}), open: 200 },
  'identity.verifyMagicLink': { body: () => ({ token: `ml_test_${'A'.repeat(43)}` }), open: 401 },
  'identity.refresh': { body: () => ({ refresh_token: `rt_test_${'A'.repeat(43)}` }), open: 401 },
  // Ends the caller's sign-in. Ada's refresh token in the body ends nothing.
  'identity.logout': {
    body: ({ session }) => ({ refresh_token: session.refresh_token }),
    foreign: 204,
    throwaway: true,
  },
  'identity.getAccount': { foreign: 'hidden' },
  'identity.noteExport': { body: () => ({ of: 'statement' }), foreign: 204 },
  // Closes the account of the caller, which is not Ada's.
  'identity.closeAccount': { foreign: 200, throwaway: true },
  'settlement.updateAccountLimits': { body: () => ({ daily: '30000000' }), foreign: 200 },
  // Ada's wallet does not exist for other accounts.
  'identity.updateSettings': {
    body: ({ objects }) => ({ default_wallet_id: objects.wallet_id }),
    foreign: 400,
  },
  'identity.passkeyRegisterOptions': { body: () => ({}), foreign: 'hidden' },
  'identity.passkeyRegisterVerify': { body: () => ({ response: NO_REGISTRATION }), foreign: 400 },
  'identity.startDeviceSignIn': { body: () => ({ client_name: 'A device' }), open: 200 },
  'identity.pollDeviceSignIn': { body: () => ({ device_code: `dc_test_${'A'.repeat(43)}` }), open: 401 },
  // Whoever is shown a code may decide about it, so none belongs to Ada.
  'identity.readDeviceSignIn': { body: () => ({ user_code: 'WDJB-MJHT' }) },
  'identity.decideDeviceSignIn': { body: () => ({ user_code: 'WDJB-MJHT', allow: false }) },
  'identity.passkeyLoginOptions': { body: () => ({}), open: 200 },
  'identity.passkeyLoginVerify': { body: () => ({ response: NO_ASSERTION }), open: 401 },
  'identity.approve': { body: () => ({ response: NO_ASSERTION }) },
  'identity.createService': {
    // Another account may create a service with the same name.
    body: ({ walletProof }) => ({ name: 'Tenant', price: one, payout_address: walletProof.public_key }),
    foreign: 'hidden',
  },
  'identity.listServices': { foreign: 'hidden' },
  'identity.showFee': { query: 'price=50000', foreign: 'hidden' },
  'identity.updateService': { body: () => ({ price: '20000' }) },
  'identity.deleteService': { body: () => ({ mode: 'close' }) },
  'identity.rotateServiceKey': { body: () => ({}) },
  'identity.revealServiceKey': { body: () => ({}) },
  'identity.verifyServiceReveal': { body: () => ({ token: `rv_test_${'A'.repeat(43)}` }), open: 401 },
  'identity.createDelegate': {
    body: ({ objects }) => ({ name: 'x', wallet_id: objects.wallet_id, limits: {} }),
  },
  'identity.listDelegates': { foreign: 'hidden' },
  'identity.getOwnDelegate': { foreign: 'hidden' },
  'identity.updateDelegate': { body: () => ({ limits: { daily: null } }) },
  'identity.rotateDelegateKey': { body: () => ({}) },
  'identity.revealDelegateKey': { body: () => ({}) },
  'webhook.createEndpoint': { body: () => ({ url: 'http://127.0.0.1:9/hook' }), foreign: 'hidden' },
  'webhook.listEndpoints': { foreign: 'hidden' },
  'webhook.updateEndpoint': { body: () => ({ enabled: false }) },
  'webhook.redeliver': { body: () => ({ since: '2026-01-01T00:00:00Z' }) },
  // A stranger’s own declined payment names Ada’s quote, which it tried to pay.
  'webhook.listEvents': { query: 'type=settlement.issued', foreign: 'hidden' },
  'identity.verifyDelegateReveal': { body: () => ({ token: `rv_test_${'A'.repeat(43)}` }), open: 401 },
};

/** Path parameters that name no existing object. */
const NOBODYS: Record<string, string> = { provider: 'moonpay', environment: 'test', handle: SECRET };

const operations = contractList.flatMap(({ name: service, operations: own }) =>
  Object.entries(own).map(([name, operation]) => [`${service}.${name}`, operation] as const),
);
const KINDS: readonly CredentialKind[] = ['jwt', 'service_key', 'delegate_key'];

test('every operation of the contract has a recipe, and every recipe an operation', () => {
  const inOrder = (names: string[]) => names.toSorted((a, b) => (a < b ? -1 : 1));
  expect(inOrder(Object.keys(RECIPES))).toEqual(inOrder(operations.map(([id]) => id)));
});

let ada: Tenant;
let eve: Tenant;
let live: Tenant | undefined;
let snapshot: Awaited<ReturnType<typeof createSnapshot>>;
beforeAll(async () => {
  [ada, eve, live, snapshot] = await Promise.all([
    createTenant(api, stack, 'test'),
    createTenant(api, stack, 'test', { pays: false }),
    // With external servers there is only one environment.
    stack.environments.live === undefined ? undefined : createTenant(api, stack, 'live'),
    createSnapshot(stack.postgres_urls),
  ]);
  await snapshot.untilQuiet(ada.accountId);
});
afterAll(async () => {
  await snapshot.stop();
  console.info(`authorization: ${operations.length} operations, ${cases} calls`);
});

let cases = 0;
const callAs = async (
  id: string,
  { http }: HttpOperation,
  token: string | undefined,
  extra: { body?: object; query?: string } = {},
) => {
  cases += 1;
  const recipe = RECIPES[id]!;
  const path = http.path.slice(1).replace(/:(\w+)/g, (_all, name: string) => {
    const value = NOBODYS[name] ?? (ada.objects as Record<string, string>)[name];
    if (value === undefined)
      throw new Error(`a tenant has no ${name}: add one in test/support/actors/tenants.ts`);
    return value;
  });
  const query = [recipe.query, extra.query].filter(Boolean).join('&');
  const body =
    recipe.body === undefined && extra.body === undefined
      ? undefined
      : { ...recipe.body?.(ada), ...extra.body };
  return api<{ error?: { code: string } } | undefined>(
    `${http.method} /${path}${query === '' ? '' : `?${query}`}`,
    { ...(token === undefined ? {} : { token }), ...(body === undefined ? {} : { body }) },
  );
};

const throwaway = async (environment: 'test' | 'live') =>
  (await signIn(api, stack, `once-${crypto.randomUUID().slice(0, 8)}@example.com`, environment)).access_token;

/** Checks that the answer is as specified and that a success shows nothing of Ada's. */
const expectAnswer = async (
  answer: Awaited<ReturnType<typeof callAs>>,
  expected: number | readonly number[] | 'hidden',
): Promise<void> => {
  if (expected === 'hidden') {
    expect(answer.status).toBeLessThan(300);
    const text = JSON.stringify(answer.body);
    for (const secret of [ada.accountId, ...Object.values(ada.objects)]) expect(text).not.toContain(secret);
    return;
  }
  expect([expected].flat()).toContain(answer.status);
};

describe.each(operations)('%s', (id, operation) => {
  const recipe = () => RECIPES[id]!;
  const { access } = operation;
  const isOpen = access.length === 0;
  let before: Record<string, string>;
  beforeAll(async () => {
    before = await snapshot.of(ada.accountId);
  });
  afterAll(async () => {
    expect(await snapshot.of(ada.accountId)).toEqual(before);
  });

  if (isOpen) {
    test('needs no credential', async () => {
      expect((await callAs(id, operation, undefined)).status).toBe(recipe().open);
      expect((await callAs(id, operation, 'nonsense')).status).toBe(recipe().open);
    });
    return;
  }

  test('without a valid credential: 401', async () => {
    const { jwt, service_key } = ada.credentials;
    const altered = (text: string) => `${text.slice(0, -1)}${text.endsWith('A') ? 'B' : 'A'}`;
    const [head, payload] = jwt.split('.');
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', typ: 'JWT' })).toString('base64url');
    const bad = [
      undefined,
      'nonsense',
      createKeyText('vendor_test_'),
      createKeyText('dk_test_'),
      altered(service_key),
      service_key.replace('_test_', '_live_'),
      `${head}.${payload}.`,
      `${unsigned}.${payload}.`,
      altered(jwt),
      ada.session.refresh_token,
    ];
    for (const token of bad) {
      const { status, body } = await callAs(id, operation, token);
      expect([token, status, body?.error?.code]).toEqual([token, 401, 'unauthorized']);
    }
  });

  const wrong = KINDS.filter((kind) => !access.includes(kind));
  if (wrong.length > 0) {
    test.each(wrong)('with Ada’s own %s: 403', async (kind) => {
      const { status, body } = await callAs(id, operation, ada.credentials[kind]);
      expect([status, body?.error?.code]).toEqual([403, 'forbidden']);
    });
  }

  test.each(access)('with a %s of another tenant: nothing of Ada’s', async (kind) => {
    const token = recipe().throwaway ? await throwaway('test') : eve.credentials[kind];
    await expectAnswer(await callAs(id, operation, token), recipe().foreign ?? 404);
  });

  test.each(access)('with a %s of the other environment: nothing of Ada’s', async (kind) => {
    if (live === undefined) return;
    const token = recipe().throwaway ? await throwaway('live') : live.credentials[kind];
    await expectAnswer(await callAs(id, operation, token), recipe().elsewhere ?? recipe().foreign ?? 404);
  });

  // Mass assignment: fields that the caller may not set are refused, and never applied.
  // A body of another protocol drops them.
  if (operation.dialect !== undefined) return;
  test.each(access)('with Ada’s %s and fields that are not hers to set: 400', async (kind) => {
    const fields = {
      account_id: eve.accountId,
      vendor_account_id: eve.accountId,
      vendor_id: eve.accountId,
      fee_amount: '0',
      status: 'redeemed',
      redeemed_at: '2020-01-01T00:00:00Z',
      balance: '1',
      spent: '0',
    };
    for (const [name, value] of Object.entries(fields)) {
      const inQuery = operation.http.method === 'GET';
      const known = (inQuery ? operation.query : operation.body).shape;
      if (Object.hasOwn(known, name)) continue;
      const extra = inQuery ? { query: `${name}=${encodeURIComponent(value)}` } : { body: { [name]: value } };
      const { status, body } = await callAs(id, operation, ada.credentials[kind], extra);
      expect([name, status, body?.error?.code]).toEqual([name, 400, 'validation_error']);
    }
  });
});

test('after all calls Ada’s credentials still work', async () => {
  const { jwt, service_key, delegate_key } = ada.credentials;
  expect((await api(`GET /v1/services/${ada.objects.service_id}`, { token: jwt })).status).toBe(200);
  expect((await api(`GET /v1/quotes/${ada.objects.quote_id}`, { token: service_key })).status).toBe(200);
  expect((await api('GET /v1/delegates/me', { token: delegate_key })).body).toMatchObject({
    delegate_id: ada.objects.delegate_id,
    usage: { total: { spent: one, held: '0', remaining: '4000000' } },
  });
  expect(
    (await api(`GET /v1/settlements/${ada.objects.settlement_id}`, { token: delegate_key })).status,
  ).toBe(200);
});
