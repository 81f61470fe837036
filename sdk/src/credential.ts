import { ApiError, NoAnswerError } from './errors.ts';
import { UnauthorizedError } from './generated/errors.ts';
import { OPERATIONS } from './generated/operations.ts';
import type { Send } from './transport.ts';
import { backoffMs, sleep } from './wait.ts';

/** The two tokens of a sign-in; what `identity.verifyMagicLink` answers has them. */
export type Tokens = { access_token: string; refresh_token?: string | undefined };

/**
 * Where a sign-in is kept. `save` gets the new pair after every exchange, before it is used, and null when the sign-in has
 * ended. The refresh token is good once: what was saved must be what the next `load` gives, in every process that shares it.
 */
export type TokenStore = {
  load: () => Promise<Tokens | null> | Tokens | null;
  save: (tokens: Tokens | null) => Promise<void> | void;
};

/** A service key, a delegate key, an access token as it is, or a sign-in that is kept fresh. */
export type Credential = string | TokenStore;

export type CredentialSource = {
  token: () => Promise<string | null>;
  /** Another token than the refused one, null when there is none. */
  renew: (refused: string | null) => Promise<string | null>;
};

/** A direct repeat gets the same successor for 10 seconds; later it counts as theft and ends the sign-in. */
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

const createSession = (store: TokenStore, send: Send): CredentialSource => {
  const exchange = async (refreshToken: string): Promise<Tokens> => {
    const startedAt = Date.now();
    for (let tries = 0; ; tries += 1) {
      try {
        const { body } = await send(
          OPERATIONS.identity.refresh,
          { refresh_token: refreshToken },
          { token: null },
        );
        return body as Tokens;
      } catch (error) {
        const again = error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);
        const waitMs = (again ? (error.retryAfterMs ?? null) : null) ?? backoffMs(tries);
        if (!again || Date.now() + waitMs - startedAt > REPEATABLE_MS) throw error;
        await sleep(waitMs);
      }
    }
  };

  const renewOnce = async (refused: string | null): Promise<string | null> => {
    const held = await store.load();
    if (held === null || held.access_token !== refused) return held?.access_token ?? null;
    if (held.refresh_token === undefined) return null;
    try {
      const next = await exchange(held.refresh_token);
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
