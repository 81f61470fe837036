import { type ReactNode, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import { useNow } from '../lib/clock.ts';
import { Countdown } from '../lib/countdown.tsx';
import type { Items } from '../lib/data.ts';
import {
  Badge,
  Button,
  Columns,
  Copyable,
  Empty,
  ErrorNotice,
  LinkButton,
  Loading,
  Money,
  Notice,
  Page,
  Section,
  Select,
  Table,
  Time,
} from '../ui/index.ts';
import { FeesSection } from './fees.tsx';
import { RAILS, railName } from './rail.ts';
import { Conversion, RevenueSection } from './sales-charts.tsx';
import { type Sales, useAllServices, useSales } from './sales-data.ts';
import { isPaid, type Sale, type Settlement, type Stage } from './sales-figures.ts';

const HOUR_MS = 3_600_000;
const TIMES = [
  ['hour', 'Last hour', HOUR_MS],
  ['day', 'Last 24 hours', 24 * HOUR_MS],
  ['week', 'Last 7 days', 7 * 24 * HOUR_MS],
  ['month', 'Last 30 days', 30 * 24 * HOUR_MS],
] as const;
const STAGES: readonly (readonly [Stage, string, 'good' | 'wait' | 'bad' | 'none'])[] = [
  ['quoted', 'quoted', 'none'],
  ['paying', 'being paid', 'wait'],
  ['paid', 'paid', 'wait'],
  ['undelivered', 'paid, not delivered', 'wait'],
  ['delivered', 'delivered', 'good'],
  ['unpaid', 'not paid', 'none'],
  ['lapsed', 'paid, not redeemed', 'bad'],
  ['failed', 'payment failed', 'bad'],
  ['reversed', 'reversed on chain', 'bad'],
];
const SERVICE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const AT_ONCE = 25;
/** Of the resource, which the customer's client names, as many characters as a row has room for. */
const RESOURCE_SHOWN = 40;

/** Quotes, payments and redeems as they happen, with their sums. The filters are in the URL. */
const SalesPage = () => {
  const [search, setSearch] = useSearchParams();
  // Figures depend on the time. The countdowns of rows have their own timer.
  const now = useNow(5000);
  const [, text, span] = TIMES.find(([id]) => id === search.get('time')) ?? TIMES[2];
  const time = TIMES.find((each) => each[1] === text)![0];
  const { services, isKnown } = useAllServices();
  const nameOf = new Map(services.map(({ service_id, name }) => [service_id, name]));
  // A deleted service is in no list, but its sales can still be shown.
  const serviceId = SERVICE_ID.exec(search.get('service') ?? '')?.[0];
  const chosen: readonly string[] =
    serviceId === undefined || nameOf.has(serviceId) ? [...nameOf.keys()] : [...nameOf.keys(), serviceId];
  const stage = STAGES.find(([id]) => id === search.get('state'))?.[0] ?? 'all';
  const rail = RAILS.find(([id]) => id === search.get('rail'))?.[0];
  const sales = useSales(now - span, now, { serviceId, rail });
  const choose = (name: string, value: string) =>
    setSearch(
      (before) => {
        const next = new URLSearchParams(before);
        if (value === 'all') next.delete(name);
        else next.set(name, value);
        return next;
      },
      { replace: true },
    );
  return (
    <Page
      title="Sales"
      about="Quotes, payments and redeems as they happen, updated every five seconds."
      actions={<LinkButton to="/services">Your services</LinkButton>}
    >
      <div className="filters">
        <Select
          label="Time"
          options={TIMES.map(([id, label]) => [id, label] as const)}
          value={time}
          onChange={(value) => choose('time', value)}
        />
        <Select
          label="Service"
          options={[
            ['all', 'All services'],
            ...chosen.map((id) => [id, nameOf.get(id) ?? id.slice(0, 8)] as const),
          ]}
          value={serviceId ?? 'all'}
          onChange={(value) => choose('service', value)}
        />
        <Select
          label="Rail"
          options={[['all', 'All rails'], ...RAILS]}
          value={rail ?? 'all'}
          onChange={(value) => choose('rail', value)}
        />
        <Select
          label="State"
          options={[['all', 'All states'], ...STAGES.map(([id, label]) => [id, label] as const)]}
          value={stage}
          onChange={(value) => choose('state', value)}
        />
      </div>
      {sales.error !== null && <ErrorNotice error={sales.error} retry={sales.again} />}
      {!sales.isKnown && sales.error === null && <Loading>Loading your quotes and payments…</Loading>}
      {sales.isKnown && (
        <>
          <Reach sales={sales} text={text} />
          <FeesSection />
          {sales.sales.length > 0 && (
            <Columns>
              {sales.sales.some(({ quote }) => quote !== null) && <Conversion sales={sales.sales} />}
              <RevenueSection
                sales={sales}
                now={now}
                hasRefunds={rail === undefined}
                serviceIds={serviceId !== undefined ? new Set([serviceId]) : isKnown ? new Set(chosen) : null}
              />
            </Columns>
          )}
          <SalesTable
            key={`${time} ${serviceId} ${rail} ${stage}`}
            sales={stage === 'all' ? sales.sales : sales.sales.filter((sale) => sale.stage === stage)}
            isFiltered={stage !== 'all' || rail !== undefined}
            nameOf={nameOf}
          />
        </>
      )}
    </Page>
  );
};
export default SalesPage;

/** Shows since when the figures are complete, if that is not the whole window. */
const Reach = ({ sales: { rest, since, readMore }, text }: { sales: Sales; text: string }) => {
  if (rest === 'none') return null;
  if (rest === 'reading') return <Loading>{`Loading older sales: ${text.toLowerCase()}…`}</Loading>;
  return (
    <Notice tone="wait" title="Not all of this period is loaded">
      There are many sales. The figures and the list begin at <Time at={new Date(since).toISOString()} />.
      <div>
        <Button size="small" onPress={readMore}>
          Load older sales
        </Button>
      </div>
    </Notice>
  );
};

const SalesTable = ({
  sales,
  isFiltered,
  nameOf,
}: {
  sales: readonly Sale[];
  isFiltered: boolean;
  nameOf: ReadonlyMap<string, string>;
}) => {
  const [shown, setShown] = useState(AT_ONCE);
  const items: Items<Sale> = {
    data: sales.slice(0, shown),
    error: null,
    isPending: false,
    hasMore: sales.length > shown,
    more: () => setShown(shown + 4 * AT_ONCE),
    isLoadingMore: false,
    again: () => undefined,
  };
  return (
    <Section
      title="Every sale"
      about={
        sales.length === 0
          ? undefined
          : `${sales.length.toLocaleString('en')} in this view, the newest first.`
      }
    >
      <Table
        label="Sales"
        items={items}
        waiting=""
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No sale matches these filters in this period" />
          ) : (
            <Empty title="No sale in this period">
              <p>A sale begins when your server creates a quote.</p>
              <LinkButton to="/integrate">How to create one</LinkButton>
            </Empty>
          )
        }
        columns={[
          { heading: 'When', show: ({ at, settlement }) => <When at={at} id={settlement?.settlement_id} /> },
          {
            heading: 'Service',
            show: ({ serviceId }) => (
              <Link href={`/services/${serviceId}`}>{nameOf.get(serviceId) ?? serviceId.slice(0, 8)}</Link>
            ),
          },
          { heading: 'Rail', show: ({ settlement }) => <SaleRail settlement={settlement} /> },
          { heading: 'State', show: (sale) => <State sale={sale} /> },
          {
            heading: 'Price',
            align: 'end',
            show: ({ quote, settlement }) => <Money micro={(settlement ?? quote)!.quote_amount} />,
          },
          {
            heading: 'You get',
            align: 'end',
            show: ({ settlement }) =>
              settlement === null || !isPaid(settlement) ? null : <Net settlement={settlement} />,
          },
          { heading: 'Next', show: nextOf },
        ]}
      />
    </Section>
  );
};

/** A sale with a payment attempt has a page of its own. */
const When = ({ at, id }: { at: string; id: string | undefined }) =>
  id === undefined ? (
    <Time at={at} />
  ) : (
    <Link href={`/sales/${id}`}>
      <Time at={at} />
    </Link>
  );

/** The rail, and for a payment of another protocol who paid for what. */
const SaleRail = ({ settlement }: { settlement: Settlement | null }) => {
  // Only a payment by Quittance has a quote.
  if (settlement === null) return railName('quittance');
  const { rail, payer_address, resource } = settlement;
  return (
    <>
      {railName(rail)}
      {payer_address !== undefined && (
        <div>
          <Copyable text={payer_address} label="payer address" shown={8} />
        </div>
      )}
      {resource !== undefined && (
        <div className="quiet" title={resource}>
          {resource.length > RESOURCE_SHOWN ? `${resource.slice(0, RESOURCE_SHOWN)}…` : resource}
        </div>
      )}
    </>
  );
};

const Net = ({ settlement: { net_amount, accrued_fee } }: { settlement: Settlement }) => (
  <>
    <Money micro={net_amount} />
    {accrued_fee !== undefined && (
      <div className="quiet">
        <Money micro={accrued_fee} /> fee accrued
      </div>
    )}
  </>
);

const State = ({ sale: { stage } }: { sale: Sale }) => {
  const [, text, tone] = STAGES.find(([id]) => id === stage)!;
  return <Badge state={text} tone={tone} />;
};

/** What a sale is waiting for. */
const nextOf = ({ stage, quote, settlement }: Sale): ReactNode => {
  if (stage === 'quoted' && quote !== null)
    return (
      <span className="quiet">
        can be paid for <Countdown until={quote.expires_at} over="a moment" />
      </span>
    );
  if (stage === 'paid' && typeof settlement?.redeem_expires_at === 'string')
    return (
      <span className="quiet">
        redeem within <Countdown until={settlement.redeem_expires_at} over="a moment" />
      </span>
    );
  if (stage === 'undelivered') return <span className="quiet">the delivery</span>;
  if (stage === 'paying') return <span className="quiet">the chain’s confirmation</span>;
  return null;
};
