import {
  type Client,
  createClient,
  type Output,
  type Tokens,
  UnauthorizedError,
} from '../../../sdk/src/main.ts';

/**
 * The sign-in of this page, outside of React. The access token is in memory and the refresh token
 * in a cookie that no script can read (docs/spec/decisions.md, Sign-in). The two environments are
 * separate accounts: one of them is shown, and switching signs into the other by its own cookie.
 */

export type Environment = 'test' | 'live';
export type Account = { account_id: string; email: string };
export type SessionState = {
  environment: Environment;
  /**
   * `resuming`: asking whether the cookie still holds a sign-in; `unreachable`: nobody answered that; `ended`: it was
   * good when the page last looked, and is not now.
   */
  status: 'resuming' | 'unreachable' | 'signed-out' | 'ended' | 'signed-in';
  account: Account | null;
  client: Client;
};
type SignedIn = Output<'identity.verifyMagicLink'>;

const REFRESH_PATH = '/v1/auth/refresh';
const ENVIRONMENT_KEY = 'quittance.environment';
const channel = new BroadcastChannel('quittance-session');

/** What a token says of its account and sign-in. The page decides nothing by it that the API does not decide again. */
const claimsOf = (token: string): { sub: string; sid: string } => {
  const payload = token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/');
  return JSON.parse(atob(payload)) as { sub: string; sid: string };
};

/** Another tab signed into another account meanwhile: the call is not made in that one's name. */
export class OtherAccountError extends Error {
  override readonly name = 'OtherAccountError';
  constructor() {
    super('another account was signed in meanwhile; nothing was sent');
  }
}

const storedEnvironment = (): Environment =>
  localStorage.getItem(ENVIRONMENT_KEY) === 'live' ? 'live' : 'test';

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
      // The refresh token is good once, and all tabs share it: one exchange at a time, so that none is taken for theft.
      fetch: async (url, init) =>
        url.endsWith(REFRESH_PATH)
          ? await navigator.locks.request(`quittance-refresh-${environment}`, () => fetch(url, init))
          : await fetch(url, init),
    });

  /**
   * Takes up a sign-in. The one that it takes the place of is ended: its refresh token was in the cookie, and is nowhere
   * any more.
   */
  const adopt = ({ access_token, account }: Pick<SignedIn, 'access_token' | 'account'>) => {
    const before = tokens;
    tokens = { access_token };
    set({ status: 'signed-in', account });
    if (before === null) return;
    const [old, now] = [claimsOf(before.access_token), claimsOf(access_token)];
    // It ends by itself in time where this fails.
    if (old.sub === now.sub && old.sid !== now.sid)
      void state.client.identity.deleteSession({ session_id: old.sid }).catch(() => undefined);
  };

  /** Signs in by the cookie, where it holds a sign-in. */
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
    localStorage.setItem(ENVIRONMENT_KEY, environment);
    set({ environment, client: clientOf(environment), status: 'resuming', account: null });
  };

  const environment = storedEnvironment();
  state = { environment, client: clientOf(environment), status: 'resuming', account: null };
  // What another tab did to the cookie that both share: it signed in, or out.
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
    /** Shows the other environment, signed in where its cookie still holds a sign-in. */
    switchTo: async (next: Environment): Promise<void> => {
      if (next === state.environment) return;
      show(next);
      await resume();
    },
    /** Takes up what a link or passkey answered, in its environment, and tells the other tabs. */
    signedIn: (answer: SignedIn, into: Environment): void => {
      if (into !== state.environment) show(into);
      adopt(answer);
      channel.postMessage(into);
    },
    /** Ends the sign-in here and in the API; when nobody answers, the caller is told and stays signed in. */
    signOut: async (): Promise<void> => {
      await state.client.identity.logout();
      tokens = null;
      set({ status: 'signed-out', account: null });
      channel.postMessage(state.environment);
    },
    /** Which sign-in this is: another one after a fresh sign-in. Null when signed out. */
    signInId: (): string | null => (tokens === null ? null : claimsOf(tokens.access_token).sid),
    /** For a person who tries the API by hand; good for some minutes. Null when signed out. */
    accessToken: (): string | null => tokens?.access_token ?? null,
  };
};

export const session = createStore();
