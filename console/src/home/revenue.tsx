import { Link } from 'wouter';
import { useNow } from '../lib/clock.ts';
import { useRevenue } from '../payments/sales-data.ts';
import { Chart, Empty, ErrorNotice, Loading, Money, Section, Time } from '../ui/index.ts';
import { Figure } from './figure.tsx';

const DAYS = 30;
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });

/** A vendor's revenue today and in 30 days, as a small chart. Net, as everywhere. */
export const Revenue = () => {
  const revenue = useRevenue(DAYS, useNow(60_000));
  return (
    <Section
      title="Net revenue"
      about="After fees and refunds, by UTC day."
      actions={<Link href="/sales">Sales</Link>}
    >
      {revenue === null ? (
        <Loading>Loading your revenue…</Loading>
      ) : 'error' in revenue ? (
        <ErrorNotice error={revenue.error} retry={revenue.again} />
      ) : (
        <Shown of={revenue} />
      )}
    </Section>
  );
};

type Known = Extract<NonNullable<ReturnType<typeof useRevenue>>, { days: unknown }>;

const Shown = ({ of: { days, since, isWhole } }: { of: Known }) => {
  const total = days.reduce((sum, { net }) => sum + net, 0n);
  return (
    <div className="revenue">
      <div className="revenue-figures">
        <Figure label="Today">
          <Money micro={days.at(-1)!.net} large />
        </Figure>
        <Figure label={isWhole ? '30 days' : 'Latest sales'}>
          <Money micro={total} large />
        </Figure>
        {!isWhole && (
          <p className="quiet">
            Since <Time at={new Date(since).toISOString()} />. Sales has all.
          </p>
        )}
      </div>
      {total === 0n ? (
        <Empty title="No revenue yet">Your first sale appears here once it is paid.</Empty>
      ) : (
        <Chart
          label="Net revenue by day"
          isSmall
          points={days.map(({ from, net }) => ({ label: day.format(from), micro: net > 0n ? net : 0n }))}
        />
      )}
    </div>
  );
};
