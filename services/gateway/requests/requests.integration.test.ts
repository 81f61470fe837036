import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { waitFor, waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  newDelegateKey,
  newServiceKey,
  newSigningKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';
import { gatewayCallers } from '../../../test/support/fixtures/gateway-callers.ts';
import { type Link, startLink } from '../../../test/support/servers/link.ts';

/** The request log of an account, over a real Redis. */
const session = newSigningKey('test.session.1');

let servers: Servers;
let services: Services;
let gateway: Gateway;
let redis: Link;

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  redis = await startLink(servers.redisPort);
  gateway = await startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: redis.port },
    { publicKeys: [session.entry], limits: { scale: 100 } },
  );
  services.answers['quote.list'] = () => ({ data: [], next_cursor: null });
});

afterAll(async () => {
  await gateway.stop();
  await redis.stop();
  await services.stop();
  await servers.stop();
});

const stop = async () => undefined;
const { send, accessToken } = gatewayCallers(() => ({ gateway, services, stop }), session);

/** An account with a service key, a delegate key and a sign-in. */
const newAccount = async () => {
  const accountId = newId('acct');
  const service = { ...newServiceKey(), account_id: accountId };
  const delegate = { ...newDelegateKey(), account_id: accountId };
  return {
    service,
    delegate,
    token: await accessToken({ accountId }),
    serviceKey: services.addKey(createKeyText('vendor_test_'), service),
    delegateKey: services.addKey(createKeyText('dk_test_'), delegate),
  };
};

type Logged = { request_id: string; path: string; code: string | null; message: string | null };
const listed = async (token: string, query = '') => {
  const { status, body } = await send('GET', `/v1/requests?limit=100${query}`, { key: token });
  return { status, data: (body as unknown as { data: Logged[] }).data, body };
};
const logOf = (token: string, count: number, query = '') =>
  waitFor(
    async () => (await listed(token, query)).data,
    ({ length }) => length === count,
  );

test('an account sees the calls of its keys, newest first, with error and request id', async () => {
  const { token, serviceKey, delegateKey, service, delegate } = await newAccount();
  const settlement_id = newId('stl');
  services.answers['settlement.redeem'] = () => {
    throw new ServiceError('conflict', 'the settlement was redeemed before');
  };
  await send('GET', '/v1/quotes', { key: serviceKey });
  const refused = await send('POST', `/v1/settlements/${settlement_id}/redeem`, {
    key: serviceKey,
    body: { settlement_token: 'a.b', redeem_id: 'r-1' },
  });
  const forbidden = await send('GET', '/v1/quotes', { key: delegateKey });
  expect([refused.status, forbidden.status]).toEqual([409, 403]);

  const data = await logOf(token, 3);
  expect(data).toEqual([
    expect.objectContaining({
      request_id: forbidden.headers.get('x-request-id'),
      status: 403,
      code: 'forbidden',
      credential: 'delegate_key',
      delegate_id: delegate.delegate_id,
      service_id: null,
    }),
    expect.objectContaining({
      request_id: refused.headers.get('x-request-id'),
      method: 'POST',
      path: '/v1/settlements/:settlement_id/redeem',
      operation: 'settlement.redeem',
      status: 409,
      code: 'conflict',
      message: 'the settlement was redeemed before',
      service_id: service.service_id,
      ids: { settlement_id },
    }),
    expect.objectContaining({ path: '/v1/quotes', status: 200, code: null, message: null, ids: {} }),
  ]);
  expect((await listed(token, '&refused=true')).data).toEqual(data.slice(0, 2));
  expect((await listed((await newAccount()).token)).data).toEqual([]);
});

test('neither the console nor the log itself is in it, and a message has no credential', async () => {
  const { token, serviceKey } = await newAccount();
  const mistake = createKeyText('vendor_test_');
  await send('GET', '/v1/quotes', { key: token, headers: { 'sec-fetch-site': 'same-origin' } });
  await send('GET', `/v1/quotes?${mistake}=1`, { key: serviceKey });
  const [logged] = await logOf(token, 1);
  expect(logged).toMatchObject({ code: 'validation_error', path: '/v1/quotes' });
  expect(JSON.stringify(logged)).not.toContain(mistake.slice(0, 30));
});

test('the newest hundred are kept, in pages, and the refused ones apart', async () => {
  const { token, serviceKey } = await newAccount();
  await send('GET', '/v1/quotes?limit=0', { key: serviceKey });
  let last: (string | null)[] = [];
  for (let done = 0; done < 110; done += 10) {
    const sent = Array.from({ length: 10 }, () => send('GET', '/v1/quotes', { key: serviceKey }));
    last = (await Promise.all(sent)).map(({ headers }) => headers.get('x-request-id'));
  }
  const all = await waitFor(
    async () => (await listed(token)).data,
    (data) => last.every((id) => data.some(({ request_id }) => request_id === id)),
  );
  expect(all).toHaveLength(100);
  expect(all.every(({ code }) => code === null)).toBe(true);
  expect((await listed(token, '&refused=true')).data.map(({ code }) => code)).toEqual(['validation_error']);

  const pages: Logged[] = [];
  let cursor = '';
  for (;;) {
    const { body } = await send('GET', `/v1/requests?limit=30${cursor}`, { key: token });
    const page = body as unknown as { data: Logged[]; next_cursor: string | null };
    pages.push(...page.data);
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(pages).toEqual(all);
  expect((await send('GET', '/v1/requests?cursor=abc', { key: token })).status).toBe(400);
});

test('only the thousand accounts that called last have a log', async () => {
  const client = new Redis(servers.redisPort);
  try {
    const [oldest, ...others] = Array.from({ length: 1000 }, () => newId('acct'));
    await client.zadd('requests:accounts', 1, oldest!, ...others.flatMap((id) => [2, id]));
    const logs = ['all', 'refused'].map((kind) => `requests:${oldest!}:${kind}`);
    for (const key of logs) await client.xadd(key, '*', 'request', '{}');
    const { token, serviceKey } = await newAccount();
    await send('GET', '/v1/quotes', { key: serviceKey });
    await logOf(token, 1);
    await waitUntil(async () => (await client.exists(logs)) === 0);
    expect(await client.zcard('requests:accounts')).toBe(1000);
    expect(await client.zscore('requests:accounts', oldest!)).toBeNull();
  } finally {
    client.disconnect();
  }
});

test('without Redis calls are answered, the log is unavailable, and it continues afterwards', async () => {
  const { token, serviceKey } = await newAccount();
  redis.set('cut');
  await waitUntil(async () => (await listed(token)).status === 503);
  expect((await send('GET', '/v1/quotes', { key: serviceKey })).status).toBe(200);
  redis.set('open');
  await waitUntil(async () => {
    await send('GET', '/v1/quotes', { key: serviceKey });
    const { status, data } = await listed(token);
    return status === 200 && data.length > 0;
  });
});
