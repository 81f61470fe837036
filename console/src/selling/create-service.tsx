import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { useAction } from '../api/data.ts';
import { Button, Dialog, DialogActions, toast } from '../ui/index.ts';
import { NewKeyDialog } from './new-key.tsx';
import { type FirstDraft, ServiceForm, type Settings } from './service-form.tsx';

type Created = Output<'identity.createService'>;

/**
 * Creates a service, then shows its key once.
 * @param first what the form has already
 * @param onCreated called with the answer, whose key is not stored anywhere
 */
export const CreateServiceDialog = ({
  first,
  onClose,
  onCreated,
}: {
  first?: FirstDraft;
  onClose: () => void;
  onCreated?: (created: Created) => void;
}) => {
  const [created, setCreated] = useState<Created | null>(null);
  const create = useAction((client, settings: Settings) => client.identity.createService(settings), {
    changes: [['services']],
    done: (answer) => {
      setCreated(answer);
      onCreated?.(answer);
    },
  });
  if (created !== null)
    return (
      <NewKeyDialog
        title={`Service key of “${created.name}”`}
        service={created}
        answer={created}
        onClose={() => {
          toast('Service created.');
          onClose();
        }}
      />
    );
  return (
    <Dialog title="Create a service" isOpen wide onClose={onClose}>
      <ServiceForm
        first={first}
        error={create.error}
        onSend={(settings) => void create.run(settings)}
        actions={
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" busy={create.isBusy && 'Creating the service…'}>
              Create service
            </Button>
          </DialogActions>
        }
      />
    </Dialog>
  );
};
