import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useAction } from '../lib/data.ts';
import { Ago, Badge, Button, ConfirmDialog, Empty, Section, Table, Time, toast } from '../ui/index.ts';

type SignIn = Output<'identity.listSessions'>['data'][number];
const HOW = { email: 'Link by mail', passkey: 'Passkey', device: 'Device' };

/** The open sign-ins of this account. Each can be revoked here. */
export const SignIns = ({ sessions }: { sessions: Items<SignIn> }) => {
  const [ended, setEnded] = useState<SignIn | null>(null);
  const end = useAction((client, session_id: string) => client.identity.deleteSession({ session_id }), {
    changes: [['sessions']],
    done: () => toast('That sign-in is revoked.'),
  });
  return (
    <Section
      title="Open sign-ins"
      about="A sign-in does what this console does: it reads everything, pays within the limits of your account, and changes keys and payouts after a fresh sign-in. It cannot sign for a wallet, so it withdraws nothing. Revoke those that you do not recognise: this takes effect at once."
    >
      <Table
        label="Open sign-ins"
        items={sessions}
        waiting="Loading your sign-ins…"
        keyOf={({ session_id }) => session_id}
        empty={<Empty title="No open sign-in" />}
        columns={[
          {
            heading: 'How',
            show: ({ method, client_name, current }) => (
              <>
                {HOW[method]} {client_name !== null && `“${client_name}” `}
                {current && <Badge state="this one" tone="good" />}
              </>
            ),
          },
          { heading: 'Signed in', show: ({ signed_in_at }) => <Ago at={signed_in_at} /> },
          { heading: 'Last used', show: ({ last_refreshed_at }) => <Ago at={last_refreshed_at} /> },
          { heading: 'Ends', show: ({ expires_at }) => <Time at={expires_at} date /> },
          {
            heading: '',
            align: 'end',
            show: (each) =>
              each.current ? null : (
                <Button size="small" variant="quiet" onPress={() => setEnded(each)}>
                  Revoke
                </Button>
              ),
          },
        ]}
      />
      <ConfirmDialog
        title="Revoke this sign-in?"
        confirm="Revoke it"
        doing="Ending…"
        isOpen={ended !== null}
        onClose={() => setEnded(null)}
        onConfirm={() => end.runOrThrow(ended!.session_id)}
      >
        Whoever uses it is signed out at once. It can sign in again by mail, by passkey, or by a code that you
        confirm.
      </ConfirmDialog>
    </Section>
  );
};
