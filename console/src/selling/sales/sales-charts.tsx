import {
  funnelOf,
  percent,
  type Refunded,
  revenueByTime,
  revenueOf,
  type Sale,
} from '../../payments/sales-figures.ts';
import { Chart, LinkButton, Money, Section, Stack } from '../../ui/index.ts';
import { Ledger } from './ledger.tsx';
import '../../payments/payments.css';

/** How many quotes were paid, and how many of those were delivered. */
export const Conversion = ({ sales }: { sales: readonly Sale[] }) => {
  const { quoted, paid, delivered, unpaid, undelivered, open } = funnelOf(sales);
  const hasOthers = sales.some(({ settlement }) => settlement !== null && settlement.rail !== 'quittance');
  const steps = [
    ['Quoted', quoted, false],
    ['Paid', paid, quoted > 0 && `${percent(paid, quoted)} of quotes`],
    ['Delivered', delivered, paid > 0 && `${percent(delivered, paid)} of paid`],
  ] as const;
  return (
    <Section
      title="Conversion"
      about={`Quotes of your server in this period. Buyers who only ask the price share one.${hasOthers ? ' x402 and MPP payments have no quote and are not counted.' : ''}`}
    >
      <Stack>
        <ol className="funnel">
          {steps.map(([name, count, text]) => (
            <li key={name}>
              <span className="funnel-name">{name}</span>
              <strong className="figure">{count.toLocaleString('en')}</strong>
              {text !== false && <span className="quiet">{text}</span>}
              <svg viewBox="0 0 1000 8" preserveAspectRatio="none" aria-hidden="true">
                <rect width="1000" height="8" rx="4" />
                <rect width={quoted === 0 ? 0 : (count / quoted) * 1000} height="8" rx="4" />
              </svg>
            </li>
          ))}
        </ol>
        <Ledger
          of={[
            ['Open quotes', open.toLocaleString('en')],
            ['Awaiting delivery', (paid - delivered - undelivered).toLocaleString('en')],
            ['Expired unpaid', unpaid.toLocaleString('en')],
            ['Not delivered', undelivered.toLocaleString('en')],
          ]}
        />
      </Stack>
    </Section>
  );
};

const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const hour = new Intl.DateTimeFormat('en', {
  hour: '2-digit',
  minute: '2-digit',
  hour12: false,
  timeZone: 'UTC',
});

/** The vendor's revenue of the period, by day or hour. */
export const RevenueSection = ({
  sales,
  since,
  until,
  refundedOf,
}: {
  sales: readonly Sale[];
  /** The time from which the sales are complete, and the end of the period, in milliseconds. */
  since: number;
  until: number;
  /** Null while unknown. */
  refundedOf: Refunded | null;
}) => {
  const known = refundedOf ?? NONE;
  const { gross, fees, refunded, net, accrued } = revenueOf(sales, known);
  const parts = revenueByTime(sales, since, until, known);
  const points = parts.map((part) => ({
    label: (part.hour ? hour : day).format(part.from),
    micro: part.net,
    more: part.fees,
  }));
  return (
    <Section
      title="Net revenue"
      about={`Payments in this period by UTC ${parts[0]?.hour === true ? 'hour' : 'day'}.`}
      actions={
        <LinkButton to="/sales/statement" size="small">
          Monthly statement
        </LinkButton>
      }
    >
      <Stack>
        <div>
          <Money micro={net} large />
          <p className="quiet">
            {refundedOf === null
              ? 'Net after all fees; refunds are loading'
              : 'Net after all fees and refunds'}
          </p>
        </div>
        <Ledger
          of={[
            ['Gross', <Money key="gross" micro={gross} />],
            ['Fees', <Money key="fees" micro={-fees} />],
            ['Refunds', refundedOf === null ? 'loading' : <Money key="refunded" micro={-refunded} />],
            ['x402 fees, billed separately', accrued > 0n && <Money key="accrued" micro={-accrued} />],
          ]}
        />
        {gross > 0n && <Chart label="Net revenue" parts={['Net', 'Fees']} points={points} />}
      </Stack>
    </Section>
  );
};
const NONE: Refunded = new Map();
