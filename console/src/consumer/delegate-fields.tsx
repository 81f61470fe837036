import { useState } from 'react';
import { CAP_NAMES, CAPS } from '../../../sdk/src/generated/limits.ts';
import { Choices, Columns, Select, Stack, TextField } from '../ui/index.ts';
import { useServices } from '../vendor/select-service.tsx';
import { faultsOf, partsOf, type Typed } from './delegate-form.ts';
import { useRecentNames } from './names.tsx';

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

const OTHERS = [
  ['no', 'No'],
  ['any', 'Yes, to any address'],
  ['list', 'Yes, to certain addresses'],
] as const;

export const DelegateFields = ({ typed, faults, set }: ReturnType<typeof useTyped>) => (
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
    <fieldset className="plain">
      <legend>Spending limits (empty: no limit)</legend>
      <div className="caps">
        {CAP_NAMES.map((name) => (
          <TextField
            key={name}
            label={CAPS[name].label}
            value={typed[name]}
            onChange={set(name)}
            error={faults[name]}
            suffix="USDC"
            numeric
          />
        ))}
        <TextField
          label="Ask me above"
          hint="You approve larger payments with a passkey."
          value={typed.ask}
          onChange={set('ask')}
          error={faults.ask}
          suffix="USDC"
          numeric
        />
      </div>
    </fieldset>
    <Columns>
      <Services value={typed.services} onChange={set('services')} error={faults.services} />
      <TextField
        label="Works until"
        hint="In your time zone. Empty: until you revoke it."
        type="datetime-local"
        value={typed.until}
        onChange={set('until')}
        error={faults.until}
      />
    </Columns>
    <Select
      label="Pays other vendors (x402)"
      hint="Vendors of x402 that do not use Quittance. Nobody refunds such a payment."
      value={typed.others}
      onChange={set('others')}
      options={OTHERS}
    />
    {typed.others !== 'no' && (
      <Columns>
        {typed.others === 'list' && (
          <TextField
            label="Only these addresses"
            hint="Compared with the signed payment. One per line."
            value={typed.payTo}
            onChange={set('payTo')}
            error={faults.payTo}
            lines={3}
          />
        )}
        <TextField
          label="Only these origins"
          hint="Compared with what the program says, so they guard against mistakes only. Empty: any."
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

/** How many services are offered by name. */
const OFFERED = 12;

/** The services that it may pay: those that the account knows by name, others by id. */
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
  const own = useServices().data;
  const known = [
    ...new Map([...(paid ?? []), ...own.map(({ service_id, name }) => [service_id, name] as const)]),
  ].slice(0, OFFERED);
  const ids = partsOf(value);
  const isKnown = (id: string) => known.some(([each]) => each === id);
  const chosen = ids.filter(isKnown);
  return (
    <Stack>
      {known.length > 0 && (
        <Choices
          label="Only these services (none: any service)"
          options={known}
          value={chosen}
          onChange={(now) => onChange([...now, ...ids.filter((id) => !isKnown(id))].join('\n'))}
        />
      )}
      <TextField
        label={known.length > 0 ? 'Other services' : 'Only these services'}
        hint={`Their ids, one per line.${known.length > 0 ? '' : ' Empty: any service.'}`}
        value={value
          .split('\n')
          .filter((line) => !isKnown(line.trim()))
          .join('\n')}
        onChange={(text) => onChange([...chosen, text].join('\n'))}
        error={error}
        lines={3}
      />
    </Stack>
  );
};
