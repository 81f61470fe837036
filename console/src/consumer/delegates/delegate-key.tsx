import { useState } from 'react';
import type { Output } from '../../../../sdk/src/main.ts';
import { useAction } from '../../api/data.ts';
import { OldKeyEnds } from '../../session/old-key-ends.tsx';
import {
  Button,
  Code,
  Copyable,
  Dialog,
  DialogActions,
  ErrorNotice,
  Notice,
  Stack,
  Switch,
  toast,
} from '../../ui/index.ts';
import type { Delegate } from './delegate-form.ts';

/** The lines for a shell. The command line and the MCP server read the same variables. */
const shellOf = (apiKey: string): string =>
  [`export QUITTANCE_URL=${location.origin}`, `export DELEGATE_KEY=${apiKey}`].join('\n');

/**
 * TypeScript that pays with the key, which it reads from the environment. `perPayment` is in
 * micro-units as the API sends it.
 */
const snippetOf = (perPayment: string | null): string =>
  [
    "import { payingFetch } from '@quittance/sdk/pay';",
    '',
    'const pay = payingFetch(fetch, {',
    '  baseUrl: process.env.QUITTANCE_URL!,',
    '  delegateKey: process.env.DELEGATE_KEY!,',
    `  maxAmount: ${perPayment ?? '100000'}n, // per payment, in micro-units`,
    '});',
    "const answer = await pay('https://api.example.com/report');",
    'console.log(answer.status, await answer.text());',
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
        The key is not stored, so it cannot be shown again. Close this and choose “New key”.
      </Notice>
    ) : (
      <>
        <p>
          You will not see this key again. Store it with the secrets of your program, not in its source code.
        </p>
        <Copyable block label="the key" text={apiKey} />
        <Code label="In your shell, for the CLI and the MCP server too" text={shellOf(apiKey)} />
        <Code label="In your code (TypeScript)" text={snippetOf(perPayment)} />
      </>
    )}
    {children}
    <DialogActions>
      <Button variant="primary" onPress={onClose}>
        {apiKey === null ? 'Close' : 'I saved it'}
      </Button>
    </DialogActions>
  </Stack>
);

type Rotated = Output<'identity.rotateDelegateKey'>;

const NewKeyShown = ({
  of: { name, limits },
  made,
  onClose,
}: {
  of: Delegate;
  made: Rotated;
  onClose: () => void;
}) => {
  return (
    <Dialog title={`New key of “${name}”`} isOpen isFixed wide onClose={onClose}>
      <KeyShown
        apiKey={'api_key' in made ? made.api_key : null}
        perPayment={limits.per_payment}
        onClose={onClose}
      >
        <OldKeyEnds at={made.previous_key_expires_at} />
      </KeyShown>
    </Dialog>
  );
};

/** Replaces the key at once, or by a link that is mailed to the account. */
export const NewKeyOf = ({ delegate, onClose }: { delegate: Delegate; onClose: () => void }) => {
  const { delegate_id, name } = delegate;
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
        toast('We mailed you a link to the new key. It works for 15 minutes.');
        onClose();
      },
    },
  );
  const isBusy = rotate.isBusy || mail.isBusy;
  if (made !== null) return <NewKeyShown of={delegate} made={made} onClose={onClose} />;
  return (
    <Dialog title={`New key for “${name}”`} isOpen isFixed={isBusy} onClose={onClose}>
      <Stack>
        <p>
          Limits and spending stay. The current key keeps working for its grace period, so that your program
          can switch.
        </p>
        <Switch isSelected={atOnce} onChange={setAtOnce} isDisabled={isBusy}>
          Revoke the current key now
        </Switch>
        {rotate.error !== null && <ErrorNotice error={rotate.error} />}
        {mail.error !== null && <ErrorNotice error={mail.error} />}
        <DialogActions
          aside={
            <Button
              variant="quiet"
              isDisabled={rotate.isBusy}
              busy={mail.isBusy && 'Sending…'}
              onPress={() => void mail.run(atOnce)}
            >
              Mail me a link instead
            </Button>
          }
        >
          <Button onPress={onClose} isDisabled={isBusy}>
            Cancel
          </Button>
          <Button
            variant="primary"
            isDisabled={mail.isBusy}
            busy={rotate.isBusy && 'Creating the key…'}
            onPress={() => void rotate.run(atOnce)}
          >
            Create and show the key
          </Button>
        </DialogActions>
      </Stack>
    </Dialog>
  );
};
