import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { useNow } from '../lib/clock.ts';
import { Countdown } from '../lib/countdown.tsx';
import type { Items } from '../lib/data.ts';
import { useExport } from '../lib/export.ts';
import { PaymentState, State } from '../lib/payment-state.tsx';
import { shortId } from '../lib/short-id.ts';
import { STAGE_WORDS } from '../lib/state-words.ts';
import {
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
  Table,
  Time,
  toast,
} from '../ui/index.ts';
import { FeesSection } from './fees.tsx';
import { railName } from './rail.ts';
import { Conversion, RevenueSection } from './sales-charts.tsx';
import { salesCsv } from './sales-csv.ts';
import { type Sales, useAllServices, useRefunded, useSales } from './sales-data.ts';
import { findSales, isPaid, type Refunded, type Sale, type Settlement } from './sales-figures.ts';
import { SalesFilters, useSalesFilters } from './sales-filters.tsx';

const AT_ONCE = 25;
/** Of the resource, which the customer's client names, as many characters as a row has room for. */
const RESOURCE_SHOWN = 40;

/** Quotes, payments and redeems as they happen, with their sums. The filters are in the URL. */
const SalesPage = () => {
  // Figures depend on the time. The countdowns of rows have their own timer.
  const now = useNow(5000);
  const { services } = useAllServices();
  const nameOf = new Map(services.map(({ service_id, name }) => [service_id, name]));
  const chosen = useSalesFilters(now);
  const { period, serviceId, stage, rail, find } = chosen;
  const read = useSales(period.from, now, { serviceId, rail });
  const refundedOf = useRefunded(read.since);
  const inPeriod = read.sales.filter(({ at }) => Date.parse(at) < period.until);
  const found = findSales(stage === 'all' ? inPeriod : inPeriod.filter((sale) => sale.stage === stage), find);
  return (
    <Page
      title="Sales"
      about="Live, updated every 5 s."
      actions={<LinkButton to="/services">Your services</LinkButton>}
    >
      <SalesFilters of={chosen} nameOf={nameOf} />
      {read.error !== null && <ErrorNotice error={read.error} retry={read.again} />}
      {!read.isKnown && read.error === null && <Loading>Loading your quotes and payments…</Loading>}
      {read.isKnown && (
        <>
          <Reach sales={read} text={period.text} />
          <FeesSection />
          {inPeriod.length > 0 && (
            <Columns>
              {inPeriod.some(({ quote }) => quote !== null) && <Conversion sales={inPeriod} />}
              <RevenueSection
                sales={inPeriod}
                since={read.since}
                until={Math.min(now, period.until)}
                refundedOf={refundedOf}
              />
            </Columns>
          )}
          <SalesTable
            key={chosen.key}
            sales={found}
            isFiltered={stage !== 'all' || rail !== undefined || find !== ''}
            isWhole={read.rest === 'none'}
            refundedOf={refundedOf ?? NO_REFUNDS}
            nameOf={nameOf}
          />
        </>
      )}
    </Page>
  );
};
export default SalesPage;
const NO_REFUNDS: Refunded = new Map();

/** Shows since when the figures are complete, if that is not the whole window. */
const Reach = ({ sales: { rest, since, readMore }, text }: { sales: Sales; text: string }) => {
  if (rest === 'none') return null;
  if (rest === 'reading') return <Loading>{`Loading older sales: ${text.toLowerCase()}…`}</Loading>;
  return (
    <Notice tone="wait" title="This period is only partly loaded">
      There are many sales. Figures and list start at <Time at={new Date(since).toISOString()} />.
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
  isWhole,
  refundedOf,
  nameOf,
}: {
  sales: readonly Sale[];
  isFiltered: boolean;
  /** Whether the whole period is loaded, so that a file has all of it. */
  isWhole: boolean;
  refundedOf: Refunded;
  nameOf: ReadonlyMap<string, string>;
}) => {
  const [shown, setShown] = useState(AT_ONCE);
  const exporting = useExport('sales', {
    name: () => `quittance-sales-${new Date().toISOString().slice(0, 10)}.csv`,
    lines: () => salesCsv(sales, refundedOf, (id) => nameOf.get(id)),
    done: (name) => toast(`${sales.length.toLocaleString('en')} sales exported to ${name}.`),
  });
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
      title="All sales"
      actions={
        sales.length > 0 && (
          <Button
            size="small"
            isDisabled={!isWhole}
            busy={exporting.isBusy && 'Exporting…'}
            onPress={() => void exporting.run(undefined)}
          >
            Export as CSV
          </Button>
        )
      }
      about={
        sales.length === 0 ? undefined : `${sales.length.toLocaleString('en')} in this view, newest first.`
      }
    >
      {exporting.error !== null && <ErrorNotice error={exporting.error} />}
      <Table
        label="Sales"
        items={items}
        waiting=""
        keyOf={({ id }) => id}
        empty={
          isFiltered ? (
            <Empty title="No sales match these filters" />
          ) : (
            <Empty title="No sales in this period">
              <p>A sale starts when your server creates a quote.</p>
              <LinkButton to="/integrate">Put it in your server</LinkButton>
            </Empty>
          )
        }
        columns={[
          { heading: 'When', show: ({ at, settlement }) => <When at={at} id={settlement?.settlement_id} /> },
          {
            heading: 'Service',
            show: ({ serviceId }) => (
              <Link href={`/services/${serviceId}`}>{nameOf.get(serviceId) ?? shortId(serviceId)}</Link>
            ),
          },
          { heading: 'Rail', show: ({ settlement }) => <SaleRail settlement={settlement} /> },
          { heading: 'State', show: (sale) => <SaleState sale={sale} refundedOf={refundedOf} /> },
          {
            heading: 'Price',
            align: 'end',
            show: priceOf,
          },
          {
            heading: 'Net',
            align: 'end',
            show: ({ settlement }) =>
              settlement === null || !isPaid(settlement) ? null : (
                <Net settlement={settlement} refunded={refundedOf.get(settlement.settlement_id) ?? 0n} />
              ),
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
          <Copyable text={payer_address} label="payer address" short />
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

const Net = ({
  settlement: { net_amount, accrued_fee },
  refunded,
}: {
  settlement: Settlement;
  refunded: bigint;
}) => (
  <>
    <Money micro={BigInt(net_amount) - refunded} />
    {accrued_fee !== undefined && (
      <div className="quiet">
        <Money micro={accrued_fee} /> fee, billed separately
      </div>
    )}
  </>
);

/** A quote without a payment has its own stage. */
const SaleState = ({ sale: { stage, settlement }, refundedOf }: { sale: Sale; refundedOf: Refunded }) =>
  settlement === null ? (
    <State word={STAGE_WORDS[stage]} />
  ) : (
    <PaymentState of={settlement} stage={stage} refunded={refundedOf.get(settlement.settlement_id) ?? 0n} />
  );

/** An extension adds its amount to the price of another sale. */
const priceOf = ({ stage, quote, settlement }: Sale): ReactNode => (
  <Money micro={(settlement ?? quote)!.quote_amount} sign={stage === 'extension'} />
);

/** What a sale is waiting for. */
const nextOf = ({ stage, quote, settlement }: Sale): ReactNode => {
  if (stage === 'quoted' && quote !== null)
    return (
      <span className="quiet">
        expires in <Countdown until={quote.expires_at} over="a moment" />
      </span>
    );
  if (stage === 'paid' && typeof settlement?.redeem_expires_at === 'string')
    return (
      <span className="quiet">
        deliver within <Countdown until={settlement.redeem_expires_at} over="a moment" />
      </span>
    );
  if (stage === 'undelivered' && settlement?.rail !== 'quittance')
    return <span className="quiet">deliver or refund</span>;
  if (settlement?.extends !== undefined)
    return (
      <span className="quiet">
        raised <Link href={`/sales/${settlement.extends}`}>another sale</Link>
      </span>
    );
  if (stage === 'paying') return <span className="quiet">waiting for the chain</span>;
  return null;
};
