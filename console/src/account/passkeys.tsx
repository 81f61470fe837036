import { type FormEvent, useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useAction } from '../api/data.ts';
import { registerPasskey } from '../api/passkeys.ts';
import {
  Ago,
  Badge,
  Button,
  ConfirmDialog,
  Dialog,
  DialogActions,
  Empty,
  ErrorNotice,
  Section,
  Stack,
  Table,
  TextField,
  toast,
} from '../ui/index.ts';

type Passkey = Output<'identity.listPasskeys'>['data'][number];
const CHANGES = [['passkeys']];

/** Adds and removes the passkeys of this account. The name of a passkey cannot be changed. */
export const Passkeys = ({ passkeys }: { passkeys: Items<Passkey> }) => {
  const [adding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Passkey | null>(null);
  const remove = useAction((client, passkey_id: string) => client.identity.deletePasskey({ passkey_id }), {
    changes: CHANGES,
    done: () => toast('Passkey removed.'),
  });
  return (
    <Section
      title="Passkeys"
      about="Sign in with the lock of your device instead of a mailed link."
      actions={
        <Button variant="primary" size="small" onPress={() => setAdding(true)}>
          Add a passkey
        </Button>
      }
    >
      <Table
        label="Passkeys"
        items={passkeys}
        waiting="Loading your passkeys…"
        keyOf={({ passkey_id }) => passkey_id}
        empty={<Empty title="No passkeys yet">Without one, every sign-in needs a mailed link.</Empty>}
        columns={[
          { heading: 'Name', show: ({ label }) => label },
          {
            heading: 'Stored',
            show: ({ backed_up }) => (
              <Badge state={backed_up ? 'synced between devices' : 'one device'} tone="none" />
            ),
          },
          { heading: 'Added', show: ({ created_at }) => <Ago at={created_at} /> },
          { heading: 'Last used', show: ({ last_used_at }) => <Ago at={last_used_at} /> },
          {
            heading: '',
            align: 'end',
            show: (passkey) => (
              <Button
                size="small"
                variant="quiet-danger"
                aria-label={`Remove ${passkey.label}`}
                onPress={() => setRemoved(passkey)}
              >
                Remove
              </Button>
            ),
          },
        ]}
      />
      {adding && <AddPasskey onClose={() => setAdding(false)} />}
      <ConfirmDialog
        title={`Remove “${removed?.label ?? ''}”?`}
        confirm="Remove passkey"
        doing="Removing…"
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        onConfirm={() => remove.runOrThrow(removed!.passkey_id)}
      >
        It can no longer sign in. Your device lists it until you delete it there. If it is the only passkey of
        a wallet, the wallet then needs its recovery code.
      </ConfirmDialog>
    </Section>
  );
};

const AddPasskey = ({ onClose }: { onClose: () => void }) => {
  const [label, setLabel] = useState('');
  const add = useAction((_client, name: string) => registerPasskey(name), {
    changes: CHANGES,
    done: () => {
      toast('Passkey added.');
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void add.run(label.trim());
  };
  return (
    <Dialog title="Add a passkey" isOpen onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <TextField
            label="Name"
            hint="For example “Laptop” or “Phone”."
            value={label}
            onChange={setLabel}
            maxLength={64}
            isRequired
            autoFocus
          />
          {add.error !== null && <ErrorNotice error={add.error} />}
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" busy={add.isBusy && 'Waiting for your device…'}>
              Continue
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};
