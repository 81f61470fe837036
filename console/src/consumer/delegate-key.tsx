import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { useAction } from '../lib/data.ts';
import {
  Button,
  Copyable,
  Dialog,
  DialogActions,
  ErrorNotice,
  Notice,
  Stack,
  Switch,
  Time,
  toast,
} from '../ui/index.ts';
import type { Delegate } from './delegate-form.ts';

/** TypeScript that pays with the key; `perPayment` in micro-units as the API sends it. */
const snippetOf = (apiKey: string, perPayment: string | null): string =>
  [
    "import { payingFetch } from '@quittance/sdk/pay';",
    '',
    'const pay = payingFetch(fetch, {',
    `  baseUrl: '${location.origin}',`,
    `  delegateKey: '${apiKey}',`,
    `  maxAmount: ${perPayment ?? '100000'}n, // of one payment, micro-units`,
    '});',
    "const answer = await pay('https://api.example.com/report');",
  ].join('\n');

/** Shows a key once. The key is only in this component's props. */
export const KeyShown = ({
  apiKey,
  perPayment,
  onClose,
  children,
}: {
  /** Null if the answer with the key was lost. */
  apiKey: string | null;
  perPayment: string | null;
  onClose: () => void;
  children?: React.ReactNode;
}) => (
  <Stack>
    {apiKey === null ? (
      <Notice tone="wait" title="The answer with the key was lost">
        It is not stored, so it cannot be shown again. Close this and choose “New key”.
      </Notice>
    ) : (
      <>
        <p>
          It is shown only once and is not stored. Put it where your program reads its secrets, not into its
          source code.
        </p>
        <Copyable block label="the key" text={apiKey} />
        <h3>A fetch that pays with it</h3>
        <Copyable block label="the snippet" text={snippetOf(apiKey, perPayment)} />
      </>
    )}
    {children}
    <DialogActions>
      <Button variant="primary" onPress={onClose}>
        {apiKey === null ? 'Close' : 'I have stored it'}
      </Button>
    </DialogActions>
  </Stack>
);

type Rotated = Output<'identity.rotateDelegateKey'>;

/** Replaces the key at once, or by a link that is mailed to the account. */
export const NewKeyOf = ({ delegate, onClose }: { delegate: Delegate; onClose: () => void }) => {
  const { delegate_id, name, limits } = delegate;
  const [atOnce, setAtOnce] = useState(false);
  const [made, setMade] = useState<Rotated | null>(null);
  const rotate = useAction(
    (client, revoke_previous: boolean) => client.identity.rotateDelegateKey({ delegate_id, revoke_previous }),
    { done: setMade },
  );
  const mail = useAction(
    (client, revoke_previous: boolean) => client.identity.revealDelegateKey({ delegate_id, revoke_previous }),
    {
      done: () => {
        toast('A link to a new key was mailed to you. It is valid for 15 minutes.');
        onClose();
      },
    },
  );
  const isBusy = rotate.isBusy || mail.isBusy;
  if (made !== null) {
    const ends = made.previous_key_expires_at;
    return (
      <Dialog title={`The new key of “${name}”`} isOpen isFixed wide onClose={onClose}>
        <KeyShown
          apiKey={'api_key' in made ? made.api_key : null}
          perPayment={limits.per_payment}
          onClose={onClose}
        >
          <p className="quiet">
            {ends !== null && new Date(ends) > new Date() ? (
              <>
                The previous key works until <Time at={ends} />.
              </>
            ) : (
              'The previous key is revoked.'
            )}
          </p>
        </KeyShown>
      </Dialog>
    );
  }
  return (
    <Dialog title={`A new key for “${name}”`} isOpen isFixed={isBusy} onClose={onClose}>
      <Stack>
        <p>
          Limits and spending do not change. The present key works for its grace period, so that your program
          can switch to the new one.
        </p>
        <Switch isSelected={atOnce} onChange={setAtOnce} isDisabled={isBusy}>
          Revoke the present key at once
        </Switch>
        {rotate.error !== null && <ErrorNotice error={rotate.error} />}
        {mail.error !== null && <ErrorNotice error={mail.error} />}
        <DialogActions>
          <Button onPress={onClose} isDisabled={isBusy}>
            Cancel
          </Button>
          <Button
            isDisabled={rotate.isBusy}
            busy={mail.isBusy && 'Sending…'}
            onPress={() => void mail.run(atOnce)}
          >
            Mail me a link to it
          </Button>
          <Button
            variant="primary"
            isDisabled={mail.isBusy}
            busy={rotate.isBusy && 'Creating the key…'}
            onPress={() => void rotate.run(atOnce)}
          >
            Show it here
          </Button>
        </DialogActions>
      </Stack>
    </Dialog>
  );
};
