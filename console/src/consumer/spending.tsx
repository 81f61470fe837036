import { useState } from 'react';
import { ServiceName } from '../payments/names.tsx';
import { pointsOf, type Summary } from '../payments/spending-days.ts';
import { type GroupBy, useSummary } from '../payments/summary.ts';
import {
  Chart,
  Empty,
  ErrorNotice,
  Loading,
  Money,
  Properties,
  Section,
  Select,
  Stack,
  Tabs,
} from '../ui/index.ts';

const PERIODS = [
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
  ['365', 'Last 365 days'],
] as const;
const VIEWS = [
  ['day', 'By day'],
  ['service', 'By service'],
  ['delegate', 'By agent'],
] as const;

/** Spending by day as bars, and by service or delegate as a ranking. */
export const Spending = ({ nameOf }: { nameOf: (delegateId: string) => string }) => {
  const [days, setDays] = useState<(typeof PERIODS)[number][0]>('7');
  const [view, setView] = useState<GroupBy>('day');
  return (
    <Section title="Spending" about="Gross: fees included. Days are UTC. Reversed payments are not counted.">
      <Stack>
        <div className="filters">
          <Select label="Period" options={PERIODS} value={days} onChange={setDays} />
        </div>
        <Tabs
          label="Spending"
          selected={view}
          onSelect={(id) => setView(id as GroupBy)}
          tabs={VIEWS.map(([id, text]) => [
            id,
            text,
            <Grouped key={id} days={Number(days)} groupBy={id} nameOf={nameOf} />,
          ])}
        />
      </Stack>
    </Section>
  );
};

const Grouped = ({
  days,
  groupBy,
  nameOf,
}: {
  days: number;
  groupBy: GroupBy;
  nameOf: (delegateId: string) => string;
}) => {
  const { data, error, isPending, again } = useSummary(days, groupBy);
  if (isPending) return <Loading>Loading the spending…</Loading>;
  if (data === undefined) return <ErrorNotice error={error} retry={again} />;
  if (data.payment_count === 0) {
    return <Empty title="No spending in this period">A payment appears here once it is confirmed.</Empty>;
  }
  return (
    <Stack>
      <Properties
        of={[
          ['Spent', <Money key="spent" micro={data.total_spent} large />],
          ['Payments', data.payment_count.toLocaleString('en')],
          ['Fees included', <Money key="fees" micro={data.total_fees} />],
          ['Refunded', data.total_refunded !== '0' && <Money key="back" micro={data.total_refunded} />],
        ]}
      />
      {groupBy === 'day' ? (
        <Chart label="Spent by day" points={pointsOf(data)} />
      ) : (
        <Ranking summary={data} groupBy={groupBy} nameOf={nameOf} />
      )}
    </Stack>
  );
};

/** How many lines are listed. The rest is one line, so that the shares add up. */
const LINES = 10;

const Ranking = ({
  summary: { groups, total_spent, payment_count },
  groupBy,
  nameOf,
}: {
  summary: Summary;
  groupBy: 'service' | 'delegate';
  nameOf: (delegateId: string) => string;
}) => {
  const total = BigInt(total_spent);
  const lines = groups.slice(0, LINES).map(({ key, spent, payment_count: count }) => ({
    key: key ?? 'account',
    name: key === null ? 'You' : groupBy === 'service' ? <ServiceName id={key} /> : nameOf(key),
    micro: BigInt(spent),
    count,
  }));
  const shown = lines.reduce(
    (sum, { micro, count }) => ({ micro: sum.micro + micro, count: sum.count + count }),
    {
      micro: 0n,
      count: 0,
    },
  );
  const rest = { micro: total - shown.micro, count: payment_count - shown.count };
  const all = rest.micro > 0n ? [...lines, { key: 'rest', name: 'All others', ...rest }] : lines;
  return (
    <table
      className="table ranking"
      aria-label={groupBy === 'service' ? 'Spent by service' : 'Spent by agent'}
    >
      <thead>
        <tr>
          <th scope="col">{groupBy === 'service' ? 'Service' : 'Agent'}</th>
          <th scope="col" data-align="end">
            Payments
          </th>
          <th scope="col" data-align="end">
            Spent
          </th>
          <th scope="col">
            <span className="visually-hidden">Share</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {all.map(({ key, name, micro, count }) => (
          <tr key={key}>
            <td data-label={groupBy === 'service' ? 'Service' : 'Agent'}>
              <div>{name}</div>
            </td>
            <td data-label="Payments" data-align="end">
              {count.toLocaleString('en')}
            </td>
            <td data-label="Spent" data-align="end">
              <Money micro={micro} />
            </td>
            <td data-label="">
              <Share thousandths={Number((micro * 1000n) / total)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
};

const Share = ({ thousandths }: { thousandths: number }) => (
  <span className="share">
    <svg className="meter-bar" viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
      <rect width="1000" height="8" />
      <rect width={Math.max(thousandths, 4)} height="8" />
    </svg>
    <span className="quiet">{thousandths < 10 ? 'under 1' : Math.round(thousandths / 10)} %</span>
  </span>
);
