import { useEffect, useState } from 'react';
import { type Asked, NotConfirmedError, useAskedSignIn } from '../api/fresh-sign-in.ts';
import { signInWithPasskey } from '../api/passkeys.ts';
import { OtherAccountError, session } from '../api/store.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Notice } from '../ui/notice.tsx';
import { keepOrder } from './waiting-order.ts';

/** The dialog of `withFreshSignIn`. The frame renders it once per page. */
export const StepUpDialog = () => {
  const now = useAskedSignIn();
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
    keepOrder(environment, 'sign-in');
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
