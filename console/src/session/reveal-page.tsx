import { useEffect, useState } from 'react';
import { type Output, UnauthorizedError } from '../../../sdk/src/main.ts';
import { mailedLink } from '../api/mailed-link.ts';
import { useSession } from '../api/use-session.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorNotice } from '../ui/error-notice.tsx';
import { Copyable } from '../ui/show.tsx';
import { LinkIsGone, OpenTheLink } from './link-page.tsx';
import { OldKeyEnds } from './old-key-ends.tsx';

type Made = Output<'identity.verifyServiceReveal'> | Output<'identity.verifyDelegateReveal'>;

/** The object of the key. Only these two formats are used in the path of a call. */
const serviceId = /^[0-9a-f-]{36}$/.exec(mailedLink?.query.get('service') ?? '')?.[0];
const delegateId = /^del_[0-9a-z]{26}$/.exec(mailedLink?.query.get('delegate') ?? '')?.[0];

/**
 * The page of a mailed link to a new key. The click creates the key, which is shown once. It needs
 * no sign-in.
 */
const RevealPage = () => {
  const { client } = useSession();
  const [made, setMade] = useState<Made | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    document.title = 'New key · Quittance';
  }, []);

  if (mailedLink === null || (serviceId ?? delegateId) === undefined) return <OpenTheLink />;
  const { token, environment } = mailedLink;
  const reveal = async () => {
    setBusy(true);
    setError(null);
    try {
      setMade(
        serviceId === undefined
          ? await client.identity.verifyDelegateReveal({ delegate_id: delegateId!, token })
          : await client.identity.verifyServiceReveal({ service_id: serviceId, token }),
      );
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  if (error instanceof UnauthorizedError) return <LinkIsGone />;
  if (made !== null) {
    return (
      <div className="section stack">
        <h1>Your new key</h1>
        <Copyable block label="the key" text={made.api_key} />
        <p>You will not see this key again.</p>
        <OldKeyEnds at={made.previous_key_expires_at} />
      </div>
    );
  }
  return (
    <div className="section stack">
      <h1>Show a new key</h1>
      <p>
        You requested a new key for <code>{serviceId ?? delegateId}</code> ({environment}).
      </p>
      <Button variant="primary" busy={busy && 'Creating the key…'} onPress={() => void reveal()}>
        Create and show the key
      </Button>
      <p className="quiet">The link works once, for 15 minutes. The new key replaces the current one.</p>
      {error !== null && <ErrorNotice error={error} />}
    </div>
  );
};
export default RevealPage;
