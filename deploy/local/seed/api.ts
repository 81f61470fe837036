import { setTimeout as sleep } from 'node:timers/promises';

/** A call of the public API over plain fetch. */
export type Answer<T = Record<string, unknown>> = { status: number; headers: Headers; body: T };

export type Api = <T = Record<string, unknown>>(
  call: `${'GET' | 'POST' | 'PATCH' | 'DELETE'} /${string}`,
  options?: { token?: string; body?: unknown; headers?: Record<string, string> },
) => Promise<Answer<T>>;

/**
 * Returns the answer of the gateway. Throws if the connection is refused or the call is not
 * answered in time.
 */
export const createApi =
  (gatewayUrl: string, { timeoutMs = 60_000 }: { timeoutMs?: number } = {}): Api =>
  async (call, { token, body, headers = {} } = {}) => {
    const [method, path] = call.split(' ') as [string, string];
    const response = await fetch(`${gatewayUrl}${path}`, {
      method,
      signal: AbortSignal.timeout(timeoutMs),
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };

/**
 * Waits for the Retry-After of an answer 503 and repeats the call, as that error asks. The repeat
 * has the Idempotency-Key of the first call. Calls that take none have no effect when repeated.
 * @returns the last answer, which is a 503 if there was no other in time
 */
export const patientApi =
  (api: Api, { patienceMs = 60_000 }: { patienceMs?: number } = {}): Api =>
  async (call, { headers, ...asked } = {}) => {
    const deadline = Date.now() + patienceMs;
    const repeatable = { ...asked, headers: { 'idempotency-key': crypto.randomUUID(), ...headers } };
    for (;;) {
      const answer = await api<never>(call, repeatable);
      const waitMs = Number(answer.headers.get('retry-after') ?? 1) * 1000;
      if (answer.status !== 503 || Date.now() + waitMs > deadline) return answer;
      await sleep(waitMs);
    }
  };

/** The body of a call that must succeed. The error contains the answer of the gateway. */
export const must = async <T>(answer: Promise<Answer<T>>, what: string): Promise<T> => {
  const { status, body } = await answer;
  if (status >= 200 && status < 300) return body;
  const error = (body as { error?: { code: string; message: string } } | undefined)?.error;
  throw new Error(`${what}: ${status} ${error?.code ?? ''} ${error?.message ?? ''}`);
};

/** The reason why a call threw: the error code of the socket, or the name of the error. */
export const lostBy = (error: unknown): string => {
  const { name, cause } = error as Error & { cause?: { code?: string } };
  return cause?.code ?? name;
};

/**
 * Balances calls as a load balancer does: each call goes to the next instance, and to another one
 * if that instance does not listen.
 */
export const balancedApi = (urls: readonly string[], options?: { timeoutMs?: number }): Api => {
  const doors = urls.map((url) => createApi(url, options));
  let turn = 0;
  return async (call, asked) => {
    turn += 1;
    const mine = turn;
    for (let tried = 1; ; tried += 1) {
      const door = doors[(mine + tried) % doors.length]!;
      try {
        return await door(call, asked);
      } catch (error) {
        if (lostBy(error) !== 'ECONNREFUSED' || tried >= doors.length) throw error;
      }
    }
  };
};
