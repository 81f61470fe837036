import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { refund } from '../../deploy/local/seed/transfers.ts';
import { inherited } from '../support/base/inherited.ts';
import { waitFor } from '../support/base/wait.ts';
import { type Ops, opsAt } from '../support/packages/ops.ts';
import { answer, type Receiver, startReceiver } from '../support/servers/receiver.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * What a support engineer reads about a payment, a call and an account (docs/operations.md,
 * Support).
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const stackFile = process.env.STACK_FILE!;
const plainOps = opsAt(stackFile, { STACK_FILE: stackFile });
/** With the ticket that a look at a person needs. */
const ops = (...args: string[]) => plainOps(...args, '--ticket', 'ticket 1042');
const logs = path.join(path.dirname(stackFile), 'logs');

let vendor: Vendor;
let consumer: Consumer;
let delegate: Delegate;
let receiver: Receiver;
beforeAll(async () => {
  [vendor, consumer, receiver] = await Promise.all([
    createVendor(api, stack),
    createConsumer(api, stack),
    startReceiver(answer(200)),
  ]);
  delegate = await createDelegate(api, consumer, { daily: '50000000' });
  await must(
    api('POST /v1/webhook-endpoints', {
      token: vendor.signIn.access_token,
      body: { url: receiver.url, event_types: ['settlement.*', 'refund.*'] },
    }),
    'webhook endpoint',
  );
});
afterAll(() => receiver?.stop());

type Entry = {
  at: string;
  service: string;
  object_id: string;
  what: string;
  details: Record<string, unknown>;
};
type Trail = { ids: string[]; entries: Entry[]; unavailable: string[] };
type Line = Record<string, unknown> & { time: number; msg: string; service: string };

const json = async <T>(...args: string[]): Promise<T> => {
  const done = await ops(...args, '--json');
  if (done.code !== 0) throw new Error(`${args.join(' ')}: ${done.code} ${done.out}${done.err}`);
  return JSON.parse(done.out) as T;
};
const trailOf = (...args: string[]) => json<Trail>('payment', 'show', ...args);
const whats = ({ entries }: Trail) => entries.map(({ service, what }) => `${service}: ${what}`);

const sorted = (texts: readonly string[]) => texts.toSorted((a, b) => (a < b ? -1 : 1));

/** A payment that was redeemed and refunded, with all of its ids. */
const pay = async (): Promise<Paid & { quote_id: string; attempt: string; refund_id: string }> => {
  const attempt = crypto.randomUUID();
  const quote = await quoteOf(api, vendor);
  const paid = await must(settleWith(api, delegate.api_key, quote, attempt), 'settle');
  const { settlement_id, settlement_token } = paid;
  const body = { settlement_token };
  await must(api(`POST /v1/settlements/${settlement_id}/redeem`, { token: vendor.apiKey, body }), 'redeem');
  const { refund_id } = await refund(api, vendor, settlement_id, 100_000n);
  return { ...paid, quote_id: quote.quote_id, attempt, refund_id };
};

test('every id of a payment leads to the same records of all services, in the order of time', async () => {
  const paid = await pay();
  // Until two reads are equal, because refund and events arrive later than the answer.
  let seenBefore = '';
  const complete = await waitFor(
    () => trailOf(paid.settlement_id),
    (trail) => {
      const seenNow = JSON.stringify(whats(trail));
      const isStable = seenNow === seenBefore && !seenNow.includes('webhook is due');
      seenBefore = seenNow;
      return isStable && ['webhook sent', 'refund finalized'].every((what) => seenNow.includes(what));
    },
    30_000,
    200,
  );
  expect(complete.unavailable).toEqual([]);
  expect(complete.entries.map(({ at }) => at)).toEqual(sorted(complete.entries.map(({ at }) => at)));
  const order = [
    'quote: quote created',
    'settlement: attempt accepted',
    'chain-submitter: work accepted by chain-submitter',
    'chain-submitter: transaction signed',
    'settlement: settlement issued',
    'settlement: settlement redeemed',
    'funding: refund requested',
    'funding: refund finalized',
  ];
  const seen = whats(complete);
  expect(order.map((what) => [what, seen.includes(what)])).toEqual(order.map((what) => [what, true]));
  const places = order.map((what) => seen.indexOf(what));
  expect(places).toEqual([...places].sort((a, b) => a - b));
  expect(complete.entries).toContainEqual(
    expect.objectContaining({
      what: 'attempt accepted',
      details: expect.objectContaining({
        payer: consumer.signIn.account.account_id,
        vendor: vendor.signIn.account.account_id,
        delegate_id: delegate.delegate_id,
        amount: '2500000',
      }),
    }),
  );
  expect(complete.entries).toContainEqual(
    expect.objectContaining({
      object_id: paid.tx_hash,
      what: 'providers report now',
      details: expect.objectContaining({ provider_1: expect.stringMatching(/confirmed|finalized/) }),
    }),
  );

  const event = complete.ids.find((id) => id.startsWith('evt_'))!;
  const account = consumer.signIn.account.account_id;
  for (const args of [
    [paid.quote_id],
    [paid.tx_hash],
    [paid.refund_id],
    [event],
    [paid.attempt, '--account', account],
  ]) {
    const trail = await trailOf(...args);
    expect({ args, ids: sorted(trail.ids) }).toEqual({ args, ids: sorted(complete.ids) });
    expect(new Set(whats(trail))).toEqual(new Set(seen));
  }
});

test('the text has a line for each entry with amounts in USDC, and an unknown id is refused with a hint', async () => {
  const paid = await pay();
  const shown = await ops('payment', 'show', paid.settlement_id);
  expect(shown.code).toBe(0);
  // What to tell the customer comes first.
  expect(shown.out).toMatch(/^stl_\w+: paid 2\.50 USDC at [\s\S]*\n\nat +service +object +what\n/);
  expect(shown.out).toMatch(
    new RegExp(`settlement +${paid.settlement_id} +attempt accepted\n[\\s\\S]*? amount=2\\.50 USDC`),
  );
  expect(shown.out.split('\n').filter((line) => line.length > 120)).toEqual([]);
  expect(shown.out).not.toContain(paid.settlement_token);
  const unknown = await ops('payment', 'show', 'stl_01m7zawn2pencsx84ydvzgdp8q');
  expect(unknown).toMatchObject({ code: 64, err: expect.stringContaining('needs --account <account_id>') });
  expect(await ops('payment', 'show', paid.attempt, '--account', 'acct_nobody')).toMatchObject({ code: 64 });
});

type Shown = {
  account_status: { account_id: string };
  conclusions: string[];
  entries: Entry[];
  unavailable: string[];
};

test('an account is shown by its address: payments, declines, deposits, wallets, mails, and what to tell the customer', async () => {
  const { account_id, email } = consumer.signIn.account;
  const undelivered = await must(
    settleWith(api, consumer.token, await quoteOf(api, vendor), crypto.randomUUID()),
    'settle',
  );
  const poor = await createDelegate(api, consumer, { per_payment: '1' });
  expect((await settleWith(api, poor.api_key, await quoteOf(api, vendor))).status).toBe(403);
  const args = ['account', 'show', email, '--since', '1h'];
  const shown = await waitFor(
    () => json<Shown>(...args),
    ({ entries }) => entries.some(({ what }) => what === 'payment declined'),
  );
  expect(shown).toMatchObject({ account_status: { account_id }, unavailable: [] });
  expect(shown.conclusions.join('\n')).toMatch(/not paid\. 2\.50 USDC were refused/);
  expect(shown.conclusions.join('\n')).toMatch(
    new RegExp(`${undelivered.settlement_id}: paid 2\\.50 USDC .* Not redeemed: .* can until `),
  );
  const found = new Set(shown.entries.map(({ service, what }) => `${service}: ${what}`));
  for (const what of ['wallet: wallet', 'wallet: wallet on chain', 'identity: security event'])
    expect(found).toContain(what);

  const { code, out } = await ops(...args);
  expect([code, out.split('\n').filter((line) => line.length > 120)]).toEqual([0, []]);
  expect(out).toMatch(new RegExp(`${undelivered.settlement_id} +2\\.50 USDC +.* +paid, not redeemed\n`));
  for (const secret of [poor.api_key, undelivered.settlement_token, consumer.token])
    expect(JSON.stringify(shown) + out).not.toContain(secret);

  const listed = await ops('payments', 'list', '--account', email);
  expect(listed).toMatchObject({ code: 0, out: expect.stringContaining(undelivered.settlement_id) });
  expect((await ops('payments', 'list', '--account', account_id, '--since', '2099-01-01')).out).toBe(
    'None.\n',
  );
  expect(await ops('payments', 'list')).toMatchObject({ code: 64, err: expect.stringMatching(/--account/) });
  expect(await ops('account', 'show', 'nobody@example.com')).toMatchObject({
    code: 64,
    err: expect.stringMatching(/have no account.*payment show <signature>.*another environment\n$/s),
  });
  // The vendor is told what it has not delivered.
  const vendorShown = await json<Shown>('account', 'show', vendor.signIn.account.account_id);
  expect(vendorShown.conclusions.join('\n')).toMatch(/As a vendor: stl_\w+: paid .* Not redeemed/);
  expect(vendorShown.entries.map(({ service, what }) => `${service}: ${what}`)).toContain(
    'funding: refund requested',
  );
});

test('an account is found by each of its ids, its address and its keys, and a key is not sent', async () => {
  const { account_id, email } = consumer.signIn.account;
  const found = async (text: string) =>
    (
      await json<{ account_status: { account_id: string }; matched: string; state: string }[]>(
        'account',
        'find',
        text,
      )
    ).map(({ account_status, matched, state }) => [account_status.account_id, matched, state]);
  expect(await found(account_id)).toEqual([[account_id, 'account', 'open']]);
  expect(await found(email.toUpperCase())).toEqual([[account_id, 'account', 'open']]);
  const owner = consumer.wallet.publicKey.toBase58();
  const wallet = [[account_id, 'wallet', `external, address ${owner}`]];
  expect(await found(owner)).toEqual(wallet);
  expect(await found(consumer.walletId)).toEqual(wallet);
  expect(await found(delegate.delegate_id)).toEqual([[account_id, 'delegate', 'active']]);
  expect(await found(delegate.api_key)).toEqual([[account_id, 'key', `active, of ${delegate.delegate_id}`]]);
  expect(await found(vendor.serviceId)).toEqual([[vendor.signIn.account.account_id, 'service', 'active']]);
  expect(await ops('accounts', 'find', 'nobody@example.com')).toMatchObject({ code: 1 });
});

test('a call is followed through the logs by its request id: the gateway, the service, and the messages of its trace', async () => {
  const requestId = crypto.randomUUID();
  const quote = await quoteOf(api, vendor);
  const answered = await api<Paid>('POST /v1/settle', {
    token: delegate.api_key,
    body: { quote_token: quote.quote_token, payment_attempt_id: requestId },
    headers: { 'x-request-id': requestId },
  });
  const { settlement_id } = answered.body;
  const lines = await waitFor(
    async () => {
      const { code, out } = await ops('request', 'show', requestId, '--json');
      return code === 0 ? (JSON.parse(out) as Line[]) : [];
    },
    (all) => all.some((line) => line.msg === 'request'),
  );
  // The service has noted the quote, which is neither in the input nor in the answer.
  expect(lines.find(({ msg }) => msg === 'request')).toMatchObject({
    service: 'gateway',
    status: answered.status,
    quote_id: quote.quote_id,
    request_id: requestId,
    operation: 'settlement.settle',
    account_id: consumer.signIn.account.account_id,
    payment_attempt_id: requestId,
    settlement_id,
    trace_id: expect.stringMatching(/^[0-9a-f]{32}$/),
    ms: expect.any(Number),
  });
  const text = (await ops('request', 'show', requestId)).out;
  expect(text).toMatch(/INFO {2}gateway request .*operation=settlement\.settle/);
  expect(text).toContain(`npm run ops -- payment show ${settlement_id}`);

  const refusedId = crypto.randomUUID();
  const refused = await api('GET /v1/settlements/stl_01m7zawn2pencsx84ydvzgdp8q', {
    token: consumer.token,
    headers: { 'x-request-id': refusedId },
  });
  expect(refused.status).toBe(404);
  const refusals = await waitFor(
    async () => (await ops('request', 'show', refusedId, '--json')).out,
    (out) => out.includes('call refused') && out.includes('"request"'),
  );
  const codes = (JSON.parse(refusals) as Line[]).map(({ service, code }) => `${service} ${String(code)}`);
  expect(sorted(codes)).toEqual(['gateway not_found', 'settlement not_found']);
  expect(await ops('request', 'show', crypto.randomUUID())).toMatchObject({ code: 1 });
});

const job = path.resolve(import.meta.dirname, '../../shared/jobs/synthetic.ts');
/** Runs the job for one payment. */
const synthetic = async (delegateKey: string): Promise<Pick<Ops, 'code' | 'out'>> => {
  const child = spawn(process.execPath, [job], {
    env: {
      ...inherited,
      ENVIRONMENT: 'test',
      GATEWAY_URL: stack.gateway_url,
      SYNTHETIC_SERVICE_ID: vendor.serviceId,
      SYNTHETIC_SERVICE_KEY: vendor.apiKey,
      SYNTHETIC_DELEGATE_KEY: delegateKey,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString();
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out };
};

test('the synthetic payment is a real one: its line names the settlement, and a refused one ends with exit code 1', async () => {
  const { code, out } = await synthetic(delegate.api_key);
  const line = JSON.parse(out) as Line & { settlement_id: string };
  expect([code, line]).toMatchObject([
    0,
    { service: 'synthetic', outcome: 'paid', msg: 'synthetic payment' },
  ]);
  expect(whats(await trailOf(line.settlement_id))).toContain('settlement: settlement redeemed');

  const poor = await createDelegate(api, consumer, { per_payment: '1' });
  const refused = await synthetic(poor.api_key);
  expect([refused.code, JSON.parse(refused.out)]).toMatchObject([
    1,
    { outcome: 'settle_failed', code: 'limit_exceeded', request_id: expect.any(String), level: 50 },
  ]);
});

/**
 * What no line may have: API keys, other tokens with a prefix, signed tokens, e-mail addresses.
 */
const SECRETS = [
  /\b[a-z]{2,10}_(test|live)_[A-Za-z0-9_-]{40,}/,
  /\b[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}/,
  /[A-Za-z0-9._-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}/,
];

test('no line of a process has a key, a token, an e-mail address or an address of a caller', async () => {
  // A key in the place of an id, in the query and in a header.
  const misplaced = vendor.apiKey;
  await api(`GET /v1/settlements/${misplaced}`, { token: consumer.token });
  await api(`GET /v1/settlements?cursor=${misplaced}`, { token: consumer.token });
  await api('GET /v1/accounts/me', { token: misplaced, headers: { 'x-request-id': `${misplaced}!` } });
  await api('POST /v1/settle', {
    token: consumer.token,
    body: { quote_token: misplaced, payment_attempt_id: 'a b' },
  });
  const lines = readdirSync(logs)
    .filter((name) => name.endsWith('.log'))
    .flatMap((name) => readFileSync(path.join(logs, name), 'utf8').split('\n'))
    .filter((line) => line.startsWith('{') && line.includes('"service":'));
  expect(lines.length).toBeGreaterThan(50);
  expect(lines.filter((line) => SECRETS.some((secret) => secret.test(line))).slice(0, 5)).toEqual([]);
  const fields = new Set(lines.flatMap((line) => Object.keys(JSON.parse(line) as object)));
  expect([...fields].filter((name) => /^(ip|email|authorization|token|cookie|url|body)$/.test(name))).toEqual(
    [],
  );
});
