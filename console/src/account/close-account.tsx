import { useState } from 'react';
import { useAction } from '../lib/data.ts';
import { session } from '../session/store.ts';
import { useSession } from '../session/use-session.tsx';
import { Button, ConfirmDialog, Section, TextField } from '../ui/index.ts';

/** Closes the account for good. The person types the address, so no press does it by accident. */
export const CloseAccount = () => {
  const { account } = useSession();
  const [isAsking, setAsking] = useState(false);
  const [text, setText] = useState('');
  const close = useAction(
    async (client) => {
      if (text.trim() !== account?.email) throw new Error('Type the address of this account first.');
      return client.identity.closeAccount();
    },
    // The sign-in has ended with the account.
    { done: () => void session.resume() },
  );
  return (
    <Section
      title="Close the account"
      about="Export your data first: quittance account export. While something is open, the account cannot be closed."
    >
      <Button onPress={() => setAsking(true)}>Close the account</Button>
      <ConfirmDialog
        title="Close this account for good?"
        confirm="Close it"
        doing="Closing…"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => close.runOrThrow(undefined)}
      >
        <p>
          Every sign-in, passkey, service, delegate and key ends at once. Money in a linked wallet stays
          there. Move money out of a wallet that was created here first, because its backup is erased.
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
