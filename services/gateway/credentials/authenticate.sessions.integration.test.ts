import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { forward } from '../../../shared/bus/call.ts';
import { connectBus, drainBus } from '../../../shared/bus/connect.ts';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { contractList } from '../../../shared/contract/index.ts';
import type { ServiceContract } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { createLogger } from '../../../shared/lib/telemetry/logger.ts';
import { ACCESS_TOKEN_SECONDS, signAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { waitUntil } from '../../../test/support/base/wait.ts';
import {
  type Gateway,
  gatewayUser,
  newSigningKey,
  type Servers,
  type Services,
  startGateway,
  startServers,
  startServices,
} from '../../../test/support/fixtures/gateway.ts';

const [first, next] = [newSigningKey('test.session.1'), newSigningKey('test.session.2')];
const live = newSigningKey('live.session.1');

let servers: Servers;
let services: Services;
let gateways: Gateway[];

const start = (publicKeys: readonly object[]) =>
  startGateway(
    { natsPort: { test: servers.natsPort, live: servers.natsPort }, redisPort: servers.redisPort },
    { publicKeys, limits: { scale: 100 } },
  );

beforeAll(async () => {
  servers = await startServers();
  services = await startServices(servers);
  gateways = await Promise.all([start([first.entry, live.entry]), start([first.entry, live.entry])]);
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await services.stop();
  await servers.stop();
});

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
/**
 * Milliseconds until this gateway refuses a call that begins then. Repeated calls keep its cache
 * filled.
 */
const untilRefused = async (gateway: Gateway, token: string): Promise<number> => {
  const startedAt = performance.now();
  let beganMs = 0;
  const refused = async () => {
    beganMs = performance.now() - startedAt;
    return (await call(gateway, token)) === 401;
  };
  await waitUntil(refused, { withinMs: 2000, everyMs: 1 });
  return beganMs;
};

describe('a revoked session is refused by every gateway', () => {
  beforeAll(() => {
    services.answers['identity.listServices'] = () => ({ data: [], next_cursor: null });
  });

  test('within 2 s, whether its event arrives or is lost', async () => {
    for (const arrives of [true, false]) {
      const session = newSession();
      const token = await tokenOf(session);
      for (const gateway of gateways) expect(await call(gateway, token)).toBe(200);
      if (arrives) services.revokeSession('test', session);
      else services.revokedSessions.add(session.session_id);
      // Each throws if a call that begins later is accepted.
      await Promise.all(gateways.map((gateway) => untilRefused(gateway, token)));
    }
  });

  test('a token is refused from its expiry on, although its signature was verified a moment before', async () => {
    const expiresAt = (Math.floor(Date.now() / 1000) + 3) * 1000;
    const token = await tokenOf(newSession(), first.signing, expiresAt - ACCESS_TOKEN_SECONDS * 1000);
    const [gateway] = gateways as [Gateway];
    expect(await call(gateway, token)).toBe(200);
    // Repeated calls keep the verified signature cached.
    await waitUntil(async () => {
      await call(gateway, token);
      return Date.now() >= expiresAt;
    });
    expect(await call(gateway, token)).toBe(401);
  });

  test('immediately when its event arrives, long before the cache would query identity again', async () => {
    // A busy machine may delay a round until the cache queries by itself. Another one follows.
    await waitUntil(async () => {
      const session = newSession();
      const token = await tokenOf(session);
      for (const gateway of gateways) expect(await call(gateway, token)).toBe(200);
      services.revokeSession('test', session);
      const took = await Promise.all(gateways.map((gateway) => untilRefused(gateway, token)));
      return Math.max(...took) < 500;
    });
  });

  test('a session of test and a session of live with the same id are independent', async () => {
    const session = newSession();
    const tokens = [await tokenOf(session), await tokenOf(session, live.signing)];
    for (const token of tokens) expect(await call(gateways[0]!, token)).toBe(200);
  });
});

test('every call that needs a recent sign-in refuses an older one, and no other call does', async () => {
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
  const stepUps: string[] = [];
  try {
    for (const contract of contractList) {
      if (contract.name === 'gateway') continue;
      for (const [name, op] of Object.entries(contract.operations)) {
        if (!op.access.includes('jwt')) continue;
        const stale = op.stepUp === true ? 'reauthentication_required' : 'validation_error';
        expect([name, await codeOf(contract, name, 301)]).toEqual([name, stale]);
        expect([name, await codeOf(contract, name, 290)]).toEqual([name, 'validation_error']);
        if (op.stepUp === true) stepUps.push(name);
      }
    }
    expect(stepUps).toEqual(expect.arrayContaining(['link', 'provision', 'backup', 'passkeyRegisterVerify']));
  } finally {
    await drainBus(bus);
  }
});

test('a signing key is replaced in four steps without refusing a valid token', async () => {
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
  const [oldToken, newToken] = [await tokenOf(newSession()), await tokenOf(newSession(), next.signing)];
  // Before the next key is published, its tokens are refused.
  expect(await call(gateways[0]!, newToken)).toBe(401);
  // 1. It is published while the old key still signs. 2. It signs. Tokens of the old key stay
  // valid.
  await step([first.entry, next.entry], async (gateway) => {
    expect(await kidsOf(gateway)).toEqual(['test.session.1', 'test.session.2']);
    expect([await call(gateway, oldToken), await call(gateway, newToken)]).toEqual([200, 200]);
  });
  // 3. The old key is retired. Its tokens stay valid for their 15 minutes, and it stays published.
  const retired = (minutesAgo: number) => ({
    ...first.entry,
    retired_at: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
  });
  await step([retired(1), next.entry], async (gateway) => {
    expect(await kidsOf(gateway)).toEqual(['test.session.1', 'test.session.2']);
    expect([await call(gateway, oldToken), await call(gateway, newToken)]).toEqual([200, 200]);
  });
  // 4. After that, tokens of the old key are refused: they can only come from a stolen key.
  await step([retired(16), next.entry], async (gateway) => {
    expect([await call(gateway, oldToken), await call(gateway, newToken)]).toEqual([401, 200]);
  });
}, 240_000);
