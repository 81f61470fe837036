import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { UnauthorizedError } from '../../../sdk/src/main.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { toast } from '../ui/toast.tsx';
import { mailedLink } from './mailed-link.ts';
import { session } from './store.ts';
import { useSession } from './use-session.tsx';

/** Where a sign-in link leads: opening it uses nothing up, the click does. */
const LinkPage = () => {
  const { client, status, account } = useSession();
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    document.title = 'Sign in · Quittance';
  }, []);

  if (mailedLink === null) return <OpenTheLink />;
  const { token, environment } = mailedLink;
  const signIn = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await client.identity.verifyMagicLink({ token, refresh_in: 'cookie' });
      session.signedIn(answer, environment);
      toast(`Signed in as ${answer.account.email}.`);
      navigate('/', { replace: true });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  if (error instanceof UnauthorizedError) return <LinkIsGone />;
  return (
    <div className="section stack">
      <h1>Sign in</h1>
      <p>
        You followed a sign-in link for the <strong>{environment}</strong> environment. It works once, for 15
        minutes after it was sent.
      </p>
      {account !== null && <p className="quiet">It takes the place of your sign-in as {account.email}.</p>}
      {/* The cookie is one: an answer about the old sign-in must not overtake the new one. */}
      <Button
        variant="primary"
        busy={status === 'resuming' ? 'One moment…' : busy && 'Signing in…'}
        onPress={() => void signIn()}
      >
        Sign in
      </Button>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
};
export default LinkPage;

/** For a page of a mailed link that was opened without one, or with half of one. */
export const OpenTheLink = () => (
  <div className="section stack">
    <h1>Open the link from your mail</h1>
    <p>
      This page needs the whole link that was sent to you. Part of it may have been lost on the way: copy all
      of it.
    </p>
    <LinkButton to="/" variant="primary">
      To the console
    </LinkButton>
  </div>
);

/** For one that the API does not take any more. */
export const LinkIsGone = () => (
  <div className="section stack">
    <h1>This link no longer works</h1>
    <p>It was used already, is older than 15 minutes, or a newer link was sent. Ask for a new one.</p>
    <LinkButton to="/" variant="primary">
      To the console
    </LinkButton>
  </div>
);
