import { ApiError, NoAnswerError } from './errors.ts';
import { UnauthorizedError } from './generated/errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { Fields, Send } from './transport.ts';
import { backoffMs, sleep } from './wait.ts';

/** The two tokens of a sign-in; what `identity.verifyMagicLink` answers has them. */
export type Tokens = { access_token: string; refresh_token?: string | undefined };

/**
 * Where a sign-in is kept. `save` gets the new pair after every exchange, before it is used, and
 * null when the sign-in has ended. The refresh token is good once: what was saved must be what the
 * next `load` gives, in every process that shares it.
 */
export type TokenStore = {
  load: () => Promise<Tokens | null> | Tokens | null;
  save: (tokens: Tokens | null) => Promise<void> | void;
  /**
   * In a browser: the refresh token of this environment is in the HttpOnly cookie that a sign-in
   * with `refresh_in: 'cookie'` set, where no script can read it. The page's origin must be one
   * that the API knows as its own.
   */
  refreshCookie?: 'test' | 'live';
};

/** A service key, a delegate key, an access token as it is, or a sign-in that is kept fresh. */
export type Credential = string | TokenStore;

export type CredentialSource = {
  token: () => Promise<string | null>;
  /** Another token than the refused one, null when there is none. */
  renew: (refused: string | null) => Promise<string | null>;
};

/**
 * A direct repeat gets the same successor for 10 seconds; later it counts as theft and ends the
 * sign-in.
 */
const REPEATABLE_MS = 8000;

/** A store in memory, for a sign-in that ends with the process. */
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
 * A page's sign-in: the access token in memory, the refresh token in the cookie. It outlives the
 * page: the first call of the next one, or of a worker, gets an access token by the cookie.
 */
export const cookieTokens = (environment: 'test' | 'live' = 'test'): TokenStore => ({
  ...memoryTokens(null),
  refreshCookie: environment,
});

const createSession = (store: TokenStore, send: Send): CredentialSource => {
  const exchange = async (input: Fields): Promise<Tokens> => {
    const startedAt = Date.now();
    for (let tries = 0; ; tries += 1) {
      try {
        const { body } = await send(OPERATIONS.identity.refresh, input, { token: null });
        return body as Tokens;
      } catch (error) {
        const again = error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);
        const waitMs = (again ? (error.retryAfterMs ?? null) : null) ?? backoffMs(tries);
        if (!again || Date.now() + waitMs - startedAt > REPEATABLE_MS) throw error;
        await sleep(waitMs);
      }
    }
  };

  /** What is exchanged, null for a sign-in that cannot be. */
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
      const next = await exchange(input);
      await store.save({ access_token: next.access_token, refresh_token: next.refresh_token });
      return next.access_token;
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      // Another process that shares the store may have been faster.
      const now = await store.load();
      if (now !== null && now.access_token !== refused) return now.access_token;
      await store.save(null);
      return null;
    }
  };

  let renewing: Promise<string | null> | null = null;
  return {
    token: async () => (await store.load())?.access_token ?? null,
    // One exchange at a time: a second one with the same refresh token would be taken for theft.
    renew: (refused) => {
      renewing ??= renewOnce(refused).finally(() => {
        renewing = null;
      });
      return renewing;
    },
  };
};

/** The source of tokens behind a credential; none: anonymous calls only. */
export const credentialSource = (credential: Credential | undefined, send: Send): CredentialSource => {
  if (typeof credential === 'object') return createSession(credential, send);
  const fixed = credential ?? null;
  return { token: () => Promise.resolve(fixed), renew: () => Promise.resolve(null) };
};
