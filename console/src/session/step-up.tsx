import { useEffect, useState, useSyncExternalStore } from 'react';
import { ReauthenticationRequiredError } from '../../../sdk/src/main.ts';
import { signInWithPasskey } from '../api/passkeys.ts';
import { OtherAccountError, session } from '../api/store.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Notice } from '../ui/notice.tsx';
import { keepOrder } from './waiting-order.ts';

/**
 * Step-up (docs/spec/decisions.md, Sign-in): sensitive actions need a sign-in of the last five
 * minutes, so that a stolen or unattended page cannot do them.
 */

/** The person closed the dialog. */
class NotConfirmedError extends Error {
  override readonly name = 'NotConfirmedError';
  constructor() {
    super('You did not confirm, so nothing was changed.');
  }
}

type Asked = { accountId: string; signInId: string | null; settle: (error: Error | null) => void };
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
export const withFreshSignIn = async <T,>(run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ReauthenticationRequiredError)) throw error;
    await askForSignIn();
    return run();
  }
};

/** The dialog of `withFreshSignIn`. The frame renders it once per page. */
export const StepUpDialog = () => {
  const now = useSyncExternalStore(subscribe, () => asked);
  return now === null ? null : <StepUp asked={now} />;
};

const StepUp = ({ asked: { accountId, signInId, settle } }: { asked: Asked }) => {
  const { busy, error, attempt } = useAttempt();
  const [mailed, setMailed] = useState(false);

  // The new sign-in may come from the passkey here, or from the link in another tab.
  useEffect(
    () =>
      session.subscribe(() => {
        const { account, status } = session.get();
        if (status !== 'signed-in') return;
        if (account?.account_id !== accountId) settle(new OtherAccountError());
        else if (session.signInId() !== signInId) settle(null);
      }) as () => void,
    [accountId, signInId, settle],
  );

  const mail = async () => {
    const { client, environment, account } = session.get();
    await client.identity.requestMagicLink({ email: account?.email ?? '', environment });
    keepOrder(environment);
    setMailed(true);
  };
  return (
    <Dialog title="Confirm it is you" isOpen onClose={() => settle(new NotConfirmedError())}>
      <p>Sign in again to continue.</p>
      {mailed && (
        <Notice tone="wait" title="Check your e-mail">
          Open the link in this browser. This page then continues.
        </Notice>
      )}
      {error !== null && <ErrorNotice error={error} />}
      <DialogActions
        aside={
          <Button
            variant="quiet"
            busy={busy === 'mail' && 'Sending a link…'}
            onPress={() => void attempt('mail', mail)}
          >
            {mailed ? 'Mail me a new link' : 'Mail me a link'}
          </Button>
        }
      >
        <Button onPress={() => settle(new NotConfirmedError())}>Cancel</Button>
        <Button
          variant="primary"
          busy={busy === 'passkey' && 'Waiting for your passkey…'}
          onPress={() => void attempt('passkey', signInWithPasskey)}
        >
          Use a passkey
        </Button>
      </DialogActions>
    </Dialog>
  );
};
