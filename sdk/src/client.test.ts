import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ERRORS } from '../../shared/contract/errors.ts';
import {
  type Asked,
  refusal,
  type Scripted,
  startScripted,
} from '../../test/support/stand-ins/scripted-server.ts';
import {
  ApiError,
  type ClientOptions,
  cookieTokens,
  createClient,
  ForbiddenError,
  memoryTokens,
  NoAnswerError,
  RateLimitedError,
  ServiceUnavailableError,
  type Tokens,
  UnauthorizedError,
  ValidationError,
} from './main.ts';

let running: Awaited<ReturnType<typeof startScripted>> | undefined;
afterEach(() => running?.stop());

const clientOf = async (
  answer: (asked: Asked, n: number) => Scripted | Promise<Scripted>,
  options: Partial<ClientOptions> = {},
) => {
  running = await startScripted(answer);
  const client = createClient({ baseUrl: `${running.baseUrl}/`, credential: 'key', ...options });
  return { client, asked: running.asked };
};
const ok = (body: unknown): Scripted => ({ status: 200, body });
const ID = 'stl_1';
const TOKEN = { settlement_id: ID, settlement_token: 'a.b' };

describe('what is sent', () => {
  test('path, query and body fields are sent in their places, and the credential only where one is needed', async () => {
    const { client, asked } = await clientOf(() => ok({ data: [], next_cursor: null }));
    await client.settlement.redeem(TOKEN);
    await client.settlement.list({ status: 'issued', limit: '5' });
    await client.settlement.verify({ settlement_id: 'a/b?c' });
    await client.gateway.jwks({ environment: 'test' });
    await client.identity.deleteSession({ session_id: 's' });
    expect(asked).toEqual([
      { call: `POST /v1/settlements/${ID}/redeem`, token: 'key', body: { settlement_token: 'a.b' } },
      { call: 'GET /v1/settlements?status=issued&limit=5', token: 'key', body: null },
      { call: 'POST /v1/settlements/a%2Fb%3Fc/verify', token: 'key', body: {} },
      { call: 'GET /.well-known/jwks.json?environment=test', token: null, body: null },
      { call: 'DELETE /v1/accounts/me/sessions/s', token: 'key', body: null },
    ]);
  });

  test.each(['', '.', '..'])('an id "%s" that would change the path is never sent', async (settlement_id) => {
    const { client, asked } = await clientOf(() => ok({}));
    await expect(client.settlement.get({ settlement_id })).rejects.toThrow(TypeError);
    expect(asked).toEqual([]);
  });

  test('a list returns its page when awaited, and all items of all pages when iterated', async () => {
    const { client, asked } = await clientOf(({ call }) =>
      ok(
        call.includes('cursor=two')
          ? { data: [{ quote_id: 'c' }], next_cursor: null }
          : { data: [{ quote_id: 'a' }, { quote_id: 'b' }], next_cursor: 'two' },
      ),
    );
    expect(await client.quote.list()).toMatchObject({ next_cursor: 'two' });
    const seen: string[] = [];
    for await (const { quote_id } of client.quote.list({ limit: '2' })) seen.push(quote_id);
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(asked.map(({ call }) => call).slice(1)).toEqual([
      'GET /v1/quotes?limit=2',
      'GET /v1/quotes?limit=2&cursor=two',
    ]);
  });
});

describe('errors', () => {
  test.each(Object.entries(ERRORS))('%s has its own class', async (code, { http, retryable }) => {
    const { client } = await clientOf(() => refusal(http, code), { maxRetries: 0 });
    const error = (await client.settlement.get({ settlement_id: ID }).catch((e: unknown) => e)) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code, status: http, retryable, requestId: 'request-1' });
    expect(error.constructor).not.toBe(ApiError);
    // A text, so that it survives a minifier that renames the class.
    expect([error.name, Object.hasOwn(error, 'name')]).toEqual([error.constructor.name, true]);
    expect([error.limit, error.docsUrl]).toEqual([null, null]);
  });

  test('an error has the figures of its limit, its page, and the request id of the body if a page cannot read the header', async () => {
    const limit = {
      name: 'daily',
      asked: '5000000',
      limit: '10000000',
      left: '2000000',
      resets_at: '2026-11-24T00:00:00Z',
    };
    const docs_url = 'https://api.example.com/docs/errors#limit_exceeded';
    const answer = refusal(403, 'limit_exceeded', { limit, docs_url, request_id: 'request-of-body' });
    const withoutHeader = async (url: string, init: RequestInit) => {
      const answered = await fetch(url, init);
      const headers = new Headers(answered.headers);
      headers.delete('x-request-id');
      return new Response(answered.body, { status: answered.status, headers });
    };
    const { client } = await clientOf(() => answer, { fetch: withoutHeader });
    const error = await client.settlement.get({ settlement_id: ID }).catch((e: unknown) => e);
    expect(error).toMatchObject({ limit, docsUrl: docs_url, requestId: 'request-of-body' });
  });

  test('an error has its details, an unknown code is an ApiError, and any other answer is a NoAnswerError', async () => {
    const details = [{ path: 'limit', message: 'must be 1 to 100' }];
    const answers = [
      refusal(400, 'validation_error', { details }),
      refusal(418, 'constructor'),
      { status: 502, html: true } as const,
      { status: 302, body: {} },
    ];
    const { client } = await clientOf((_, n) => answers[n]!, { maxRetries: 0 });
    const next = () => client.quote.get({ quote_id: 'q' }).catch((e: unknown) => e);
    const invalid = await next();
    expect(invalid).toBeInstanceOf(ValidationError);
    expect(invalid).toMatchObject({ details });
    expect(await next()).toMatchObject({ code: 'constructor', retryable: false, name: 'ApiError' });
    expect(await next()).toBeInstanceOf(NoAnswerError);
    expect(await next()).toMatchObject({ name: 'NoAnswerError', status: 302 });
  });
});

describe('retries', () => {
  const failures: [string, Scripted][] = [
    ['a lost answer', 'lost'],
    ['429', refusal(429, 'rate_limited')],
    ['503', refusal(503, 'service_unavailable')],
  ];
  const calls: [string, (client: ReturnType<typeof createClient>) => Promise<unknown>, boolean][] = [
    ['a GET', (client) => client.settlement.get({ settlement_id: ID }), true],
    ['verify', (client) => client.settlement.verify({ settlement_id: ID }), true],
    ['redeem with an id', (client) => client.settlement.redeem({ ...TOKEN, redeem_id: 'r' }), true],
    ['redeem without an id', (client) => client.settlement.redeem(TOKEN), false],
    ['a quote', (client) => client.quote.create({ service_id: 's' }), true],
    ['a reveal', (client) => client.identity.revealServiceKey({ service_id: 's' }), false],
  ];
  const table = calls.flatMap(([call, run, repeated]) =>
    failures.map(([failure, scripted]) => [call, failure, run, scripted, repeated] as const),
  );
  test.each(table)(
    '%s after %s is repeated only if it has no second effect',
    async (_call, _failure, run, scripted, repeated) => {
      const { client, asked } = await clientOf((_, n) => (n === 0 ? scripted : ok({})));
      const outcome = await run(client).then(
        () => 'answered',
        () => 'refused',
      );
      expect([outcome, asked.length]).toEqual(repeated ? ['answered', 2] : ['refused', 1]);
    },
  );

  test('a call that creates has one key for all its retries: a new one for each call, or the caller’s', async () => {
    const under = { ...(refusal(409, 'conflict') as object), retryAfter: 0 } as Scripted;
    const { client, asked } = await clientOf(
      (_, n) => (['lost', under, under, under, under] as const)[n] ?? ok({}),
    );
    await client.quote.create({ service_id: 's' });
    await client.quote.create({ service_id: 's' });
    await client.identity.createService(
      { name: 'n', price: '1', payout_address: 'p' },
      { idempotencyKey: 'mine' },
    );
    await client.settlement.redeem(TOKEN, { idempotencyKey: 'not asked for' });
    const keys = asked.map(({ key }) => key);
    expect(keys.slice(0, 6)).toEqual(Array(6).fill(expect.stringMatching(/^[0-9a-f-]{36}$/)));
    expect(new Set(keys.slice(0, 6)).size).toBe(1);
    expect(keys[6]).not.toBe(keys[0]);
    expect(keys[7]).toBe('mine');
  });

  test('a conflict without Retry-After is final', async () => {
    const { client, asked } = await clientOf(() => refusal(409, 'conflict'));
    await expect(client.quote.create({ service_id: 's' })).rejects.toThrow('told conflict');
    expect(asked).toHaveLength(1);
  });

  test('retries end after maxRetries, and at once if the wait exceeds a minute or the refusal is final', async () => {
    const { client, asked } = await clientOf(
      (_, n) =>
        [
          ...Array.from({ length: 3 }, () => refusal(503, 'service_unavailable')),
          { ...(refusal(429, 'rate_limited') as object), retryAfter: 61 } as Scripted,
          refusal(403, 'forbidden'),
        ][n]!,
      { maxRetries: 2 },
    );
    const get = () => client.quote.get({ quote_id: 'q' });
    await expect(get()).rejects.toThrow(ServiceUnavailableError);
    expect(asked).toHaveLength(3);
    await expect(get()).rejects.toThrow(RateLimitedError);
    await expect(get()).rejects.toThrow(ForbiddenError);
    expect(asked).toHaveLength(5);
  });

  test('an abort ends the wait with the reason of the signal', async () => {
    const { client } = await clientOf(() => ({
      ...(refusal(429, 'rate_limited') as object),
      status: 429,
      retryAfter: 30,
    }));
    const reason = new Error('enough');
    const stop = new AbortController();
    setTimeout(() => stop.abort(reason), 50);
    await expect(client.quote.get({ quote_id: 'q' }, { signal: stop.signal })).rejects.toBe(reason);
  });
});

describe('a sign-in', () => {
  const session = (n: number) => ({ access_token: `access-${n}`, refresh_token: `rt_test_${n}` });

  test('many calls with an expired token make one exchange, whose tokens are saved before they are used', async () => {
    const saved: (Tokens | null)[] = [];
    const store = memoryTokens(session(1));
    const { client, asked } = await clientOf(
      async ({ call, token, body }) => {
        if (call === 'POST /v1/auth/refresh') {
          expect({ token, body }).toEqual({ token: null, body: { refresh_token: 'rt_test_1' } });
          await new Promise((resolve) => setTimeout(resolve, 30));
          return ok(session(2));
        }
        if (token === 'access-2') expect(saved).toEqual([session(2)]);
        return token === 'access-2' ? ok({}) : refusal(401, 'unauthorized');
      },
      {
        credential: {
          load: store.load,
          save: (tokens) => {
            saved.push(tokens);
            return store.save(tokens);
          },
        },
      },
    );
    await Promise.all(Array.from({ length: 8 }, () => client.identity.getAccount()));
    expect(asked.filter(({ call }) => call.includes('refresh'))).toHaveLength(1);
    expect(saved).toEqual([session(2)]);
  });

  test('an exchange with a lost answer is repeated at once', async () => {
    let exchanges = 0;
    const { client } = await clientOf(
      ({ call, token }) => {
        if (!call.includes('refresh')) return token === 'access-2' ? ok({}) : refusal(401, 'unauthorized');
        exchanges += 1;
        return exchanges === 1 ? 'lost' : ok(session(2));
      },
      { credential: memoryTokens(session(1)) },
    );
    await client.identity.getAccount();
    expect(exchanges).toBe(2);
  });

  test('a sign-in that has ended is removed from the store, and the call throws UnauthorizedError', async () => {
    const store = memoryTokens(session(1));
    const { client } = await clientOf(() => refusal(401, 'unauthorized'), { credential: store });
    await expect(client.identity.getAccount()).rejects.toThrow(UnauthorizedError);
    expect(await store.load()).toBeNull();
  });

  test('a token that another process has exchanged meanwhile is used', async () => {
    const store = memoryTokens(session(1));
    const { client } = await clientOf(
      ({ call, token }) => {
        if (token === 'access-2') return ok({});
        if (call.includes('refresh')) void store.save(session(2));
        return refusal(401, 'unauthorized');
      },
      { credential: store },
    );
    await client.identity.getAccount();
    expect(await store.load()).toEqual(session(2));
  });
});

describe('a sign-in of a page', () => {
  const cookies = (answer: (asked: Asked) => Scripted, credential = cookieTokens('live')) => {
    const sent: (string | undefined)[] = [];
    const client = clientOf(answer, {
      credential,
      fetch: (url, init) => {
        sent.push(init.credentials);
        return fetch(url, init);
      },
    });
    return { client, sent };
  };
  /** Answers like the gateway to a page. The browser handles the cookie. */
  const gate =
    (open: () => boolean) =>
    ({ call, token }: Asked): Scripted => {
      if (call.includes('refresh'))
        return open() ? ok({ access_token: 'access-1' }) : refusal(401, 'unauthorized');
      return token === 'access-1' ? ok({}) : refusal(401, 'unauthorized');
    };

  test('a new page gets its token from the cookie by one request, and every call includes cookies', async () => {
    const { client: making, sent } = cookies(gate(() => true));
    const { client, asked } = await making;
    await Promise.all(Array.from({ length: 4 }, () => client.identity.getAccount()));
    await client.identity.getAccount();
    expect(asked.filter(({ call }) => call.includes('refresh'))).toEqual([
      { call: 'POST /v1/auth/refresh', token: null, body: { environment: 'live' } },
    ]);
    expect(new Set(sent)).toEqual(new Set(['include']));
    expect(asked.at(-1)).toMatchObject({ token: 'access-1' });
  });

  test('without a cookie the call is refused, and a later sign-in is used', async () => {
    let open = false;
    const { client } = await cookies(gate(() => open)).client;
    await expect(client.identity.getAccount()).rejects.toThrow(UnauthorizedError);
    open = true;
    await client.identity.getAccount();
  });

  test('a page of an unknown origin gets ForbiddenError', async () => {
    const { client } = await cookies(({ call }) =>
      call.includes('refresh') ? refusal(403, 'forbidden') : refusal(401, 'unauthorized'),
    ).client;
    await expect(client.identity.getAccount()).rejects.toThrow(ForbiddenError);
  });

  test('a client with other tokens does not set the cookie mode of fetch', async () => {
    const { client: making, sent } = cookies(() => ok({}), memoryTokens({ access_token: 'access-1' }));
    const { client } = await making;
    await client.identity.getAccount();
    expect(sent).toEqual([undefined]);
  });
});

test('the minified client with all its parts is smaller than 60 kB', () => {
  const root = path.resolve(import.meta.dirname, '../..');
  const { stdout, stderr } = spawnSync(
    path.join(root, 'node_modules/.bin/esbuild'),
    [path.join(root, 'sdk/src/main.ts'), '--bundle', '--minify', '--format=esm', '--platform=neutral'],
    { maxBuffer: 1e7 },
  );
  expect(stderr.toString()).toBe('');
  expect(stdout.length).toBeGreaterThan(5000);
  expect(stdout.length).toBeLessThan(60_000);
});
