import { ApiError, NoAnswerError } from './errors.ts';
import { UnauthorizedError } from './generated/errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { Fields, Send } from './transport.ts';
import { backoffMs, sleep } from './wait.ts';

/** The two tokens of a sign-in. The answer of `identity.verifyMagicLink` has them. */
export type Tokens = { access_token: string; refresh_token?: string | undefined };

/**
 * Stores a sign-in. `save` gets the new pair after every exchange, before it is used, and null
 * after the sign-in was revoked. A refresh token works once, so `load` must return what was saved
 * last, in every process that shares the store.
 */
export type TokenStore = {
  load: () => Promise<Tokens | null> | Tokens | null;
  save: (tokens: Tokens | null) => Promise<void> | void;
  /**
   * In a browser: the refresh token of this environment is in the HttpOnly cookie that a sign-in
   * with `refresh_in: 'cookie'` has set, which no script can read. The API must know the page's
   * origin as its own.
   */
  refreshCookie?: 'test' | 'live';
};

/** A service key, a delegate key, an access token, or a sign-in that is renewed. */
export type Credential = string | TokenStore;

export type CredentialSource = {
  token: () => Promise<string | null>;
  /** Returns a newer token than the refused one, or null. */
  renew: (refused: string | null) => Promise<string | null>;
};

/**
 * A direct repeat gets the same successor for 10 seconds. Later it counts as theft and revokes the
 * sign-in.
 */
const REPEATABLE_MS = 8000;

/** A store in memory. The sign-in ends with the process. */
export const memoryTokens = (tokens: Tokens | null): TokenStore => {
  let held = tokens;
  return {
    load: () => held,
    save: (next) => {
      held = next;
    },
  };
};

/**
 * A page's sign-in: the access token in memory, the refresh token in the cookie. It survives a
 * reload: the first call of the next page, or of a worker, gets an access token by the cookie.
 */
export const cookieTokens = (environment: 'test' | 'live' = 'test'): TokenStore => ({
  ...memoryTokens(null),
  refreshCookie: environment,
});

type Locks = { request: <T>(name: string, work: () => Promise<T>) => Promise<T> };

/**
 * Pages and workers of an origin share a cookie, so they exchange it one after the other. A request
 * with a cookie that was exchanged twice since counts as theft.
 */
const inTurn = <T>(cookie: 'test' | 'live' | undefined, work: () => Promise<T>): Promise<T> => {
  const { locks } = (globalThis as { navigator?: { locks?: Locks } }).navigator ?? {};
  return cookie === undefined || locks === undefined
    ? work()
    : locks.request(`quittance-sign-in-${cookie}`, work);
};

const createSession = (store: TokenStore, send: Send): CredentialSource => {
  const exchange = async (input: Fields): Promise<Tokens> => {
    const startedAt = Date.now();
    for (let tries = 0; ; tries += 1) {
      try {
        const { body } = await send(OPERATIONS.identity.refresh, input, { token: null });
        return body as Tokens;
      } catch (error) {
        const again = error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);
        const waitMs = (again ? error.retryAfterMs : undefined) ?? backoffMs(tries);
        if (!again || Date.now() + waitMs - startedAt > REPEATABLE_MS) throw error;
        await sleep(waitMs);
      }
    }
  };

  /** The input of the exchange. Null if the sign-in cannot be renewed. */
  const exchanged = (held: Tokens | null): Fields | null => {
    if (store.refreshCookie !== undefined) return { environment: store.refreshCookie };
    return held?.refresh_token === undefined ? null : { refresh_token: held.refresh_token };
  };

  const renewOnce = async (refused: string | null): Promise<string | null> => {
    const held = await store.load();
    if ((held?.access_token ?? null) !== refused) return held?.access_token ?? null;
    const input = exchanged(held);
    if (input === null) return null;
    try {
      const next = await inTurn(store.refreshCookie, () => exchange(input));
      await store.save({ access_token: next.access_token, refresh_token: next.refresh_token });
      return next.access_token;
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      // Another process that shares the store may have renewed it first.
      const now = await store.load();
      if (now !== null && now.access_token !== refused) return now.access_token;
      await store.save(null);
      return null;
    }
  };

  let renewing: Promise<string | null> | null = null;
  return {
    token: async () => (await store.load())?.access_token ?? null,
    // One exchange at a time, because a second one with the same refresh token counts as theft.
    renew: (refused) => {
      renewing ??= renewOnce(refused).finally(() => {
        renewing = null;
      });
      return renewing;
    },
  };
};

/** The tokens of a credential. Without a credential only anonymous calls work. */
export const credentialSource = (credential: Credential | undefined, send: Send): CredentialSource => {
  if (typeof credential === 'object') return createSession(credential, send);
  const fixed = credential ?? null;
  return { token: () => Promise.resolve(fixed), renew: () => Promise.resolve(null) };
};
