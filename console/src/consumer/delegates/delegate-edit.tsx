import { type FormEvent, useState } from 'react';
import { useAction } from '../../api/data.ts';
import { Button, Dialog, DialogActions, ErrorNotice, Stack, toast } from '../../ui/index.ts';
import { DelegateFields, useTyped } from './delegate-fields.tsx';
import type { Delegate } from './delegate-form.ts';
import { changedBody, typedOf } from './delegate-form.ts';

/**
 * Changes name, limits, services and expiry of a delegate. A change that allows more needs a fresh
 * sign-in.
 */
export const EditDelegate = ({ delegate, onClose }: { delegate: Delegate; onClose: () => void }) => {
  // The values when the form was opened. A later read must not look like a change of this form.
  const [before] = useState(() => typedOf(delegate));
  const form = useTyped(before);
  const update = useAction(
    (client, body: ReturnType<typeof changedBody>) =>
      client.identity.updateDelegate({ delegate_id: delegate.delegate_id, ...body }),
    {
      changes: [['delegates']],
      done: () => {
        toast('Saved. The change applies to the next payment.');
        onClose();
      },
    },
  );
  const body = changedBody(before, form.typed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (form.check()) void update.run(body);
  };
  return (
    <Dialog title={`Edit “${delegate.name}”`} isOpen isFixed={update.isBusy} onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <DelegateFields {...form} />
          <p className="quiet">A lower limit affects new payments only.</p>
          {update.error !== null && <ErrorNotice error={update.error} />}
          <DialogActions>
            <Button onPress={onClose} isDisabled={update.isBusy}>
              Cancel
            </Button>
            <Button
              type="submit"
              variant="primary"
              isDisabled={Object.keys(body).length === 0}
              busy={update.isBusy && 'Saving…'}
            >
              Save
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};
