import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useAction } from '../lib/data.ts';
import { Ago, Badge, Button, ConfirmDialog, Empty, Section, Table, Time, toast } from '../ui/index.ts';

type SignIn = Output<'identity.listSessions'>['data'][number];
const namesOf = (delegates: SignIn['delegates']): string =>
  delegates.map(({ name }) => `“${name}”`).join(', ');
const HOW = { email: 'Link by mail', passkey: 'Passkey', device: 'Device' };

/**
 * The open sign-ins of this account, and ended ones of devices whose delegates work. Each can be
 * revoked here, with its delegates.
 */
export const SignIns = ({ sessions }: { sessions: Items<SignIn> }) => {
  const [ended, setEnded] = useState<SignIn | null>(null);
  const end = useAction((client, session_id: string) => client.identity.deleteSession({ session_id }), {
    changes: [['sessions'], ['delegates']],
    done: () => toast('That sign-in is revoked.'),
  });
  return (
    <Section
      title="Open sign-ins"
      about="A sign-in does what this console does: it reads everything, pays within the limits of your account, and changes keys and payouts after a fresh sign-in. It cannot sign for a wallet, so it withdraws nothing. A device reads, pays, and makes delegates with limits only. Revoke those that you do not recognise: this takes effect at once."
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
            show: ({ method, client_name, current, open }) => (
              <>
                {HOW[method]} {client_name !== null && `“${client_name}” `}
                {current && <Badge state="this one" tone="good" />}
                {!open && <Badge state="ended" />}
              </>
            ),
          },
          { heading: 'Its delegates', show: ({ delegates }) => namesOf(delegates) },
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
        <p>
          Whoever uses it is signed out at once. It can sign in again by mail, by passkey, or by a code that
          you confirm.
        </p>
        {ended !== null && ended.delegates.length > 0 && (
          <p>Its delegates end with it, and their keys are refused at once: {namesOf(ended.delegates)}.</p>
        )}
      </ConfirmDialog>
    </Section>
  );
};
