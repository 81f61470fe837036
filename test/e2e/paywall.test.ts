import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { storedClaims } from '../../sdk/src/checks/tokens.ts';
import { payingFetch } from '../../sdk/src/pay/main.ts';
import { createShopProject, type Framework, type Shop } from '../support/actors/shops.ts';
import { chainOf } from '../support/servers/chain.ts';
import { atOnce, runningStack, tally } from '../support/servers/stack.ts';

/**
 * The example vendors as processes, with buyers: the paying fetch, and clients that try to avoid
 * paying.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const chain = chainOf(stack.environments.test!);
type Project = Awaited<ReturnType<typeof createShopProject>>;

let project: Project;
let vendor: Vendor;
let consumer: Consumer;
let delegate: Delegate;
let environment: Record<string, string>;
beforeAll(async () => {
  [project, vendor, consumer] = await Promise.all([
    createShopProject(),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
  delegate = await createDelegate(api, consumer, { daily: '90000000' });
  environment = {
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_KEY: vendor.apiKey,
    SERVICE_ID: vendor.serviceId,
    REDIS_URL: stack.redis_url,
  };
});
afterAll(() => project?.stop());

const buyer = () =>
  payingFetch(fetch, {
    baseUrl: stack.gateway_url,
    delegateKey: delegate.api_key,
    maxAmount: 500_000n,
  });
const spentBy = async (spend: () => Promise<unknown>): Promise<bigint> => {
  const before = await chain.balance(consumer.wallet.publicKey);
  await spend();
  return before - (await chain.balance(consumer.wallet.publicKey));
};

type Said = {
  quote_token?: string;
  error?: string;
  details?: { reason: string };
  delivery_id?: string;
  run?: number;
};
const ask = async (url: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const response = await fetch(url, { ...init, headers });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return {
    status: response.status,
    headers: response.headers,
    body: (isJson && text !== '' ? JSON.parse(text) : {}) as Said,
  };
};
/**
 * Pays the bill of a URL without the paying fetch. Returns the headers that present the payment.
 */
const payFor = async (url: string): Promise<Record<string, string>> => {
  const bill = await ask(url);
  expect(bill).toMatchObject({ status: 402, body: { error: 'payment_required' } });
  const paid = await must(settleWith(api, consumer.token, bill.body as { quote_token: string }), 'settle');
  return { 'x-settlement-id': paid.settlement_id, 'x-settlement-token': paid.settlement_token };
};
const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
const refusal = ({ status, body }: Awaited<ReturnType<typeof ask>>) =>
  `${status} ${body.error} ${body.details?.reason}`;

describe.each<Framework>(['express', 'fastify', 'hono', 'next'])('%s', (framework) => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await project.startShop(framework, environment);
  });

  // First, because each sale at this address gives the next two callers a quote of their own.
  test('all callers get one quote; a caller that names it after its payment gets another, a caller with an invalid id does not', async () => {
    const url = `${shop.url}/report?city=Ulm`;
    const quoteOf = async (headers: Record<string, string> = {}) =>
      (await ask(url, headers)).body.quote_token;
    const first = (await quoteOf())!;
    expect(await quoteOf()).toBe(first);
    const { quote_id } = storedClaims(first);
    const junk = [`${quote_id.slice(0, -1)}${quote_id.endsWith('0') ? 1 : 0}`, 'q_', quote_id];
    for (const each of junk) expect(await quoteOf({ 'x-quote-refused': each })).toBe(first);
    await must(settleWith(api, consumer.token, { quote_token: first }), 'settle');
    let another: string | undefined;
    while (another === undefined || another === first) {
      await pause();
      another = await quoteOf({ 'x-quote-refused': quote_id });
    }
    await must(settleWith(api, consumer.token, { quote_token: another }), 'settle');
  });

  test('the paying fetch gets what it pays for, GET and POST, each paid once', async () => {
    const pay = buyer();
    const spent = await spentBy(async () => {
      const got = await pay(`${shop.url}/report?city=Ulm`);
      expect([got.status, await got.json()]).toMatchObject([200, { report: 'All is well in Ulm.' }]);
      const posted = await pay(`${shop.url}/report`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ city: 'Bonn' }),
      });
      expect([posted.status, await posted.json()]).toMatchObject([200, { report: 'All is well in Bonn.' }]);
    });
    expect(spent).toBe(550_000n);
  });

  test('a repeated request gets the same answer without a second run, and another request gets payment_failed', async () => {
    const url = `${shop.url}/report?city=Ulm`;
    const headers = { ...(await payFor(url)), 'x-payment-request-id': 'r1' };
    const first = await ask(url, headers);
    expect(first.status).toBe(200);
    expect(first.headers.get('cache-control')).toBe('private, no-store');
    const again = await ask(url, headers);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect(again.headers.get('x-payment-replayed')).toBe('true');
    const others = [
      await ask(`${shop.url}/report?city=Trier`, headers),
      await ask(url, { ...headers, 'x-payment-request-id': 'r2' }),
    ];
    expect(others.map(refusal)).toEqual(Array(2).fill('402 payment_failed spent'));
  });

  test('a handler that fails is called again for the same payment, and delivers', async () => {
    const pay = buyer();
    const url = `${shop.url}/report?city=Oops`;
    const spent = await spentBy(async () => {
      expect((await pay(url)).status).toBe(500);
      const second = await pay(url);
      expect([second.status, await second.json()]).toMatchObject([200, { report: 'All is well in Oops.' }]);
    });
    expect(spent).toBe(50_000n);
  });

  test('a settlement of another price, route or kind is refused, and stays valid for its purpose', async () => {
    const url = `${shop.url}/report?city=Ulm`;
    const cheap = await payFor(url);
    const dear = { method: 'POST', body: '{"city":"Ulm"}' };
    const json = { 'content-type': 'application/json' };
    expect(refusal(await ask(`${shop.url}/report`, { ...cheap, ...json }, dear))).toBe(
      '402 payment_failed amount_too_small',
    );
    const prepaid = await payFor(`${shop.url}/forecast`);
    expect(refusal(await ask(url, prepaid))).toBe('402 payment_failed other_resource');
    expect((await ask(url, cheap)).status).toBe(200);
  });

  test('invalid tokens get payment_failed, and HEAD and a preflight get no delivery and no bill', async () => {
    const url = `${shop.url}/report?city=Ulm`;
    const { 'x-settlement-id': id, 'x-settlement-token': token } = await payFor(url);
    const junk = [
      { 'x-settlement-id': 'stl_1', 'x-settlement-token': 'x' },
      {
        'x-settlement-id': id!,
        'x-settlement-token': token!.replace(/.(?=.{40}$)/, (one) => (one === 'A' ? 'B' : 'A')),
      },
      { 'x-settlement-id': id!, 'x-settlement-token': 'e30.e30' },
      { 'x-settlement-id': id!, 'x-settlement-token': `${token}=` },
    ];
    for (const headers of junk)
      expect(refusal(await ask(url, headers))).toBe('402 payment_failed invalid_token');
    const shown = { 'x-settlement-id': id!, 'x-settlement-token': token! };
    expect((await ask(url, shown, { method: 'HEAD' })).status).toBe(402);
    expect((await ask(url, shown, { method: 'OPTIONS' })).body.delivery_id).toBeUndefined();
    expect((await ask(url, shown)).status).toBe(200);
  });

  test('five forecasts on one payment, then a new bill', async () => {
    const url = `${shop.url}/forecast`;
    const pay = buyer();
    const five = await spentBy(async () => {
      const got = await atOnce(5, () => pay(url));
      expect(tally(got.map(({ status }) => status))).toEqual({ 200: 5 });
    });
    expect(five).toBe(100_000n);

    const headers = await payFor(url);
    const each = (n: number) => ask(url, { ...headers, 'x-payment-request-id': `f${n}` });
    const got = await atOnce(5, each);
    expect(new Set(got.map(({ body }) => body.delivery_id)).size).toBe(5);
    const sixth = await each(5);
    expect(sixth).toMatchObject({ status: 402, body: { error: 'payment_required' } });
    expect((await each(3)).body).toEqual(got[3]!.body);
  });

  test('its log names settlements and contains no token and no key', () => {
    expect(shop.output()).toMatch(/payment_id: '?stl_/);
    expect(shop.output()).not.toMatch(/eyJ|vendor_test_/);
  });
});

test('after a process with a payment died, another with the same key gets the delivery for that payment', async () => {
  const shop = await project.startShop('hono', environment);
  const url = `${shop.url}/report?city=Ulm`;
  const spent = await spentBy(async () => {
    const { quote_token } = (await ask(url)).body;
    await must(settleWith(api, delegate.api_key, { quote_token: quote_token! }), 'settle');
    // The quote is still handed out, because its payment was not presented yet.
    const answer = await buyer()(url);
    expect([answer.status, await answer.json()]).toMatchObject([200, { report: 'All is well in Ulm.' }]);
  });
  expect(spent).toBe(50_000n);
});

test('50 concurrent requests with one token on two replicas: one run, and all requests get its answer', async () => {
  const first = await project.startShop('express', environment);
  const second = await project.startShop('hono', environment, first.url);
  const path = '/report?city=Kiel';
  const headers = await payFor(`${first.url}${path}`);
  const askOn = async (i: number): Promise<Awaited<ReturnType<typeof ask>>> => {
    for (;;) {
      const said = await ask(`${(i % 2 === 0 ? first : second).url}${path}`, headers);
      if (said.body.error !== 'payment_in_progress') return said;
      await pause();
    }
  };
  const said = await atOnce(50, askOn);
  expect(tally(said.map(({ status }) => status))).toEqual({ 200: 50 });
  expect(new Set(said.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  expect(said.filter(({ headers }) => headers.get('x-payment-replayed') === null)).toHaveLength(1);
});

test('after a replica was killed in its handler, another one delivers on the same payment once the lease is over', async () => {
  const first = await project.startShop('next', { ...environment, HANG: 'yes' });
  const second = await project.startShop('next', environment, first.url);
  const headers = await payFor(`${first.url}/slow`);
  const dying = ask(`${first.url}/slow`, headers).catch(() => 'died');
  const url = `${second.url}/slow`;
  while (!first.output().includes("event: 'opened'")) await pause();
  expect(refusal(await ask(url, headers))).toBe('503 payment_in_progress in_progress');
  first.kill();
  expect(await dying).toBe('died');
  let said = await ask(url, headers);
  while (said.status === 503) {
    await pause();
    said = await ask(url, headers);
  }
  expect(said.status).toBe(200);
  expect(said.headers.get('x-payment-replayed')).toBeNull();
});

test('the example buyer buys', async () => {
  const shop = await project.startShop('express', environment);
  const printed = await project.runExample(
    'buyer.ts',
    { QUITTANCE_URL: stack.gateway_url, DELEGATE_KEY: delegate.api_key },
    [`${shop.url}/report?city=Ulm`],
  );
  expect(JSON.parse(printed)).toMatchObject({ status: 200, body: { report: 'All is well in Ulm.' } });
});

test('the example receiver of webhooks handles an event once, with either secret, and refuses a forged one', async () => {
  const secrets = [1, 2, 3].map((fill) => `whsec_${Buffer.alloc(32, fill).toString('base64')}`);
  const receiver = await project.startWebhookReceiver(secrets.slice(0, 2));
  const data = { settlement_id: 'stl_1', role: 'vendor', net_amount: '40000' };
  const body = JSON.stringify({ id: 'evt_1', type: 'settlement.redeemed', timestamp: '', data });
  const deliver = async (secret: string) => {
    const now = new Date();
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', now, body),
    };
    return (await fetch(receiver.url, { method: 'POST', headers, body })).status;
  };
  const statuses = [];
  for (const secret of [...secrets, secrets[0]!]) statuses.push(await deliver(secret));
  expect(statuses).toEqual([204, 204, 400, 204]);
  expect(receiver.output().match(/stl_1 was redeemed/g)).toHaveLength(1);
});

test('while the API is unavailable, 503 with Retry-After, and nothing is lost', async () => {
  const shop = await project.startShop('hono', environment);
  const unavailable = await project.startShop(
    'hono',
    { ...environment, QUITTANCE_URL: 'http://127.0.0.1:1' },
    shop.url,
  );
  const path = '/report?city=Ulm';
  const headers = await payFor(`${shop.url}${path}`);
  // The quote that replicas share is still handed out. An address that was not requested before has
  // none.
  expect((await ask(`${unavailable.url}${path}`)).status).toBe(402);
  for (const [at, shown] of [
    ['/forecast', {}],
    [path, headers],
  ] as const) {
    const said = await ask(`${unavailable.url}${at}`, shown);
    expect([said.status, said.body.error]).toEqual([503, 'service_unavailable']);
    expect(Number(said.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await ask(`${shop.url}${path}`, headers)).status).toBe(200);
});

test('64 concurrent requests get one quote: each gets its delivery, and the handler runs once for each payment', async () => {
  const shop = await project.startShop('fastify', environment);
  const replica = await project.startShop('express', environment, shop.url);
  const others = await atOnce(7, () => createConsumer(api, stack));
  const owners = [consumer, ...others].flatMap((owner) => [owner, owner]);
  const keys = await atOnce(owners.length, (i) => createDelegate(api, owners[i]!, { daily: '90000000' }));
  // A load balancer distributes the buyers over both replicas.
  const spread = (url: string, init?: RequestInit) =>
    fetch(url.replace(shop.url, Math.random() < 0.5 ? shop.url : replica.url), init);
  // Two keys of each account, two processes of each key, two calls of each process.
  const payers = keys.flatMap(({ api_key }) =>
    [1, 2].map(() =>
      payingFetch(spread, { baseUrl: stack.gateway_url, delegateKey: api_key, maxAmount: 50_000n }),
    ),
  );
  const earned = () => chain.balance(vendor.payout.publicKey);
  const before = await earned();
  const said = await atOnce(64, async (i) => {
    const answer = await payers[i % payers.length]!(`${shop.url}/report?city=no-${i}-`);
    const { report, delivery_id } = (await answer.json()) as { report: string; delivery_id: string };
    return { status: answer.status, isMine: report.includes(`no-${i}-`), delivery_id };
  });
  expect(tally(said.map(({ status, isMine }) => `${status} ${isMine}`))).toEqual({ '200 true': 64 });
  expect(new Set(said.map(({ delivery_id }) => delivery_id)).size).toBe(64);
  expect((await earned()) - before).toBe(64n * 40_000n);
});
