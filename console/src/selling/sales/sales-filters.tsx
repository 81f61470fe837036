import { useSearchParams } from 'wouter';
import { beginOf } from '../../lib/day.ts';
import { shortId } from '../../lib/short-id.ts';
import { RAILS } from '../../payments/rail.ts';
import type { Stage } from '../../payments/sales-figures.ts';
import { STAGE_WORDS } from '../../payments/state-words.ts';
import { Select, TextField } from '../../ui/index.ts';

/**
 * The filters of the sales. They are in the URL, so that a link or the back button shows the same.
 */

const HOUR_MS = 3_600_000;
const TIMES = [
  ['hour', 'Last hour', HOUR_MS],
  ['day', 'Last 24 hours', 24 * HOUR_MS],
  ['week', 'Last 7 days', 7 * 24 * HOUR_MS],
  ['month', 'Last 30 days', 30 * 24 * HOUR_MS],
] as const;
/** A period with a first and a last day. */
const OWN = 'own';
/** The stages with their names. */
const STAGES = Object.entries(STAGE_WORDS).map(([stage, [word]]) => [stage as Stage, word] as const);
const SERVICE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The chosen filters. Whatever the URL contains, they are valid. */
export const useSalesFilters = (now: number) => {
  const [search, setSearch] = useSearchParams();
  const get = (name: string) => search.get(name) ?? '';
  const isOwn = get('time') === OWN;
  const [time, text, span] = TIMES.find(([id]) => id === get('time')) ?? TIMES[2];
  const [first, last] = [beginOf(get('from')), beginOf(get('to'), 1)];
  return {
    period: isOwn
      ? {
          text: 'this period',
          from: first === undefined ? now - span : Date.parse(first),
          until: last === undefined ? Number.POSITIVE_INFINITY : Date.parse(last),
        }
      : { text, from: now - span, until: Number.POSITIVE_INFINITY },
    time: isOwn ? OWN : time,
    from: get('from'),
    to: get('to'),
    find: get('find'),
    // A deleted service is in no list, but its sales can still be shown.
    serviceId: SERVICE_ID.exec(get('service'))?.[0],
    stage: STAGES.find(([id]) => id === get('state'))?.[0] ?? ('all' as const),
    rail: RAILS.find(([id]) => id === get('rail'))?.[0],
    /** Changes when another list is shown. */
    key: search.toString(),
    choose: (name: string, value: string) =>
      setSearch(
        (before) => {
          const next = new URLSearchParams(before);
          if (value === 'all' || value === '') next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
  };
};

export const SalesFilters = ({
  of: { time, from, to, find, serviceId, stage, rail, choose },
  nameOf,
}: {
  of: ReturnType<typeof useSalesFilters>;
  nameOf: ReadonlyMap<string, string>;
}) => {
  const services: readonly string[] =
    serviceId === undefined || nameOf.has(serviceId) ? [...nameOf.keys()] : [...nameOf.keys(), serviceId];
  return (
    <search className="filters" aria-label="Filter the sales">
      <TextField
        label="Find"
        placeholder="Id, payer, resource"
        value={find}
        onChange={(text) => choose('find', text)}
        maxLength={200}
      />
      <Select
        label="Time"
        options={[...TIMES.map(([id, label]) => [id, label] as const), [OWN, 'Custom dates'] as const]}
        value={time}
        onChange={(value) => choose('time', value)}
      />
      {time === OWN && (
        <>
          <TextField label="From" type="date" value={from} onChange={(day) => choose('from', day)} />
          <TextField label="To" type="date" value={to} onChange={(day) => choose('to', day)} />
        </>
      )}
      <Select
        label="Service"
        options={[
          ['all', 'All services'],
          ...services.map((id) => [id, nameOf.get(id) ?? shortId(id)] as const),
        ]}
        value={serviceId ?? 'all'}
        onChange={(value) => choose('service', value)}
      />
      <Select
        label="Paid by"
        options={[['all', 'Any way'], ...RAILS]}
        value={rail ?? 'all'}
        onChange={(value) => choose('rail', value)}
      />
      <Select
        label="State"
        options={[['all', 'All sales'], ...STAGES]}
        value={stage}
        onChange={(value) => choose('state', value)}
      />
    </search>
  );
};
