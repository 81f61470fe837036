import { type FormEvent, useEffect, useState } from 'react';
import { useRead } from '../api/data.ts';
import { signInWithPasskey } from '../api/passkeys.ts';
import { session } from '../api/store.ts';
import { useAttempt } from '../api/use-attempt.ts';
import { useSession } from '../api/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { hereOrder, keepOrder } from './waiting-order.ts';

/** Where the mails of this machine are shown. Null where mails are delivered. */
const useCaughtMail = (): string | null =>
  useRead(['caught-mail'], async (client, options) => {
    const { caught_mail_url } = await client.gateway.environments({}, options);
    // A URL of an answer must never become a script.
    return /^https?:/.test(caught_mail_url ?? '') ? caught_mail_url : null;
  }).data ?? null;

/** How often the page asks whether the link was used, while it is visible. */
const FOLLOW_MS = 3000;

/**
 * Whether another browser has used the link that this page requested.
 * @param times how many links it has requested
 */
const useUsedElsewhere = (times: number): boolean => {
  const { environment } = useSession();
  const { data } = useRead(
    ['sign-in-link', environment, times],
    (client, options) => client.identity.followMagicLink({ environment }, options),
    { every: (now) => (now?.status === 'used_elsewhere' ? false : FOLLOW_MS) },
  );
  return data?.status === 'used_elsewhere';
};

/** What happened to a link that was opened in another browser than this one. */
const UsedElsewhere = () => (
  <Notice tone="wait" title="You are signed in on your other device or browser">
    {hereOrder() === undefined
      ? 'The link was opened there. To sign in here too, request a new link and open it in this browser.'
      : 'The link was opened there, and your payment continues there. Look there before you pay here: to ' +
        'do that, request a new link and open it in this browser.'}
  </Notice>
);

const LinkSent = ({ to, times }: { to: string; times: number }) => {
  const caughtMail = useCaughtMail();
  if (useUsedElsewhere(times)) return <UsedElsewhere />;
  return (
    <Notice tone="good" title="Check your e-mail">
      We sent a link to {to}. It works once, for 15 minutes. Open it in this browser to sign in right away, or
      on another device to continue there.
      {caughtMail !== null && (
        <>
          {' '}
          This machine delivers no e-mail:{' '}
          <a href={`${caughtMail}/?to=${encodeURIComponent(to)}`} target="_blank" rel="noreferrer">
            open the caught e-mail
          </a>
          .
        </>
      )}
    </Notice>
  );
};

/** The form that signs in by passkey or by a mailed link. */
const SignInForm = () => {
  const { environment, status, client } = useSession();
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [sent, setSent] = useState(0);
  const { busy, error, attempt } = useAttempt();
  const mail = (event: FormEvent) => {
    event.preventDefault();
    const to = email.trim();
    void attempt('mail', async () => {
      const continue_to = hereOrder();
      await client.identity.requestMagicLink({
        email: to,
        environment,
        ...(continue_to !== undefined && { continue_to }),
      });
      keepOrder(environment, 'sign-in');
      setSentTo(to);
      setSent((times) => times + 1);
    });
  };
  return (
    <>
      {status === 'ended' && (
        <Notice tone="wait">Your session has ended. Sign in again to return to this page.</Notice>
      )}
      {sentTo !== null && <LinkSent to={sentTo} times={sent} />}
      <form className="stack" onSubmit={mail}>
        <TextField
          label="E-mail"
          type="email"
          autoComplete="email"
          value={email}
          onChange={setEmail}
          isRequired
          hint={`New here? We create a ${environment} account for this address.`}
        />
        <Button type="submit" variant="primary" busy={busy === 'mail' && 'Sending a link…'}>
          {sentTo === null ? 'Mail me a link' : 'Mail me a new link'}
        </Button>
      </form>
      <p className="quiet">or</p>
      <Button
        busy={busy === 'passkey' && 'Waiting for your passkey…'}
        onPress={() => void attempt('passkey', signInWithPasskey)}
      >
        Sign in with a passkey
      </Button>
      {error !== null && <ErrorNotice error={error} />}
    </>
  );
};

const TryAgain = () => (
  <Button variant="primary" onPress={() => void session.resume()}>
    Try again
  </Button>
);

/** The form on the page of a payment, which has a heading of its own. */
export const SignInToPay = () =>
  useSession().status === 'unreachable' ? (
    <div className="stack">
      <Notice tone="bad">Quittance cannot be reached. Check your connection, then try again.</Notice>
      <TryAgain />
    </div>
  ) : (
    <div className="stack">
      <SignInForm />
    </div>
  );

/** It is shown instead of the requested page of the console. */
export const SignInPage = () => {
  const { status } = useSession();
  useEffect(() => {
    document.title = 'Sign in · Quittance';
  }, []);
  if (status === 'unreachable') {
    return (
      <div className="section stack">
        <h1>Quittance cannot be reached</h1>
        <p>Check your connection, then try again.</p>
        <TryAgain />
      </div>
    );
  }
  return (
    <div className="section stack">
      <div>
        <h1>Sign in to Quittance</h1>
        <p className="quiet">
          Payments for APIs and agents, in USDC: sell an API per request, or give a program a budget.{' '}
          <a href="/docs">Read the docs</a>
        </p>
      </div>
      <SignInForm />
    </div>
  );
};
