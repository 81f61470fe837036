import { useSearchParams } from 'wouter';
import type { Input } from '../../../sdk/src/main.ts';
import { useItems } from '../lib/data.ts';
import { Button, Select, TextField } from '../ui/index.ts';

/** What the list is narrowed to. It stands in the address, so that a link or the way back shows the same list. */

type Query = NonNullable<Input<'wallet.listTransactions'>>;
export type Filters = Record<(typeof NAMES)[number], string>;

const NAMES = ['type', 'direction', 'status', 'service', 'delegate', 'from', 'to'] as const;
export const TYPES = [
  ['payment', 'Payments'],
  ['deposit', 'Deposits'],
  ['withdrawal', 'Withdrawals'],
  ['refund', 'Refunds'],
  ['dev_fund', 'Test funds'],
] as const;
const DIRECTIONS = [
  ['in', 'In'],
  ['out', 'Out'],
] as const;
const STATUSES = [
  ['confirmed', 'Confirmed'],
  ['finalized', 'Finalized'],
  ['reversed', 'Reversed'],
] as const;
/** A list of choices must have a value for "no choice"; in the address it is left out. */
const ALL = 'all';

export const useFilters = () => {
  const [params, setParams] = useSearchParams();
  const filters = Object.fromEntries(NAMES.map((name) => [name, params.get(name) ?? ''])) as Filters;
  return {
    filters,
    set: (name: keyof Filters, value: string) =>
      setParams(
        (now) => {
          const next = new URLSearchParams(now);
          if (value === '' || value === ALL) next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
    clear: () => setParams({}, { replace: true }),
  };
};

/** The moment at which a day of the reader's own calendar begins; nothing for what is no day. */
const beginOf = (day: string, plusDays = 0): string | undefined => {
  const [year, month, date] = day.split('-').map(Number);
  const at = new Date(year ?? Number.NaN, (month ?? 1) - 1, (date ?? 1) + plusDays);
  return /^\d{4}-\d\d-\d\d$/.test(day) && at.getFullYear() >= 1970 ? at.toISOString() : undefined;
};

const oneOf = <T extends string>(choices: readonly (readonly [T, string])[], value: string): T | undefined =>
  choices.find(([each]) => each === value)?.[0];

/** As the API is asked: the days are whole ones, the last one included. An address may say anything; what is no choice is nothing. */
export const queryOf = ({ type, direction, status, service, delegate, from, to }: Filters): Query => {
  const query = {
    type: oneOf(TYPES, type),
    direction: oneOf(DIRECTIONS, direction),
    status: oneOf(STATUSES, status),
    service_id: service === '' ? undefined : service,
    delegate_id: delegate === '' ? undefined : delegate,
    from: beginOf(from),
    to: beginOf(to, 1),
  };
  return Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined));
};

export const ActivityFilters = ({
  filters,
  set,
  clear,
  services,
}: ReturnType<typeof useFilters> & {
  /** Those that were paid lately, by id. */
  services: readonly (readonly [id: string, name: string])[];
}) => {
  const delegates = useItems(['delegates', 'names'], (client, cursor, options) =>
    client.identity.listDelegates({ cursor, limit: '100' }, options),
  );
  const choose = (
    name: keyof Filters,
    label: string,
    any: string,
    options: readonly (readonly [string, string])[],
  ) => {
    const value = filters[name];
    // What an address names is shown, also where it is in no list: a delegate that was revoked.
    const known = value === '' || options.some(([each]) => each === value);
    return (
      <Select
        label={label}
        value={value === '' ? ALL : value}
        onChange={(chosen) => set(name, chosen)}
        options={[[ALL, any], ...options, ...(known ? [] : [[value, `${value.slice(0, 12)}…`] as const])]}
      />
    );
  };
  return (
    <search className="filters" aria-label="Narrow the list">
      {choose('type', 'Kind', 'All kinds', TYPES)}
      {choose('direction', 'Direction', 'In and out', DIRECTIONS)}
      {choose('status', 'Status', 'Any status', STATUSES)}
      {choose('service', 'Service', 'Any service', services)}
      {choose(
        'delegate',
        'Delegate',
        'Anybody',
        delegates.data.map(({ delegate_id, name }) => [delegate_id, name]),
      )}
      <TextField label="From" type="date" value={filters.from} onChange={(day) => set('from', day)} />
      <TextField label="Up to" type="date" value={filters.to} onChange={(day) => set('to', day)} />
      {NAMES.some((name) => filters[name] !== '') && (
        <Button variant="quiet" onPress={clear}>
          Show all
        </Button>
      )}
    </search>
  );
};
