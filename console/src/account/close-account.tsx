import { useState } from 'react';
import { useAction } from '../api/data.ts';
import { session } from '../api/store.ts';
import { useSession } from '../api/use-session.tsx';
import { Button, ConfirmDialog, Section, TextField } from '../ui/index.ts';

/** Closes the account for good. The person types the address, so no press does it by accident. */
export const CloseAccount = () => {
  const { account } = useSession();
  const [isAsking, setAsking] = useState(false);
  const [text, setText] = useState('');
  const close = useAction(
    async (client) => {
      if (text.trim() !== account?.email) throw new Error('Type the e-mail address of this account first.');
      return client.identity.closeAccount();
    },
    // The sign-in has ended with the account.
    { done: () => void session.resume() },
  );
  return (
    <Section
      title="Close account"
      about="This cannot be reversed. Download your data first. An account with open payments, or with money in a wallet that was created here, cannot be closed."
    >
      <Button variant="danger" onPress={() => setAsking(true)}>
        Close account
      </Button>
      <ConfirmDialog
        title="Close this account?"
        confirm="Close account"
        doing="Closing…"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => close.runOrThrow(undefined)}
      >
        <p>
          All sessions, passkeys, services, agents and keys end now, and your personal data are erased in 30
          days. Money in a linked wallet stays there. A wallet that was created here loses its backup, so
          withdraw its money first.
        </p>
        <TextField
          label="Your e-mail address"
          hint={account?.email}
          value={text}
          onChange={setText}
          autoComplete="off"
        />
      </ConfirmDialog>
    </Section>
  );
};
