import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { forward } from '../../shared/bus/call.ts';
import { connectBus, drainBus } from '../../shared/bus/connect.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { contractList } from '../../shared/contract/index.ts';
import type { ServiceContract } from '../../shared/contract/service.ts';
import { ACCESS_TOKEN_SECONDS, signAccessToken } from '../../shared/lib/access-token.ts';
import { newId } from '../../shared/lib/id.ts';
import { createLogger } from '../../shared/lib/logger.ts';
import {
  type Gateway,
  gatewayUser,
  newSigningKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from './test-support.ts';

const ORIGIN = 'https://console.example';
const [first, next] = [newSigningKey('test.session.1'), newSigningKey('test.session.2')];
const live = newSigningKey('live.session.1');

let servers: Servers;
let services: Services;
let gateways: Gateway[];

const start = (publicKeys: readonly object[]) =>
  startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: servers.redisPort },
    { publicKeys, limits: { scale: 100 }, env: { BROWSER_ORIGINS: `https://other.example,${ORIGIN}` } },
  );

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  gateways = await Promise.all([start([first.entry, live.entry]), start([first.entry, live.entry])]);
}, 60_000);
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await services.stop();
  await servers.stop();
}, 30_000);

const tokenOf = (
  session: { account_id: string; session_id: string },
  key = first.signing,
  now = Date.now(),
) =>
  signAccessToken(
    {
      accountId: session.account_id,
      sessionId: session.session_id,
      environment: key.kid.startsWith('live') ? 'live' : 'test',
      amr: ['email'],
      authTime: Math.floor(now / 1000),
      now,
    },
    key,
  );
const newSession = () => ({ account_id: newId('acct'), session_id: newId('ses') });
const call = async (gateway: Gateway, token: string) =>
  (await fetch(`${gateway.url}/v1/services`, { headers: { authorization: `Bearer ${token}` } })).status;
/** Milliseconds until this gateway refuses the token, asked again and again so that its cache stays warm. */
const untilRefused = async (gateway: Gateway, token: string): Promise<number> => {
  const startedAt = performance.now();
  while ((await call(gateway, token)) !== 401) {
    if (performance.now() - startedAt > 5000) throw new Error('still taken after 5 s');
  }
  return performance.now() - startedAt;
};

describe('an ended session is refused by every gateway', () => {
  beforeAll(() => {
    services.answers['identity.listServices'] = () => ({ data: [], next_cursor: null });
  });

  test('within 2 s when its fact is heard, and when it is lost', async () => {
    for (const heard of [true, false]) {
      const session = newSession();
      const token = await tokenOf(session);
      for (const gateway of gateways) expect(await call(gateway, token)).toBe(200);
      if (heard) services.endSession('test', session);
      else services.closedSessions.add(session.session_id);
      const took = await Promise.all(gateways.map((gateway) => untilRefused(gateway, token)));
      expect(Math.max(...took)).toBeLessThan(2000);
    }
  });

  test('a token is refused from its end on, though its signature was looked at a moment before', async () => {
    const endsAt = (Math.floor(Date.now() / 1000) + 3) * 1000;
    const token = await tokenOf(newSession(), first.signing, endsAt - ACCESS_TOKEN_SECONDS * 1000);
    const [gateway] = gateways as [Gateway];
    expect(await call(gateway, token)).toBe(200);
    await sleep(endsAt - Date.now() - 200);
    await call(gateway, token);
    await sleep(endsAt - Date.now());
    expect(await call(gateway, token)).toBe(401);
  });

  test('at once when it is heard: long before what is known of it would be asked for again', async () => {
    const took: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const session = newSession();
      const token = await tokenOf(session);
      for (const gateway of gateways) expect(await call(gateway, token)).toBe(200);
      services.endSession('test', session);
      took.push(...(await Promise.all(gateways.map((gateway) => untilRefused(gateway, token)))));
    }
    // The best of ten: a busy machine may delay some, the design must not delay all.
    expect(Math.min(...took)).toBeLessThan(500);
  });

  test('the end of a live session says nothing of a test session of the same id', async () => {
    const session = newSession();
    const [test_, live_] = [await tokenOf(session), await tokenOf(session, live.signing)];
    expect([await call(gateways[0]!, test_), await call(gateways[0]!, live_)]).toEqual([200, 200]);
  });
});

test('every call that needs a fresh sign-in refuses an older one, and no other call does', async () => {
  const bus = await connectBus({
    url: `nats://127.0.0.1:${servers.natsPort}`,
    ...gatewayUser('test'),
    user: 'gateway',
    logger: createLogger('test', 'fatal'),
  });
  const codeOf = (contract: ServiceContract, name: string, ageSeconds: number) => {
    const auth_time = Math.floor(Date.now() / 1000) - ageSeconds;
    const caller = { kind: 'jwt', account_id: newId('acct'), session_id: newId('ses'), auth_time } as const;
    const sent = forward(bus, contract, name, { surely: 'unknown' }, caller, {
      timeoutMs: 5000,
      headers: {},
    });
    return sent.then(
      () => 'ok',
      (error: ServiceError) => error.code,
    );
  };
  const walked: string[] = [];
  try {
    for (const contract of contractList) {
      if (contract.name === 'gateway') continue;
      for (const [name, op] of Object.entries(contract.operations)) {
        if (!op.access.includes('jwt')) continue;
        const stale = op.stepUp === true ? 'reauthentication_required' : 'validation_error';
        expect([name, await codeOf(contract, name, 301)]).toEqual([name, stale]);
        expect([name, await codeOf(contract, name, 290)]).toEqual([name, 'validation_error']);
        if (op.stepUp === true) walked.push(name);
      }
    }
    expect(walked).toEqual(expect.arrayContaining(['link', 'provision', 'backup', 'passkeyRegisterVerify']));
  } finally {
    await drainBus(bus);
  }
});

test('a signing key is replaced without refusing anybody: published, used, retired', async () => {
  services.answers['identity.listServices'] = () => ({ data: [], next_cursor: null });
  const kidsOf = async ({ url }: Gateway) => {
    const answer = await fetch(`${url}/.well-known/jwks.json?environment=test`);
    return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  };
  const step = async (publicKeys: readonly object[], check: (gateway: Gateway) => Promise<void>) => {
    const gateway = await start(publicKeys);
    try {
      await check(gateway);
    } finally {
      await gateway.stop();
    }
  };
  const [old, fresh] = [await tokenOf(newSession()), await tokenOf(newSession(), next.signing)];
  // Before it is published, the next key is a stranger's.
  expect(await call(gateways[0]!, fresh)).toBe(401);
  // 1. Published while the old one still signs. 2. It signs; what the old one signed goes on to its end.
  await step([first.entry, next.entry], async (gateway) => {
    expect(await kidsOf(gateway)).toEqual(['test.session.1', 'test.session.2']);
    expect([await call(gateway, old), await call(gateway, fresh)]).toEqual([200, 200]);
  });
  // 3. Retired: what it signed before goes on to its end of 15 minutes, and it stays published.
  const retired = (minutesAgo: number) => ({
    ...first.entry,
    retired_at: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
  });
  await step([retired(1), next.entry], async (gateway) => {
    expect(await kidsOf(gateway)).toEqual(['test.session.1', 'test.session.2']);
    expect([await call(gateway, old), await call(gateway, fresh)]).toEqual([200, 200]);
  });
  // 4. After that a token of the old key can only be a thief's.
  await step([retired(16), next.entry], async (gateway) => {
    expect([await call(gateway, old), await call(gateway, fresh)]).toEqual([401, 200]);
  });
}, 60_000);

describe('the refresh cookie', () => {
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
    const response = await fetch(gateways[0]!.url + path, {
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
  const seen: Record<string, unknown>[] = [];
  beforeAll(() => {
    for (const name of ['verifyMagicLink', 'passkeyLoginVerify', 'refresh']) {
      services.answers[`identity.${name}`] = (input) => {
        seen.push(input);
        if (input.refresh_token === 'rt_test_bad') throw new ServiceError('unauthorized', 'ended');
        return session(2);
      };
    }
    services.answers['identity.logout'] = () => null;
  });
  const cookie = 'quittance_refresh_test=rt_test_1';
  const SET =
    'quittance_refresh_test=rt_test_2; Path=/v1/auth/refresh; Max-Age=2592000; HttpOnly; Secure; SameSite=Strict';
  const link = { token: 'ml_test_x' };
  const fromPage = { origin: ORIGIN };

  test('sign-in: in the body unless asked for, in the cookie alone when asked for', async () => {
    const inBody = await post('/v1/auth/magic-link/verify', { body: link, headers: fromPage });
    expect(inBody).toMatchObject({ status: 200, cookies: [], body: { refresh_token: 'rt_test_2' } });
    const inCookie = await post('/v1/auth/magic-link/verify', {
      body: { ...link, refresh_in: 'cookie' },
      headers: fromPage,
    });
    expect(inCookie).toMatchObject({ status: 200, cookies: [SET], body: { access_token: 'a.b.c' } });
    expect(inCookie.body).not.toHaveProperty('refresh_token');
  });

  test('refresh: the cookie is taken and replaced, with or without a body', async () => {
    for (const body of [undefined, {}, { environment: 'test' }]) {
      const answer = await post('/v1/auth/refresh', {
        ...(body ? { body } : {}),
        headers: { ...fromPage, cookie: `theme=dark; ${cookie}; x=y` },
      });
      expect(answer).toMatchObject({ status: 200, cookies: [SET] });
      expect(answer.body).not.toHaveProperty('refresh_token');
      expect(seen.at(-1)).toMatchObject({ refresh_token: 'rt_test_1' });
    }
  });

  test('refresh: a token in the body is exchanged in the body, whatever cookie comes along', async () => {
    const answer = await post('/v1/auth/refresh', {
      body: { refresh_token: 'rt_test_7' },
      headers: { cookie },
    });
    expect(answer).toMatchObject({ status: 200, cookies: [], body: { refresh_token: 'rt_test_2' } });
    expect(seen.at(-1)).toEqual({ refresh_token: 'rt_test_7' });
  });

  test.each([
    ['another site', { origin: 'https://evil.example', cookie }],
    ['a neighbour of the same site', { origin: 'https://blog.console.example', cookie }],
    ['our host over http', { origin: 'http://console.example', cookie }],
    ['an origin that is hidden', { origin: 'null', cookie }],
    ['no page', { cookie }],
  ])('refresh from %s is refused, and the token is not used', async (_name, headers) => {
    const before = seen.length;
    const answer = await post('/v1/auth/refresh', { headers });
    expect(answer).toMatchObject({ status: 403, cookies: [], body: { error: { code: 'forbidden' } } });
    const signIn = await post('/v1/auth/magic-link/verify', {
      body: { ...link, refresh_in: 'cookie' },
      headers,
    });
    expect(signIn).toMatchObject({ status: 403, cookies: [] });
    expect(seen).toHaveLength(before);
  });

  test.each([
    ['no cookie', ''],
    ['an empty one', 'quittance_refresh_test='],
    ['one of the other environment', 'quittance_refresh_live=rt_live_1'],
    ['two of them', `${cookie}; quittance_refresh_test=rt_test_planted`],
    ['one that identity refuses', 'quittance_refresh_test=rt_test_bad'],
    ['one that is no token', 'quittance_refresh_test="><script>'],
  ])('refresh with %s is refused', async (_name, value) => {
    const answer = await post('/v1/auth/refresh', { headers: { ...fromPage, cookie: value } });
    expect([400, 401]).toContain(answer.status);
    expect(answer.cookies).toEqual([]);
  });

  test('neither cookie nor token stands in the log', async () => {
    const log = () => gateways[0]!.log();
    // Lines wait for one another a moment; what follows is written after those of before.
    await post('/v1/auth/nothing', { headers: {} });
    while (!/"status":404[^\n]*\n$/.test(log())) await sleep(20);
    expect(log()).toContain('/v1/auth/refresh');
    expect(log()).not.toMatch(/rt_test_|quittance_refresh/);
  });

  test('signing out clears it', async () => {
    const answer = await post('/v1/auth/logout', {
      headers: { ...fromPage, authorization: `Bearer ${await tokenOf(newSession())}` },
    });
    expect(answer).toMatchObject({
      status: 204,
      cookies: [
        'quittance_refresh_test=; Path=/v1/auth/refresh; Max-Age=0; HttpOnly; Secure; SameSite=Strict',
      ],
    });
  });
});
