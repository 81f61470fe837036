import { useCallback, useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { type Output, UnauthorizedError } from '../../../sdk/src/main.ts';
import { mailedLink } from '../api/mailed-link.ts';
import { session } from '../api/store.ts';
import { useSession } from '../api/use-session.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Loading, Row } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { isOrder } from './order-address.ts';
import { continueOrder, waitingOrder } from './waiting-order.ts';

type Opened = Output<'identity.readMagicLink'>;

/**
 * The payment that goes on after the sign-in: that of this browser, or the one that the link was
 * requested for elsewhere. In another browser the person has confirmed the account before.
 */
const orderOf = ({ same_browser, continue_to }: Opened, environment: 'test' | 'live'): string | null => {
  const here = same_browser ? waitingOrder(environment, 'sign-in') : null;
  return here ?? (isOrder(continue_to) ? continue_to : null);
};

/**
 * The page of a sign-in link. Opening it consumes nothing and shows the account; the click signs
 * in. An attacker could send his own link to another person, who would then link a wallet and pay
 * in the attacker's account. So the user confirms the account if this browser did not request the
 * link.
 */
const LinkPage = () => {
  const { client, status, account } = useSession();
  const [, navigate] = useLocation();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const read = useCallback(async () => {
    if (mailedLink === null) return;
    setError(null);
    try {
      setOpened(await client.identity.readMagicLink({ token: mailedLink.token }));
    } catch (failure) {
      setError(failure);
    }
  }, [client]);
  useEffect(() => {
    document.title = 'Sign in · Quittance';
    void read();
  }, [read]);

  if (mailedLink === null) return <OpenTheLink />;
  if (error instanceof UnauthorizedError) return <LinkIsGone />;
  if (opened === null)
    return (
      <div className="section stack">
        <h1>Sign in</h1>
        {error === null ? (
          <Loading>Reading the link…</Loading>
        ) : (
          <ErrorNotice error={error} retry={() => void read()} />
        )}
      </div>
    );
  const { token, environment } = mailedLink;
  const { email, same_browser } = opened;
  const order = orderOf(opened, environment);
  const signIn = async () => {
    setBusy(true);
    setError(null);
    try {
      const answer = await client.identity.verifyMagicLink({ token, email, refresh_in: 'cookie' });
      session.signedIn(answer, environment);
      if (order !== null) return continueOrder(order);
      toast(`Signed in as ${answer.account.email}.`);
      navigate('/', { replace: true });
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <div className="section stack">
      <h1>{same_browser ? 'Sign in' : 'Is this your account?'}</h1>
      <p>
        {same_browser ? 'You requested a link to sign in as ' : 'This link signs in as '}
        <strong>{email}</strong> ({environment}). It works once, for 15 minutes.
      </p>
      {!same_browser && <OtherBrowser />}
      {order !== null && <p>Then your payment continues here.</p>}
      {account !== null && <p className="quiet">This replaces your sign-in as {account.email}.</p>}
      <Row>
        {/* The cookie is one: an answer about the old sign-in must not overtake the new one. */}
        <Button
          variant={same_browser ? 'primary' : 'plain'}
          busy={status === 'resuming' ? 'One moment…' : busy && 'Signing in…'}
          onPress={() => void signIn()}
        >
          {same_browser ? 'Sign in' : `Sign in here as ${email}`}
        </Button>
        {!same_browser && (
          <LinkButton to="/" variant="primary">
            Do not sign in
          </LinkButton>
        )}
      </Row>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
};
export default LinkPage;

/** Shown if the page was opened without a link, or with an incomplete one. */
export const OpenTheLink = () => (
  <div className="section stack">
    <h1>Open the link from your e-mail</h1>
    <p>Part of the link is missing. Copy the whole link.</p>
    <LinkButton to="/" variant="primary">
      Go to sign-in
    </LinkButton>
  </div>
);

/** Shown if the API refuses the link. */
export const LinkIsGone = () => (
  <div className="section stack">
    <h1>This link no longer works</h1>
    <p>It was already used, is older than 15 minutes, or was replaced by a newer one. Request a new link.</p>
    <LinkButton to="/" variant="primary">
      Go to sign-in
    </LinkButton>
  </div>
);

const OtherBrowser = () => (
  <Notice tone="wait" title="This browser did not request the link">
    If you requested it on another device, sign in here. If somebody else sent it to you, do not use it: you
    would then work in that person’s account.
  </Notice>
);
