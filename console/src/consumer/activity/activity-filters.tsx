import { useSearchParams } from 'wouter';
import { shortId } from '../../lib/short-id.ts';
import { Button, Select, TextField } from '../../ui/index.ts';
import { DIRECTIONS, type Filters, NAMES, STATUSES, TYPES } from './activity-query.ts';

/** A select needs a value for "no filter". The URL omits it. */
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

export const ActivityFilters = ({
  filters,
  set,
  clear,
  services,
  delegates,
}: ReturnType<typeof useFilters> & {
  /** Services with recent payments, by id. */
  services: readonly (readonly [id: string, name: string])[];
  delegates: readonly (readonly [id: string, name: string])[];
}) => {
  const choose = (
    name: keyof Filters,
    label: string,
    any: string,
    options: readonly (readonly [string, string])[],
  ) => {
    const value = filters[name];
    // A value of the URL is shown even if it is in no list, for instance a revoked delegate.
    const known = value === '' || options.some(([each]) => each === value);
    return (
      <Select
        label={label}
        value={value === '' ? ALL : value}
        onChange={(chosen) => set(name, chosen)}
        options={[[ALL, any], ...options, ...(known ? [] : [[value, shortId(value)] as const])]}
      />
    );
  };
  return (
    <search className="filters" aria-label="Filter the list">
      <TextField
        label="Find"
        placeholder="Id or transaction"
        value={filters.find}
        onChange={(text) => set('find', text)}
        maxLength={100}
      />
      {choose('type', 'Type', 'All types', TYPES)}
      {choose('direction', 'Direction', 'In and out', DIRECTIONS)}
      {choose('status', 'Status', 'Any status', STATUSES)}
      {choose('service', 'Service', 'Any service', services)}
      {choose('delegate', 'Agent', 'Anyone', delegates)}
      <TextField label="From" type="date" value={filters.from} onChange={(day) => set('from', day)} />
      <TextField label="To" type="date" value={filters.to} onChange={(day) => set('to', day)} />
      {NAMES.some((name) => filters[name] !== '') && (
        <Button variant="quiet" onPress={clear}>
          Clear filters
        </Button>
      )}
    </search>
  );
};
