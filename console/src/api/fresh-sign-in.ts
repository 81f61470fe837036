import { useSyncExternalStore } from 'react';
import { ReauthenticationRequiredError } from '../../../sdk/src/main.ts';
import { session } from './store.ts';

/**
 * Step-up (docs/spec/decisions.md, Sign-in): sensitive actions need a sign-in of the last five
 * minutes, so that a stolen or unattended page cannot do them.
 */

/** The person closed the dialog. */
export class NotConfirmedError extends Error {
  override readonly name = 'NotConfirmedError';
  constructor() {
    super('You did not confirm, so nothing was changed.');
  }
}

export type Asked = { accountId: string; signInId: string | null; settle: (error: Error | null) => void };
let asked: Asked | null = null;
const listeners = new Set<() => void>();
const set = (next: Asked | null) => {
  asked = next;
  for (const listener of listeners) listener();
};
const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

const askForSignIn = () =>
  new Promise<void>((resolve, reject) => {
    const accountId = session.get().account?.account_id;
    if (accountId === undefined || asked !== null) return reject(new NotConfirmedError());
    set({
      accountId,
      signInId: session.signInId(),
      settle: (error) => {
        set(null);
        if (error === null) resolve();
        else reject(error);
      },
    });
  });

/**
 * Runs a call. If the API requires a fresh sign-in, it asks the user for one and runs the call once
 * more, only in the same account.
 * @throws what the call throws; NotConfirmedError if the user did not sign in again
 */
export const withFreshSignIn = async <T>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ReauthenticationRequiredError)) throw error;
    await askForSignIn();
    return run();
  }
};

/** The sign-in that a call waits for. Null: none does. */
export const useAskedSignIn = (): Asked | null => useSyncExternalStore(subscribe, () => asked);
