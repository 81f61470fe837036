import { useState } from 'react';
import { plainUsdc } from '../../../../sdk/src/generated/usdc.ts';
import type { Client } from '../../../../sdk/src/main.ts';
import { useAction } from '../../api/data.ts';
import { useExport } from '../../api/export.ts';
import { useSession } from '../../api/use-session.tsx';
import { csvRow } from '../../lib/csv.ts';
import type { Settlement } from '../../payments/sales-figures.ts';
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
const beginOfMonths = (count: number): string => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + 1, 1)).toISOString();
};

/** All settlements and refunds since a moment. Both lists are newest first. */
const readSince = async (client: Client, since: string, onRead: (count: number) => void) => {
  const settlements: Settlement[] = [];
  for await (const each of client.settlement.list({ role: 'vendor', limit: '100' })) {
    if (each.created_at < since) break;
    settlements.push(each);
    if (settlements.length % 100 === 0) onRead(settlements.length);
  }
  const refundedOf = new Map<string, bigint>();
  for await (const { created_at, settlement_id, amount, status } of client.funding.listRefunds({
    limit: '100',
  })) {
    if (created_at < since) break;
    if (status === 'confirmed' || status === 'finalized')
      refundedOf.set(settlement_id, (refundedOf.get(settlement_id) ?? 0n) + BigInt(amount));
  }
  return monthsOf(settlements, refundedOf);
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
      return readSince(client, beginOfMonths(Number(span)), setCount);
    },
    { done: setMonths },
  );
  const exporting = useExport('statement', {
    name: () => `quittance-statement-${environment}.csv`,
    lines: () => csvOf(months ?? []),
  });
  return (
    <Page
      title="Statement"
      about="Gross, fees, refunds and net by UTC month. x402 fees are billed separately, and net is after them. A refund counts in the month of its payment."
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
    items={{
      data: months,
      error: null,
      isPending: false,
      hasMore: false,
      more: () => undefined,
      isLoadingMore: false,
      again: () => undefined,
    }}
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
