import { beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Paid,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { walletProof } from '../../deploy/local/seed/wallet.ts';
import { ERROR_GUIDE } from '../../shared/contract/error-guide.ts';
import type { ErrorCode, MoneyMoved, SafeAction } from '../../shared/contract/errors.ts';
import { createKeyText } from '../../shared/lib/tokens/key-text.ts';
import { waitUntil } from '../support/base/wait.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The mistakes of a new user, and what the API answers: a table to read aloud. Each message names
 * what is wrong and what to do.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);

let vendor: Vendor;
let otherVendor: Vendor;
let buyer: Consumer;
let otherBuyer: Consumer;
let newcomer: Consumer;
let robot: Delegate;
let bought: Paid;
let second: Paid;
let boughtQuote: Quote;
let expiredQuote: Quote;
const revoked = { key: '', delegateKey: '', session: '' };

const isRefused = async (token: string): Promise<boolean> =>
  (await api('GET /v1/settlements', { token })).status === 401;

beforeAll(async () => {
  [vendor, otherVendor, buyer, otherBuyer, newcomer] = await Promise.all([
    createVendor(api, stack),
    createVendor(api, stack),
    createConsumer(api, stack),
    createConsumer(api, stack, { balance: 1_000_000n }),
    createConsumer(api, stack, { allowance: 0n }),
  ]);
  expiredQuote = await quoteOf(api, vendor, { expires_in_seconds: 1 });
  robot = await createDelegate(api, buyer, { per_payment: '1000000' });
  boughtQuote = await quoteOf(api, vendor);
  bought = await must(settleWith(api, buyer.token, boughtQuote, 'order-1'), 'settle');
  second = await must(settleWith(api, buyer.token, await quoteOf(api, vendor), 'order-2'), 'settle');

  const leaving = await createVendor(api, stack);
  revoked.key = leaving.apiKey;
  await must(
    api(`POST /v1/services/${leaving.serviceId}/key/rotate`, {
      token: leaving.signIn.access_token,
      body: { revoke_previous: true },
    }),
    'rotate',
  );
  const deleted = await createDelegate(api, buyer, {});
  revoked.delegateKey = deleted.api_key;
  await must(api(`DELETE /v1/delegates/${deleted.delegate_id}`, { token: buyer.token }), 'delete');
  revoked.session = leaving.signIn.access_token;
  await must(api('POST /v1/auth/logout', { token: revoked.session }), 'logout');
  for (const token of Object.values(revoked)) await waitUntil(() => isRefused(token), { withinMs: 5000 });
  await waitUntil(() => Date.now() > Date.parse(expiredQuote.expires_at));
});

// ---------- the calls ----------

type Sent = { body?: unknown; text?: string; authorization?: string; headers?: Record<string, string> };
type Refused = {
  code: ErrorCode;
  message: string;
  request_id: string;
  docs_url: string;
  money_moved?: MoneyMoved;
  safe_action?: SafeAction;
};

const call = async (route: string, { body, text, authorization, headers = {} }: Sent = {}) => {
  const [method, path] = route.split(' ') as [string, string];
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(`${stack.gateway_url}${path}`, {
    method,
    headers: {
      ...(authorization === undefined ? {} : { authorization }),
      ...(sent === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  });
  const { error } = (await response.json()) as { error?: Refused };
  return { status: response.status, headers: response.headers, error };
};

/** Calls of the vendor and the buyer, with their credentials. */
const sell = (route: string, sent: Sent = {}) =>
  call(route, { authorization: `Bearer ${vendor.apiKey}`, ...sent });
const own = (route: string, sent: Sent = {}) =>
  call(route, { authorization: `Bearer ${vendor.signIn.access_token}`, ...sent });
const pay = (body: object, token = buyer.token) =>
  call('POST /v1/settle', { authorization: `Bearer ${token}`, body });
const account = (route: string, sent: Sent = {}) =>
  call(route, { authorization: `Bearer ${buyer.token}`, ...sent });
const settle = ({ quote_token }: { quote_token: string }, token = buyer.token) =>
  pay({ quote_token, payment_attempt_id: crypto.randomUUID() }, token);
const authorizedBy = (authorization: string) => call('GET /v1/quotes', { authorization });
const quote = (body: object) => sell('POST /v1/quote', { body: { service_id: vendor.serviceId, ...body } });
const service = (body: object) =>
  own('POST /v1/services', {
    body: { name: 'Maps', price: '50000', payout_address: vendor.payout.publicKey.toBase58(), ...body },
  });
const redeem = (body: object, token = vendor.apiKey) =>
  call(`POST /v1/settlements/${bought.settlement_id}/redeem`, { authorization: `Bearer ${token}`, body });

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
/** The text with another character at this place. */
const changed = (text: string, at = 30) =>
  text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
const key = () => vendor.apiKey;
const newQuote = (body: object = {}) => quoteOf(api, vendor, body);
const linkedWith = async (proof: Awaited<ReturnType<typeof walletProof>>) =>
  account('POST /v1/wallets', { body: proof });

// ---------- the table ----------

type Row = [mistake: string, make: () => ReturnType<typeof call>, answer: string, message: RegExp];

// biome-ignore format: a table
const CREDENTIALS: Row[] = [
  ['no credential', () => call('GET /v1/quotes'),
    '401 unauthorized', /^the header Authorization is missing; send /],
  ['a key without Bearer', () => authorizedBy(key()),
    '401 unauthorized', /^the word Bearer before the credential is missing; send /],
  ['a key as basic authentication', () => authorizedBy(`Basic ${btoa(`${key()}:`)}`),
    '401 unauthorized', /has the scheme Basic; send /],
  ['two keys in one header', () => authorizedBy(`Bearer ${key()}, ${key()}`),
    '401 unauthorized', /several words after Bearer; send one credential/],
  ['a key of another product', () => authorizedBy('Bearer sk_test_4eC39HqLyjWDarjtT1zdp7dc'),
    '401 unauthorized', /neither a key nor an access token; a key begins with one of vendor_test_/],
  ['a key with one wrong character', () => authorizedBy(`Bearer ${changed(key())}`),
    '401 unauthorized', /^the key is mistyped or incomplete: .*; copy the whole key again/],
  ['a key that was cut off', () => authorizedBy(`Bearer ${key().slice(0, -3)}`),
    '401 unauthorized', /^the key is mistyped or incomplete/],
  ['a test key renamed to live', () => authorizedBy(`Bearer ${key().replace('test', 'live')}`),
    '401 unauthorized', /^the key is mistyped or incomplete/],
  ['a key of another installation', () => authorizedBy(`Bearer ${createKeyText('vendor_test_')}`),
    '401 unauthorized', /^the environment test has no such key; check /],
  ['a key that was replaced', () => authorizedBy(`Bearer ${revoked.key}`),
    '401 unauthorized', /^the key was revoked or replaced at 2\d{3}-.*Z; use the current key$/],
  ['the key of a deleted delegate', () => call('GET /v1/settlements', { authorization: `Bearer ${revoked.delegateKey}` }),
    '401 unauthorized', /^the delegate of the key was deleted at 2\d{3}-.*Z; use /],
  ['a refresh token', () => authorizedBy(`Bearer ${buyer.signIn.refresh_token}`),
    '401 unauthorized', /^a refresh token is no credential; exchange it /],
  ['a quote token', () => authorizedBy(`Bearer ${boughtQuote.quote_token}`),
    '401 unauthorized', /^a quote token or settlement token is no credential; send it in the body/],
  ['an access token that was changed', () => own('GET /v1/services', { authorization: `Bearer ${buyer.token.slice(0, -4)}AAAA` }),
    '401 unauthorized', /^the access token is not signed by this service, or it was changed; sign in again$/],
  ['an access token after the logout', () => own('GET /v1/services', { authorization: `Bearer ${revoked.session}` }),
    '401 unauthorized', /^the sign-in of the access token has ended; sign in again$/],
  ['a delegate key that sells', () => call('POST /v1/quote', { authorization: `Bearer ${robot.api_key}`, body: {} }),
    '403 forbidden', /^this call requires a service key, and a delegate key was sent; the console shows a service key \(vendor_…\) under Services$/],
  ['a service key that pays', () => pay({}, key()),
    '403 forbidden stop', /^this call requires an access token or a delegate key, and a service key was sent; a sign-in gives an access token \(POST \/v1\/auth\/magic-link\), and the console shows a delegate key /],
];

// biome-ignore format: a table
const REQUESTS: Row[] = [
  ['GET where POST is needed', () => sell('GET /v1/quote'),
    '405 method_not_allowed', /^the path has no method GET; use POST, or did you mean GET \/v1\/quotes\?$/],
  ['PUT instead of PATCH', () => own(`PUT /v1/services/${vendor.serviceId}`, { body: {} }),
    '405 method_not_allowed', /^the path has no method PUT; use DELETE or GET or PATCH$/],
  ['a misspelt path', () => sell('GET /v1/qoutes'),
    '404 not_found', /^no such path; did you mean \/v1\/quotes\? http.*\/docs has the paths of this API$/],
  ['the plural of a path', () => sell('POST /v1/quotes', { body: {} }),
    '405 method_not_allowed', /^the path has no method POST; use GET, or did you mean POST \/v1\/quote\?$/],
  ['a path of another API', () => sell('GET /api/v2/charges'),
    '404 not_found', /^no such path; http.*\/docs has the paths of this API$/],
  ['a slash after the path', () => sell('POST /v1/quote/', { body: {} }),
    '404 not_found', /^no such path; did you mean \/v1\/quote\? /],
  ['a form instead of JSON', () => sell('POST /v1/quote', { text: 'service_id=1', headers: FORM }),
    '415 unsupported_media_type', /must be JSON: send Content-Type: application\/json/],
  ['broken JSON', () => sell('POST /v1/quote', { text: '{"service_id": ' }),
    '400 validation_error', /^the body is not valid JSON/],
  ['a list as the body', () => sell('POST /v1/quote', { body: [] }),
    '400 validation_error', /^the body must be a JSON object/],
  ['a field twice', () => sell('POST /v1/quote', { text: '{"quote_amount":"1","quote_amount":"2"}' }),
    '400 validation_error', /^the body has a field name twice; send each name once/],
  ['a body over 64 KiB', () => quote({ scope: { text: 'a'.repeat(70_000) } }),
    '413 payload_too_large', /too large/],
];

// biome-ignore format: a table
const PRICES: Row[] = [
  ['no service_id', () => sell('POST /v1/quote', { body: {} }),
    '400 validation_error', /^service_id: is required$/],
  ['a misspelt field', () => quote({ quote_amont: '50000' }),
    '400 validation_error', /^quote_amont: unknown field; did you mean `quote_amount`\? Allowed: service_id, quote_amount, /],
  ['a short name of a field', () => quote({ amount: '50000' }),
    '400 validation_error', /^amount: unknown field; did you mean `quote_amount` or `max_amount`\?/],
  ['a price as a number', () => quote({ quote_amount: 50_000 }),
    '400 validation_error', /^quote_amount: must be a string of digits, for example "\d+"; got a number$/],
  ['a price in USDC', () => quote({ quote_amount: '0.05' }),
    '400 validation_error', /^quote_amount: must be USDC micro-units: .* "50000" for 0\.05 USDC$/],
  ['a price of 20 digits', () => quote({ quote_amount: '9'.repeat(20) }),
    '400 validation_error', /^quote_amount: is too large: must be at most 9223372036854775807$/],
  ['a price that the fee takes', () => quote({ quote_amount: '10000' }),
    '400 validation_error', /^quote_amount: must exceed the fee of 10000 micro-units.*; send at least "10001"$/],
  ['a service whose price the fee takes', () => service({ price: '10000' }),
    '400 validation_error', /^price: must exceed the fee of 10000 micro-units.*; send at least "10001"$/],
  ['a time as text', () => quote({ expires_in_seconds: '600' }),
    '400 validation_error', /^expires_in_seconds: must be a whole number; got a string$/],
  ['a redeem window that is too short', () => quote({ redeem_window_seconds: 10 }),
    '400 validation_error', /^redeem_window_seconds: must be at least 30$/],
  ['another currency', () => quote({ currency: 'EUR' }),
    '400 validation_error', /^currency: must be "USDC"$/],
  ['the service of somebody else', () => quote({ service_id: otherVendor.serviceId }),
    '404 not_found', /^no such service$/],
  ['a payout address that is no address', () => service({ payout_address: '0x52908400098527886E0F7030069857D2E4169EE7' }),
    '400 validation_error', /^payout_address: must be a base58 address$/],
  ['a program as payout address', () => service({ payout_address: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' }),
    '400 validation_error', /^payout_address: /],
];

// biome-ignore format: a table
const PAYMENTS: Row[] = [
  ['no payment_attempt_id', async () => pay({ quote_token: (await newQuote()).quote_token }),
    '400 validation_error stop', /^payment_attempt_id: is required$/],
  ['an attempt id with a slash', async () => pay({ quote_token: (await newQuote()).quote_token, payment_attempt_id: 'a/b' }),
    '400 validation_error stop', /^payment_attempt_id: must be 1 to 128 characters of /],
  ['a settlement token as the quote token', () => settle({ quote_token: bought.settlement_token }),
    '400 validation_error stop', /^quote_token: is a settlement token; send the quote token$/],
  ['a quote token that was changed', () => settle({ quote_token: changed(expiredQuote.quote_token, expiredQuote.quote_token.length - 10) }),
    '400 validation_error stop', /^quote_token: was changed: its signature does not match; send it unchanged$/],
  ['an expired quote', () => settle(expiredQuote),
    '410 quote_expired new_quote', /^the quote has expired$/],
  ['an attempt id for two quotes', async () => pay({ quote_token: (await newQuote()).quote_token, payment_attempt_id: 'order-1' }),
    '409 conflict read_settlement', /^this payment_attempt_id was used with another quote$/],
  ['a paid quote with a new attempt id', () => settle(boughtQuote),
    '409 quote_already_settled read_settlement', /^this account has paid the quote, or is paying it, by another attempt$/],
  ['a quote that another buyer has paid', () => settle(boughtQuote, otherBuyer.token),
    '409 quote_already_settled new_quote', /^the quote is paid or being paid by another attempt$/],
  ['a payment above the limit', async () => settle(await newQuote(), robot.api_key),
    '403 limit_exceeded raise_limit', /^per_payment: /],
  ['a wallet with too little USDC', async () => settle(await newQuote(), otherBuyer.token),
    '402 insufficient_funds top_up', /balance/],
  ['a wallet that allows no spending', async () => settle(await newQuote(), newcomer.token),
    '409 delegation_inactive raise_limit', /^the wallet allows no spending, so this payment of 2.50 USDC is not possible/],
];

// biome-ignore format: a table
const DELIVERIES: Row[] = [
  ['no settlement token', () => redeem({}),
    '400 validation_error', /^settlement_token: is required$/],
  ['the token of another settlement', () => redeem({ settlement_token: second.settlement_token }),
    '400 validation_error', /^settlement_token: belongs to another settlement$/],
  ['the quote token instead', () => redeem({ settlement_token: boughtQuote.quote_token }),
    '400 validation_error', /^settlement_token: is a quote token; send the settlement token$/],
  ['the settlement of another vendor', () => redeem({ settlement_token: bought.settlement_token }, otherVendor.apiKey),
    '404 not_found', /^no such settlement$/],
  ['consume without prepaid units', () => sell(`POST /v1/settlements/${bought.settlement_id}/consume`, { body: { settlement_token: bought.settlement_token, units: 1, request_id: 'r1' } }),
    '409 conflict', /^the quote prepaid no units; redeem the settlement instead$/],
  ['a refund above the net amount', () => sell('POST /v1/refunds', { body: { settlement_id: bought.settlement_id, amount: '2500000' } }),
    '409 conflict stop', /^at most 2487500 micro-units of the net amount are left to refund$/],
  ['the id of a quote as a settlement', () => sell(`GET /v1/settlements/${boughtQuote.quote_id}`),
    '400 validation_error', /^settlement_id: must be an id that begins with stl_$/],
];

// biome-ignore format: a table
const LISTS: Row[] = [
  ['a page of no items', () => sell('GET /v1/quotes?limit=0'),
    '400 validation_error', /^limit: must be 1 to 100$/],
  ['a page that is too long', () => sell('GET /v1/quotes?limit=101'),
    '400 validation_error', /^limit: must be 1 to 100$/],
  ['a parameter twice', () => sell('GET /v1/quotes?limit=1&limit=2'),
    '400 validation_error', /^limit: was sent more than once; send it once$/],
  ['a cursor that was changed', () => sell('GET /v1/quotes?cursor=abc'),
    '400 validation_error', /^cursor: not a cursor of this list; pass its next_cursor unchanged$/],
  ['a misspelt filter', () => sell('GET /v1/settlements?stauts=issued'),
    '400 validation_error', /^stauts: unknown field; did you mean `status`\?/],
  ['an Idempotency-Key with spaces', () => sell('POST /v1/quote', { body: { service_id: vendor.serviceId }, headers: { 'idempotency-key': 'my key' } }),
    '400 validation_error', /^Idempotency-Key: must be 1 to 255 visible ASCII characters$/],
  ['the proof of a wallet for another account', async () => linkedWith(await walletProof(Keypair.generate(), vendor.signIn.account.account_id)),
    '400 validation_error', /^proof\.message: names another account/],
  ['the proof of yesterday', async () => linkedWith(await walletProof(Keypair.generate(), buyer.signIn.account.account_id, new Date(Date.now() - 86_400_000))),
    '400 validation_error', /^proof\.message: issued_at is more than /],
];

const MISTAKES = [...CREDENTIALS, ...REQUESTS, ...PRICES, ...PAYMENTS, ...DELIVERIES, ...LISTS];

test.each(MISTAKES)('%s', async (_mistake, make, answer, message) => {
  const { status, headers, error } = await make();
  const { code, safe_action, money_moved, request_id, docs_url } = error!;
  const given = [String(status), code, safe_action].filter((part) => part !== undefined).join(' ');
  expect({ answer: given, message: error!.message }).toEqual({
    answer,
    message: expect.stringMatching(message),
  });
  expect(request_id).toBe(headers.get('x-request-id'));
  expect(docs_url).toBe(`${stack.gateway_url}/docs/errors#${code}`);
  expect(headers.has('allow')).toBe(status === 405);
  // The documentation of the code lists what it said about money.
  const { money, actions } = ERROR_GUIDE[code];
  if (money_moved !== undefined) expect(money).toContain(money_moved);
  if (safe_action !== undefined) expect(actions).toContain(safe_action);
  // Nobody has paid by a mistake but who had paid before.
  if (money_moved === 'yes') expect(safe_action).toBe('read_settlement');
});

test('a message neither repeats a secret nor has the words of a library', async () => {
  const secrets = [vendor.apiKey, buyer.token, bought.settlement_token, boughtQuote.quote_token];
  const messages = (await Promise.all(MISTAKES.map(([, make]) => make()))).map(({ error }) => error!.message);
  expect(messages.length).toBeGreaterThanOrEqual(48);
  for (const message of messages) {
    for (const secret of secrets) expect(message).not.toContain(secret.slice(0, 40));
    expect(message).not.toMatch(/Invalid input|Unrecognized|expected .* received|FST_|undefined/);
  }
});

test('the same Idempotency-Key with another body is refused, and nothing is created', async () => {
  const headers = { 'idempotency-key': crypto.randomUUID() };
  const create = (quote_amount: string) =>
    sell('POST /v1/quote', { body: { service_id: vendor.serviceId, quote_amount }, headers });
  expect((await create('50000')).status).toBe(201);
  const { status, error } = await create('60000');
  expect([status, error!.code]).toEqual([422, 'idempotency_mismatch']);
});

test('redeem twice: the second answer has the same status, and only replayed shows that it must not deliver', async () => {
  const body = { settlement_token: bought.settlement_token };
  const answers = [];
  for (let i = 0; i < 2; i += 1)
    answers.push(
      await must(
        api<{ status: string; replayed: boolean }>(`POST /v1/settlements/${bought.settlement_id}/redeem`, {
          token: vendor.apiKey,
          body,
        }),
        'redeem',
      ),
    );
  expect(answers.map(({ status, replayed }) => [status, replayed])).toEqual([
    ['redeemed', false],
    ['redeemed', true],
  ]);
});
