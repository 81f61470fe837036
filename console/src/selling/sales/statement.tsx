import { useState } from 'react';
import { readBookings } from '../../../../sdk/src/books.ts';
import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import { useAction, wholeList } from '../../api/data.ts';
import { useExport } from '../../api/export.ts';
import { useSession } from '../../api/use-session.tsx';
import { csvRow } from '../../lib/csv.ts';
import {
  Button,
  Empty,
  ErrorNotice,
  Money,
  Page,
  Row,
  Section,
  Select,
  Stack,
  Table,
} from '../../ui/index.ts';
import { type Month, monthsOf } from './statement-months.ts';

const SPANS = [
  ['3', 'Last 3 months'],
  ['12', 'Last 12 months'],
  ['36', 'Last 3 years'],
] as const;

/** The first moment of the month, so many months ago, UTC. */
const beginOfMonths = (count: number): number => {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + 1, 1);
};

const csvOf = (months: readonly Month[]): string[] => [
  csvRow(['month', 'payments', 'gross_usdc', 'fees_usdc', 'refunded_usdc', 'net_usdc', 'accrued_fees_usdc']),
  ...months.map(({ month, payments, gross, fees, refunded, net, accrued }) =>
    csvRow([month, String(payments), ...[gross, fees, refunded, net, accrued].map(plainUsdc)]),
  ),
];

/** Revenue, fees and refunds by month: to print, or as a file. */
const StatementPage = () => {
  const { account, environment } = useSession();
  const [span, setSpan] = useState<(typeof SPANS)[number][0]>('12');
  const [months, setMonths] = useState<readonly Month[] | null>(null);
  const [count, setCount] = useState(0);
  const build = useAction(
    async (client) => {
      setCount(0);
      const whole = { from: beginOfMonths(Number(span)), until: Number.POSITIVE_INFINITY };
      return monthsOf(await readBookings(client, whole, {}, setCount));
    },
    { done: setMonths },
  );
  const exporting = useExport('statement', {
    name: () => `quittance-statement-${environment}.csv`,
    lines: async () => csvOf(months ?? []),
  });
  return (
    <Page
      title="Statement"
      about="Gross, fees, refunds and net by UTC month. x402 fees are billed separately, and net is after them. A refund counts in its own month."
      actions={
        months !== null &&
        months.length > 0 && (
          <>
            <Button busy={exporting.isBusy && 'Exporting…'} onPress={() => void exporting.run(undefined)}>
              Export as CSV
            </Button>
            <Button onPress={() => print()}>Print</Button>
          </>
        )
      }
    >
      <Section title={`Statement of ${account?.email ?? ''}, ${environment} environment`}>
        <Stack>
          <Row>
            <Select label="Period" options={SPANS} value={span} onChange={setSpan} />
            <Button
              variant="primary"
              busy={build.isBusy && (count === 0 ? 'Loading your sales…' : `${count} sales loaded…`)}
              onPress={() => void build.run(undefined)}
            >
              Show
            </Button>
          </Row>
          {build.error !== null && <ErrorNotice error={build.error} />}
          {exporting.error !== null && <ErrorNotice error={exporting.error} />}
          {months !== null && <Months months={months} />}
        </Stack>
      </Section>
    </Page>
  );
};
export default StatementPage;

const Months = ({ months }: { months: readonly Month[] }) => (
  <Table
    label="Monthly statement"
    items={wholeList(months)}
    waiting=""
    keyOf={({ month }) => month}
    empty={<Empty title="No payments in this period" />}
    columns={[
      { heading: 'Month', show: ({ month }) => month },
      { heading: 'Payments', align: 'end', show: ({ payments }) => payments.toLocaleString('en') },
      { heading: 'Gross', align: 'end', show: ({ gross }) => <Money micro={gross} /> },
      { heading: 'Fees', align: 'end', show: ({ fees }) => <Money micro={-fees} /> },
      { heading: 'Fees, billed', align: 'end', show: ({ accrued }) => <Money micro={-accrued} /> },
      { heading: 'Refunds', align: 'end', show: ({ refunded }) => <Money micro={-refunded} /> },
      { heading: 'Net', align: 'end', show: ({ net }) => <Money micro={net} /> },
    ]}
  />
);
