import { type FormEvent, useState } from 'react';
import type { Output } from '../../../../sdk/src/main.ts';
import { useAction } from '../../api/data.ts';
import {
  Button,
  Choices,
  Columns,
  Copyable,
  Dialog,
  DialogActions,
  ErrorNotice,
  Notice,
  Select,
  Stack,
  TextField,
  toast,
} from '../../ui/index.ts';
import { type Endpoint, WANTED_GROUPS, type Wanted } from './webhook-texts.ts';

/**
 * Creates an endpoint or changes the given one. `onMade` gets the answer with the secret, which is
 * shown once.
 */
export const EndpointForm = ({
  endpoint,
  onMade,
  onClose,
}: {
  endpoint?: Endpoint;
  onMade?: (made: Output<'webhook.createEndpoint'>) => void;
  onClose: () => void;
}) => {
  const [url, setUrl] = useState(endpoint?.url ?? '');
  const [description, setDescription] = useState(endpoint?.description ?? '');
  const [chosen, setChosen] = useState<readonly Wanted[]>(endpoint?.event_types ?? ['*']);
  const save = useAction(
    async (client, event_types: Wanted[]) => {
      const text = description.trim();
      if (endpoint === undefined) {
        const about = text === '' ? {} : { description: text };
        onMade?.(await client.webhook.createEndpoint({ url: url.trim(), event_types, ...about }));
        return;
      }
      await client.webhook.updateEndpoint({
        endpoint_id: endpoint.endpoint_id,
        // A changed URL needs a fresh sign-in, so an unchanged one is not sent.
        ...(url.trim() === endpoint.url ? {} : { url: url.trim() }),
        description: text === '' ? null : text,
        event_types,
      });
      toast('Saved.');
    },
    { changes: [['endpoints']], done: onClose },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (chosen.length > 0) void save.run([...chosen]);
  };
  return (
    <Dialog title={endpoint === undefined ? 'New endpoint' : 'Edit endpoint'} wide isOpen onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <TextField
            label="URL"
            hint="A public https address. Redirects are not followed."
            placeholder="https://api.example.com/quittance"
            type="url"
            value={url}
            onChange={setUrl}
            maxLength={2048}
            isRequired
            autoFocus
          />
          <TextField
            label="Description (optional)"
            value={description}
            onChange={setDescription}
            maxLength={200}
          />
          <WantedEvents chosen={chosen} onChange={setChosen} />
          {save.error !== null && <ErrorNotice error={save.error} />}
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button
              type="submit"
              variant="primary"
              isDisabled={chosen.length === 0}
              busy={save.isBusy && 'Checking the URL…'}
            >
              {endpoint === undefined ? 'Create endpoint' : 'Save'}
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};

const WantedEvents = ({
  chosen,
  onChange,
}: {
  chosen: readonly Wanted[];
  onChange: (chosen: readonly Wanted[]) => void;
}) => {
  const everything = chosen.includes('*');
  return (
    <>
      <Select
        label="Events"
        value={everything ? 'all' : 'some'}
        onChange={(which) => onChange(which === 'all' ? ['*'] : ['settlement.*'])}
        options={[
          ['all', 'All events, including future ones'],
          ['some', 'Selected events'],
        ]}
      />
      {!everything && (
        <Columns>
          {WANTED_GROUPS.map(({ heading, all, types }) => {
            const own = [[all, 'All'], ...types] as const;
            const isOwn = (wanted: Wanted) => own.some(([type]) => type === wanted);
            const others = chosen.filter((wanted) => !isOwn(wanted));
            return (
              <Choices
                key={heading}
                label={heading}
                options={chosen.includes(all) ? own.slice(0, 1) : own}
                value={chosen.filter(isOwn)}
                onChange={(ticked) => onChange([...others, ...(ticked.includes(all) ? [all] : ticked)])}
              />
            );
          })}
        </Columns>
      )}
      {chosen.length === 0 && <Notice tone="wait">Select at least one event.</Notice>}
    </>
  );
};

/** Shows the secret of a new endpoint or a rotation once. Only its button closes it. */
export const SecretDialog = ({
  answer,
  onClose,
}: {
  answer: { secret: string } | { secret_already_shown: true };
  onClose: () => void;
}) => (
  <Dialog title="Signing secret" isOpen isFixed onClose={onClose}>
    {'secret' in answer ? (
      <>
        <Copyable block label="the secret" text={answer.secret} />
        <p>
          You will not see this secret again. Your server uses it to verify that a delivery comes from us,
          with <code>verifyWebhook</code> from the SDK or any library from <code>standardwebhooks.com</code>.
        </p>
      </>
    ) : (
      <Notice tone="wait" title="The answer with the secret was lost">
        The secret is not stored, so it cannot be shown again. Rotate it to get a new one.
      </Notice>
    )}
    <DialogActions>
      <Button variant="primary" onPress={onClose}>
        I saved it
      </Button>
    </DialogActions>
  </Dialog>
);
