import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useAction } from '../api/data.ts';
import { Ago, Badge, Button, ConfirmDialog, Empty, Section, Table, Time, toast } from '../ui/index.ts';

type SignIn = Output<'identity.listSessions'>['data'][number];
const namesOf = (delegates: SignIn['delegates']): string =>
  delegates.map(({ name }) => `“${name}”`).join(', ');
const HOW = { email: 'Mailed link', passkey: 'Passkey', device: 'Device' };

/**
 * The open sign-ins of this account, and ended ones of devices whose delegates work. Each can be
 * revoked here, with its delegates.
 */
export const SignIns = ({ sessions }: { sessions: Items<SignIn> }) => {
  const [ended, setEnded] = useState<SignIn | null>(null);
  const end = useAction((client, session_id: string) => client.identity.deleteSession({ session_id }), {
    changes: [['sessions'], ['delegates']],
    done: () => toast('Session revoked.'),
  });
  return (
    <Section
      title="Sessions"
      about="A session can do everything in this console except sign for your wallet. A device can read, pay, and create agents with limits. Revoke those you do not recognise."
    >
      <Table
        label="Sessions"
        items={sessions}
        waiting="Loading your sessions…"
        keyOf={({ session_id }) => session_id}
        empty={<Empty title="No sessions" />}
        columns={[
          {
            heading: 'Signed in with',
            show: ({ method, client_name, current, open }) => (
              <>
                {HOW[method]} {client_name !== null && `“${client_name}” `}
                {current && <Badge state="current" tone="good" />}
                {!open && <Badge state="ended" />}
              </>
            ),
          },
          { heading: 'Agents', show: ({ delegates }) => namesOf(delegates) },
          { heading: 'Since', show: ({ signed_in_at }) => <Ago at={signed_in_at} /> },
          { heading: 'Last used', show: ({ last_refreshed_at }) => <Ago at={last_refreshed_at} /> },
          { heading: 'Expires', show: ({ expires_at }) => <Time at={expires_at} date /> },
          {
            heading: '',
            align: 'end',
            show: (each) =>
              each.current ? null : (
                <Button size="small" variant="quiet-danger" onPress={() => setEnded(each)}>
                  Revoke
                </Button>
              ),
          },
        ]}
      />
      <ConfirmDialog
        title="Revoke this session?"
        confirm="Revoke session"
        doing="Revoking…"
        isOpen={ended !== null}
        onClose={() => setEnded(null)}
        onConfirm={() => end.runOrThrow(ended!.session_id)}
      >
        <p>
          It is signed out now. To come back it needs a mailed link, a passkey, or a code that you confirm.
        </p>
        {ended !== null && ended.delegates.length > 0 && (
          <p>Its agents are revoked too: {namesOf(ended.delegates)}.</p>
        )}
      </ConfirmDialog>
    </Section>
  );
};
