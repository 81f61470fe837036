import { type FormEvent, useState } from 'react';
import type { Input, Output } from '../../../sdk/src/main.ts';
import { useAction, useRead } from '../api/data.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../lib/money.ts';
import {
  AmountField,
  Button,
  ErrorNotice,
  Loading,
  Row,
  Section,
  Stack,
  Switch,
  TextField,
  toast,
} from '../ui/index.ts';

type Values = Output<'identity.getSettings'>;

/**
 * Name, mails and the spending alert. Switches take effect at once, text fields when they are
 * saved.
 */
export const Settings = () => {
  const settings = useRead(['settings'], (client, options) => client.identity.getSettings({}, options));
  return (
    <Section title="Settings">
      {settings.isPending && <Loading>Loading your settings…</Loading>}
      {settings.error !== null && <ErrorNotice error={settings.error} retry={settings.again} />}
      {settings.data !== undefined && <Form values={settings.data} />}
    </Section>
  );
};

const Form = ({ values }: { values: Values }) => {
  const shownThreshold =
    values.spending_alert_threshold === null ? '' : fieldUsdc(values.spending_alert_threshold);
  const [name, setName] = useState(values.display_name ?? '');
  const [threshold, setThreshold] = useState(shownThreshold);
  const change = useAction(
    (client, input: Input<'identity.updateSettings'>) => client.identity.updateSettings(input),
    { changes: [['settings'], ['account']], done: () => toast('Saved.') },
  );
  const micro = typedUsdc(threshold);
  const wrong = threshold.trim() !== '' && micro === null;
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (wrong) return;
    void change.run({
      display_name: name.trim() === '' ? null : name.trim(),
      spending_alert_threshold: micro === null ? null : micro.toString(),
    });
  };
  return (
    <form onSubmit={save}>
      <Stack>
        <TextField label="Name" value={name} onChange={setName} maxLength={80} autoComplete="name" />
        <AmountField
          label="E-mail me when daily spending exceeds"
          value={threshold}
          onChange={setThreshold}
          hint="At most one e-mail per UTC day. Leave empty to turn off."
          error={wrong ? NOT_AN_AMOUNT : null}
        />
        <Row>
          <Button type="submit" busy={change.isBusy && 'Saving…'}>
            Save
          </Button>
        </Row>
        <Switch
          isSelected={values.mail_key_events}
          onChange={(mail_key_events) => void change.run({ mail_key_events })}
          hint="when a key or passkey is created, replaced or removed"
        >
          E-mails about keys
        </Switch>
        <Switch
          isSelected={values.mail_payments}
          onChange={(mail_payments) => void change.run({ mail_payments })}
          hint="when you pay or are paid"
        >
          E-mails about payments
        </Switch>
        {change.error !== null && <ErrorNotice error={change.error} />}
      </Stack>
    </form>
  );
};
