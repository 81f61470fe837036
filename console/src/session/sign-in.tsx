import { type FormEvent, useEffect, useState } from 'react';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { TextField } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { signInWithPasskey } from './passkeys.ts';
import { session } from './store.ts';
import { useSession } from './use-session.tsx';

/** Signs in by passkey or by a mailed link. It is shown instead of the requested page. */
export const SignInPage = () => {
  const { environment, status, client } = useSession();
  const [email, setEmail] = useState('');
  const [sentTo, setSentTo] = useState<string | null>(null);
  const [busy, setBusy] = useState<'passkey' | 'mail' | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    document.title = 'Sign in · Quittance';
  }, []);

  const attempt = async (how: 'passkey' | 'mail', work: () => Promise<unknown>) => {
    setBusy(how);
    setError(null);
    try {
      await work();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(null);
    }
  };
  const mail = (event: FormEvent) => {
    event.preventDefault();
    const to = email.trim();
    void attempt('mail', async () => {
      await client.identity.requestMagicLink({ email: to, environment });
      setSentTo(to);
    });
  };
  if (status === 'unreachable') {
    return (
      <div className="section stack">
        <h1>The system does not answer</h1>
        <p>The console could not check whether you are signed in.</p>
        <Button variant="primary" onPress={() => void session.resume()}>
          Try again
        </Button>
      </div>
    );
  }
  return (
    <div className="section stack">
      <h1>Sign in</h1>
      {status === 'ended' && (
        <Notice tone="wait">Your sign-in has ended. After a new sign-in this page is shown again.</Notice>
      )}
      {sentTo !== null && (
        <Notice tone="good" title="Check your mail">
          A link is on its way to {sentTo}. It works once, for 15 minutes. Open it in this browser, because
          another browser asks for a confirmation.
        </Notice>
      )}
      <form className="stack" onSubmit={mail}>
        <TextField
          label="E-mail"
          type="email"
          autoComplete="email"
          value={email}
          onChange={setEmail}
          isRequired
          hint={`A new address gets an account in the ${environment} environment.`}
        />
        <Button type="submit" variant="primary" busy={busy === 'mail' && 'Sending a link…'}>
          {sentTo === null ? 'Mail me a link' : 'Mail me a new link'}
        </Button>
      </form>
      <p className="quiet">Or, if you have created one here:</p>
      <Button
        busy={busy === 'passkey' && 'Waiting for your passkey…'}
        onPress={() => void attempt('passkey', signInWithPasskey)}
      >
        Sign in with a passkey
      </Button>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
};
