import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import { createdSince, readBookings, refundsIn } from '../../../../sdk/src/books.ts';
import { isPaid, itemOf, keptOf, movedOf } from '../../../../sdk/src/payment.ts';
import { type Items, wholeList } from '../../api/data.ts';
import { useExport } from '../../api/export.ts';
import { useNow } from '../../lib/clock.ts';
import { Countdown } from '../../lib/countdown.tsx';
import { shortId } from '../../lib/short-id.ts';
import { Item } from '../../payments/item.tsx';
import { PaymentState, State } from '../../payments/payment-state.tsx';
import { railName } from '../../payments/rail.ts';
import { refundedBy, type Sales, useAllServices, useRefunds, useSales } from '../../payments/sales-data.ts';
import {
  feeOf,
  findSales,
  hasHighFee,
  isBelowFee,
  isUnpaidQuote,
  joinSales,
  type Refunded,
  type Sale,
  type Settlement,
} from '../../payments/sales-figures.ts';
import { STAGE_WORDS } from '../../payments/state-words.ts';
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
} from '../../ui/index.ts';
import { FeesSection } from './fees.tsx';
import { RefundsSent } from './refunds-sent.tsx';
import { Conversion, RevenueSection } from './sales-charts.tsx';
import { salesCsv } from './sales-csv.ts';
import { SalesFilters, useSalesFilters } from './sales-filters.tsx';

type Filters = ReturnType<typeof useSalesFilters>;

const AT_ONCE = 25;

/** Quotes, payments and redeems as they happen, with their sums. The filters are in the URL. */
const SalesPage = () => {
  // Figures depend on the time. The countdowns of rows have their own timer.
  const now = useNow(5000);
  const { services } = useAllServices();
  const nameOf = new Map(services.map(({ service_id, name }) => [service_id, name]));
  const chosen = useSalesFilters(now);
  const { period, serviceId, stage, rail, find } = chosen;
  const read = useSales(period.from, now, { serviceId, rail });
  const refunds = useRefunds(createdSince(read.since));
  const refundedOf = refunds === null ? null : refundedBy(refunds);
  const inPeriod = read.sales.filter(({ at }) => Date.parse(at) < period.until);
  // Quotes that nobody has paid are no sales. They are listed by their own states.
  const isListed = (sale: Sale) =>
    (stage === 'all' ? !isUnpaidQuote(sale) : sale.stage === stage) && findSales([sale], find).length > 0;
  const file = useSalesFile(chosen, isListed, nameOf);
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
            sales={inPeriod.filter(isListed)}
            isFiltered={stage !== 'all' || rail !== undefined || find !== ''}
            file={file}
            refundedOf={refundedOf ?? NO_REFUNDS}
            nameOf={nameOf}
          />
          <RefundsSent
            refunds={refundsIn(refunds ?? [], period).filter(
              ({ service_id }) => serviceId === undefined || service_id === serviceId,
            )}
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

/**
 * The file of the books of the period, with the filters of the view. It is read apart from the
 * view, because a sale counts when it is confirmed, and a refund's sale may be older.
 */
const useSalesFile = (
  { period, serviceId, rail }: Filters,
  isChosen: (sale: Sale) => boolean,
  nameOf: ReadonlyMap<string, string>,
) =>
  useExport('sales', {
    name: () => `quittance-sales-${new Date().toISOString().slice(0, 10)}.csv`,
    lines: async (client) => {
      const now = Date.now();
      const bookings = await readBookings(client, period, { serviceId, rail });
      const chosen = bookings.filter(({ settlement }) => joinSales([], [settlement], now).some(isChosen));
      return salesCsv(chosen, { now, nameOf: (id) => nameOf.get(id) });
    },
    done: (name, rows) => toast(`${rows.toLocaleString('en')} sales and refunds exported to ${name}.`),
  });

const NoSales = ({ isFiltered }: { isFiltered: boolean }) =>
  isFiltered ? (
    <Empty title="No sales match these filters" />
  ) : (
    <Empty title="No sales in this period">
      <p>A payment appears here at once. Unpaid quotes are under the states quoted and expired.</p>
      <LinkButton to="/integrate">Put it in your server</LinkButton>
    </Empty>
  );

const SalesTable = ({
  sales,
  isFiltered,
  file,
  refundedOf,
  nameOf,
}: {
  sales: readonly Sale[];
  isFiltered: boolean;
  file: ReturnType<typeof useSalesFile>;
  refundedOf: Refunded;
  nameOf: ReadonlyMap<string, string>;
}) => {
  const [shown, setShown] = useState(AT_ONCE);
  const items: Items<Sale> = {
    ...wholeList(sales.slice(0, shown)),
    hasMore: sales.length > shown,
    more: () => setShown(shown + 4 * AT_ONCE),
  };
  return (
    <Section
      title="All sales"
      actions={
        <Button size="small" busy={file.isBusy && 'Exporting…'} onPress={() => void file.run(undefined)}>
          Export as CSV
        </Button>
      }
      about={
        sales.length === 0 ? undefined : `${sales.length.toLocaleString('en')} in this view, newest first.`
      }
    >
      {file.error !== null && <ErrorNotice error={file.error} />}
      <Table
        label="Sales"
        items={items}
        waiting=""
        keyOf={({ id }) => id}
        empty={<NoSales isFiltered={isFiltered} />}
        columns={[
          { heading: 'When', show: ({ at, settlement }) => <When at={at} id={settlement?.settlement_id} /> },
          {
            heading: 'Service',
            show: ({ serviceId }) => (
              <Link href={`/services/${serviceId}`}>{nameOf.get(serviceId) ?? shortId(serviceId)}</Link>
            ),
          },
          { heading: 'Paid by', show: (sale) => <SaleRail sale={sale} /> },
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

/** The rail, who paid if it is known, and for what. */
const SaleRail = ({ sale: { settlement, quote } }: { sale: Sale }) => {
  const item = itemOf(settlement ?? { scope: quote!.scope });
  // Only a payment by Quittance has a quote.
  const { rail, payer_address } = settlement ?? { rail: 'quittance' as const };
  return (
    <>
      {railName(rail)}
      {payer_address !== undefined && (
        <div>
          <Copyable text={payer_address} label="payer address" short />
        </div>
      )}
      {item !== null && <Item text={item} />}
    </>
  );
};

const Net = ({ settlement, refunded }: { settlement: Settlement; refunded: bigint }) => (
  <>
    <Money micro={keptOf(settlement, refunded)} />
    {settlement.accrued_fee !== undefined && (
      <div className="quiet">
        <Money micro={settlement.accrued_fee} /> fee, billed separately
      </div>
    )}
    {hasHighFee(settlement) && (
      <div className="quiet">
        fee <Money micro={settlement.fee_amount} />
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

/** An extension adds to the price of another sale. Of an authorization a part is paid. */
const priceOf = ({ stage, quote, settlement }: Sale): ReactNode => {
  if (settlement?.authorization !== undefined)
    return (
      <>
        <Money micro={movedOf(settlement)} />
        <div className="quiet">
          of <Money micro={settlement.authorization.max_amount} />
        </div>
      </>
    );
  return <Money micro={(settlement ?? quote)!.quote_amount} sign={stage === 'extension'} />;
};

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
  if (stage === 'extension' && typeof quote?.settlement_id === 'string')
    return (
      <span className="quiet">
        part of <Link href={`/sales/${quote.settlement_id}`}>another sale</Link>
      </span>
    );
  if (stage === 'voided' && settlement?.authorization !== undefined && isBelowFee(settlement.authorization))
    return (
      <span className="quiet">
        use of <Money micro={settlement.authorization.used} /> does not exceed the fee of{' '}
        <Money micro={feeOf(settlement.authorization)} />
      </span>
    );
  if (stage === 'paying') return <span className="quiet">waiting for the chain</span>;
  return null;
};
