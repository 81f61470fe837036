import { useState } from 'react';
import { CAPS } from '../../../../sdk/src/generated/limits.ts';
import { useRecentNames } from '../../payments/names.tsx';
import { AmountField, Choices, Columns, Select, Stack, TextField } from '../../ui/index.ts';
import { faultsOf, partsOf, type Typed } from './delegate-form.ts';

/** The fields of the form. Errors are shown from the first attempt to submit. */
export const useTyped = (initial: Typed) => {
  const [typed, setTyped] = useState(initial);
  const [tried, setTried] = useState(false);
  const faults = faultsOf(typed);
  return {
    typed,
    faults: tried ? faults : {},
    set: (name: keyof Typed) => (value: string) => setTyped((now) => ({ ...now, [name]: value })),
    /** True if the form may be submitted. */
    check: (): boolean => {
      setTried(true);
      return Object.keys(faults).length === 0;
    },
  };
};

type Form = ReturnType<typeof useTyped>;

const OTHERS = [
  ['no', 'No'],
  ['any', 'Any address'],
  ['list', 'Certain addresses'],
] as const;

/** The fields that few agents need. */
const ADVANCED = ['monthly', 'total', 'services', 'until', 'others', 'payTo', 'origins'] as const;
const isUsed = ({ typed }: Form): boolean =>
  ADVANCED.some((name) => typed[name].trim() !== '' && typed[name] !== 'no');

/** Name, the two limits that matter most, and the approval; the rest under Advanced. */
export const DelegateFields = (form: Form) => {
  const { typed, faults, set } = form;
  // It stays open or closed as the reader leaves it, and opens for an error in it.
  const [isOpen, setOpen] = useState(() => isUsed(form));
  const hasFault = ADVANCED.some((name) => faults[name] !== undefined);
  return (
    <Stack>
      <TextField
        label="Name"
        hint="The program that gets the key."
        value={typed.name}
        onChange={set('name')}
        maxLength={80}
        isRequired
        autoFocus
      />
      <div className="caps">
        <Cap name="per_payment" form={form} />
        <Cap name="daily" form={form} />
      </div>
      <AmountField
        label="Ask for approval above"
        hint="You approve larger payments with your passkey. Leave empty to never be asked."
        value={typed.ask}
        onChange={set('ask')}
        error={faults.ask}
      />
      <details
        className="advanced"
        open={isOpen || hasFault}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>Advanced</summary>
        <Advanced {...form} />
      </details>
    </Stack>
  );
};

const Cap = ({ name, form }: { name: keyof typeof CAPS; form: Form }) => (
  <AmountField
    label={CAPS[name].label}
    value={form.typed[name]}
    onChange={form.set(name)}
    error={form.faults[name]}
  />
);

const Advanced = (form: Form) => {
  const { typed, faults, set } = form;
  return (
    <Stack>
      <div className="caps">
        <Cap name="monthly" form={form} />
        <Cap name="total" form={form} />
      </div>
      <TextField
        label="Expires"
        hint="In your time zone. Leave empty for never."
        type="datetime-local"
        value={typed.until}
        onChange={set('until')}
        error={faults.until}
      />
      <Services value={typed.services} onChange={set('services')} error={faults.services} />
      <Select
        label="May pay outside vendors (x402, MPP)"
        hint="Vendors that do not use Quittance. Quittance cannot refund these payments."
        value={typed.others}
        onChange={set('others')}
        options={OTHERS}
      />
      {typed.others !== 'no' && (
        <Columns>
          {typed.others === 'list' && (
            <TextField
              label="Allowed addresses"
              hint="One per line. Checked against the signed payment."
              value={typed.payTo}
              onChange={set('payTo')}
              error={faults.payTo}
              lines={3}
            />
          )}
          <TextField
            label="Allowed origins (optional)"
            hint="One per line. Checked against what the program reports, so this only prevents mistakes."
            placeholder="https://api.example.com"
            value={typed.origins}
            onChange={set('origins')}
            error={faults.origins}
            lines={3}
          />
        </Columns>
      )}
    </Stack>
  );
};

/** How many services are offered by name. */
const OFFERED = 12;

/** The services that it may pay: those that the account has paid, by name, and others by id. */
const Services = ({
  value,
  onChange,
  error,
}: {
  value: string;
  onChange: (value: string) => void;
  error: string | undefined;
}) => {
  const paid = useRecentNames();
  const known = [...(paid ?? [])].slice(0, OFFERED);
  const ids = partsOf(value);
  const isKnown = (id: string) => known.some(([each]) => each === id);
  const chosen = ids.filter(isKnown);
  return (
    <Stack>
      {known.length > 0 && (
        <Choices
          label="Allowed services (all, if none is chosen)"
          options={known}
          value={chosen}
          onChange={(now) => onChange([...now, ...ids.filter((id) => !isKnown(id))].join('\n'))}
        />
      )}
      <TextField
        label={known.length > 0 ? 'Other allowed services' : 'Allowed services'}
        hint={`Service ids, one per line.${known.length > 0 ? '' : ' Leave empty for all services.'}`}
        value={value
          .split('\n')
          .filter((line) => !isKnown(line.trim()))
          .join('\n')}
        onChange={(text) => onChange([...chosen, text].join('\n'))}
        error={error}
        lines={2}
      />
    </Stack>
  );
};
