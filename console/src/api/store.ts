import {
  type Client,
  createClient,
  type Fetch,
  type Output,
  type Tokens,
  UnauthorizedError,
} from '../../../sdk/src/main.ts';

/**
 * The sign-in of this page, outside of React. The access token is in memory and the refresh token
 * in a cookie that no script can read (docs/spec/decisions.md, Sign-in). The two environments are
 * separate accounts: one of them is shown, and switching signs into the other by its own cookie.
 */

type Environment = 'test' | 'live';
type Account = { account_id: string; email: string };
export type SessionState = {
  environment: Environment;
  /**
   * `resuming`: checking whether the cookie holds a sign-in. `unreachable`: the API did not answer.
   * `ended`: the sign-in is no longer valid.
   */
  status: 'resuming' | 'unreachable' | 'signed-out' | 'ended' | 'signed-in';
  account: Account | null;
  client: Client;
};
type SignedIn = Output<'identity.verifyMagicLink'>;

const REFRESH_PATH = '/v1/auth/refresh';
const ENVIRONMENT_KEY = 'quittance.environment';
const channel = new BroadcastChannel('quittance-session');

/** The claims of a token about its account and sign-in. The API checks every decision again. */
const claimsOf = (token: string): { sub: string; sid: string } => {
  const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
  return JSON.parse(atob(payload)) as { sub: string; sid: string };
};

/** Another tab signed into another account. The call must not be made for that account. */
export class OtherAccountError extends Error {
  override readonly name = 'OtherAccountError';
  constructor() {
    super('another account was signed in meanwhile; nothing was sent');
  }
}

const storedEnvironment = (): Environment =>
  localStorage.getItem(ENVIRONMENT_KEY) === 'live' ? 'live' : 'test';

/** What a person has chosen, for the next pages too. A page of a payment link stores nothing. */
const chosen = (environment: Environment): Environment => {
  localStorage.setItem(ENVIRONMENT_KEY, environment);
  return environment;
};

/**
 * Ends a sign-in that another one of the same account replaces. Its refresh token was overwritten
 * in the cookie.
 */
const endReplaced = (client: Client, before: string, after: string): void => {
  const [old, now] = [claimsOf(before), claimsOf(after)];
  // If this fails, the old sign-in expires by itself.
  if (old.sub === now.sub && old.sid !== now.sid)
    void client.identity.deleteSession({ session_id: old.sid }).catch(() => undefined);
};

/** All tabs share one refresh token, which works once. Concurrent exchanges look like theft. */
const fetchOf =
  (environment: Environment): Fetch =>
  async (url, init) =>
    url.endsWith(REFRESH_PATH)
      ? await navigator.locks.request(`quittance-refresh-${environment}`, () => fetch(url, init))
      : await fetch(url, init);

const createStore = () => {
  const listeners = new Set<() => void>();
  let tokens: Tokens | null = null;
  let state: SessionState;

  const set = (change: Partial<SessionState>) => {
    state = { ...state, ...change };
    for (const listener of listeners) listener();
  };

  const clientOf = (environment: Environment): Client =>
    createClient({
      baseUrl: location.origin,
      credential: {
        refreshCookie: environment,
        load: () => tokens,
        save: (next) => {
          const account = state.account?.account_id;
          if (next === null) {
            tokens = null;
            set({ status: account === undefined ? 'signed-out' : 'ended', account: null });
          } else if (account !== undefined && claimsOf(next.access_token).sub !== account) {
            void resume();
            throw new OtherAccountError();
          } else tokens = next;
        },
      },
      fetch: fetchOf(environment),
    });

  /** Adopts a sign-in, and ends the one that it replaces. */
  const adopt = ({ access_token, account }: Pick<SignedIn, 'access_token' | 'account'>) => {
    const before = tokens;
    tokens = { access_token };
    set({ status: 'signed-in', account });
    if (before !== null) endReplaced(state.client, before.access_token, access_token);
  };

  /** Signs in with the cookie, if it holds a sign-in. */
  const resume = async (): Promise<void> => {
    const { client, environment } = state;
    try {
      const answer = await client.identity.refresh({ environment });
      if (state.client === client) adopt(answer);
    } catch (error) {
      if (state.client !== client) return;
      tokens = null;
      set({ status: error instanceof UnauthorizedError ? 'signed-out' : 'unreachable', account: null });
    }
  };

  const show = (environment: Environment) => {
    tokens = null;
    set({ environment, client: clientOf(environment), status: 'resuming', account: null });
  };

  const environment = storedEnvironment();
  state = { environment, client: clientOf(environment), status: 'resuming', account: null };
  // Another tab signed in or out, and so changed the shared cookie.
  channel.onmessage = ({ data }) => {
    if (data === state.environment && state.status !== 'resuming') void resume();
  };

  return {
    get: () => state,
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    resume,
    /** Shows the other environment here, signed in if its cookie holds a sign-in. */
    switchTo: async (next: Environment): Promise<void> => {
      if (next === state.environment) return;
      show(next);
      await resume();
    },
    /** Adopts the sign-in of a link or passkey, in its environment, and notifies the other tabs. */
    signedIn: (answer: SignedIn, into: Environment): void => {
      if (into !== state.environment) show(chosen(into));
      adopt(answer);
      channel.postMessage(into);
    },
    /**
     * Signs out here and in the API. If the API does not answer, it throws, and the sign-in stays.
     */
    signOut: async (): Promise<void> => {
      await state.client.identity.logout();
      tokens = null;
      set({ status: 'signed-out', account: null });
      channel.postMessage(state.environment);
    },
    /** The id of the sign-in, which changes with a fresh sign-in. Null when signed out. */
    signInId: (): string | null => (tokens === null ? null : claimsOf(tokens.access_token).sid),
    /** For manual calls of the API; valid for some minutes. Null when signed out. */
    accessToken: (): string | null => tokens?.access_token ?? null,
  };
};

export const session = createStore();

/** Switches the console to the other environment. */
export const chooseEnvironment = (next: Environment): Promise<void> => session.switchTo(chosen(next));

const SIGNED_IN_KEY = 'quittance.signed-in';
session.subscribe(() => {
  const { status } = session.get();
  if (status === 'signed-in') localStorage.setItem(SIGNED_IN_KEY, 'yes');
  if (status === 'signed-out') localStorage.removeItem(SIGNED_IN_KEY);
});

/** Whether this browser had a sign-in when it was last used: a hint for the first picture. */
export const wasSignedIn = (): boolean => localStorage.getItem(SIGNED_IN_KEY) === 'yes';
