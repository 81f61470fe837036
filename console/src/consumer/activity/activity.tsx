import { Link } from 'wouter';
import type { Output } from '../../../../sdk/src/main.ts';
import { useItems } from '../../api/data.ts';
import { shortId } from '../../lib/short-id.ts';
import { Item } from '../../payments/item.tsx';
import { ChainMark, State } from '../../payments/payment-state.tsx';
import { transferWord } from '../../payments/state-words.ts';
import { Ago, type Column, Empty, LinkButton, Money, Page, Section, Stack, Table } from '../../ui/index.ts';
import './activity.css';
import { LatestDeclines } from '../../payments/declines.tsx';
import { ServiceName, useDelegateNames, useRecentNames } from '../../payments/names.tsx';
import { useSummary } from '../../payments/summary.ts';
import { OpenPayments } from '../open-payments.tsx';
import { Spending } from '../spending.tsx';
import { ActivityFilters, useFilters } from './activity-filters.tsx';
import { queryOf } from './activity-query.ts';
import { ExportCsv } from './export.tsx';

type Transaction = Output<'wallet.listTransactions'>['data'][number];

const KIND: Record<`${Transaction['type']} ${Transaction['direction']}`, string> = {
  'payment out': 'Payment',
  'payment in': 'Sale',
  'deposit in': 'Deposit',
  'deposit out': 'Deposit',
  'withdrawal out': 'Withdrawal',
  'withdrawal in': 'Withdrawal',
  'refund out': 'Refund sent',
  'refund in': 'Refund',
  'dev_fund in': 'Test money',
  'dev_fund out': 'Test money',
};
/** How many services the filter lists: those with the highest spending of the last year. */
const OFFERED = 20;

const ActivityPage = () => {
  const filtering = useFilters();
  const query = queryOf(filtering.filters);
  const transactions = useItems(['transactions', query], (client, cursor, options) =>
    client.wallet.listTransactions({ ...query, cursor, limit: '50' }, options),
  );
  const delegates = useDelegateNames();
  const nameOf = (id: string): string | null => delegates?.get(id) ?? null;
  const shownName = (id: string) =>
    nameOf(id) ?? (delegates === undefined ? shortId(id) : `revoked (${shortId(id)})`);
  const paid = useSummary(365, 'service').data?.groups.slice(0, OFFERED) ?? [];
  const names = useRecentNames();
  const services = paid.flatMap(({ key }) =>
    key === null ? [] : [[key, names?.get(key) ?? shortId(key)] as const],
  );
  const isFiltered = Object.keys(query).length > 0;
  const { data, error, isPending } = transactions;
  const isNew = !isFiltered && !isPending && error === null && data.length === 0;

  return (
    <Page title="Activity" about="What you paid and received, and what for.">
      <OpenPayments nameOf={shownName} />
      <LatestDeclines />
      <Spending nameOf={shownName} />
      <Section title="Transactions" actions={!isNew && <ExportCsv query={query} nameOf={nameOf} />}>
        <Stack>
          {!isNew && (
            <ActivityFilters {...filtering} services={services} delegates={[...(delegates ?? [])]} />
          )}
          <Table
            label="Transactions"
            items={transactions}
            waiting="Loading your transactions…"
            keyOf={({ transaction_id }) => transaction_id}
            empty={
              isFiltered ? (
                <Empty title="No transactions match these filters" />
              ) : (
                <Empty title="No transactions yet">
                  Payments, deposits, withdrawals and refunds appear here once confirmed.
                  <div>
                    <LinkButton to="/wallet">Wallet</LinkButton>
                  </div>
                </Empty>
              )
            }
            columns={columnsOf(shownName)}
          />
        </Stack>
      </Section>
    </Page>
  );
};
export default ActivityPage;

const columnsOf = (shownName: (delegateId: string) => string): readonly Column<Transaction>[] => [
  {
    heading: 'When',
    show: ({ created_at }) => (
      <span className="one-line">
        <Ago at={created_at} />
      </span>
    ),
  },
  { heading: 'What', main: true, show: (row) => <What row={row} /> },
  {
    heading: 'By',
    show: ({ delegate_id }) => (delegate_id === null ? null : shownName(delegate_id)),
  },
  {
    heading: 'Status',
    show: ({ type, status }) => (
      <span className="one-line">
        <State word={transferWord(type, status)} /> <ChainMark state={status} />
      </span>
    ),
  },
  {
    heading: 'Fee included',
    align: 'end',
    show: ({ fee_amount }) => (fee_amount === '0' ? null : <Money micro={fee_amount} />),
  },
  {
    heading: 'Amount',
    align: 'end',
    show: ({ amount, direction }) => (
      <Money micro={direction === 'out' ? -BigInt(amount) : BigInt(amount)} sign />
    ),
  },
];

/** The kind, linked to the object's page, the service of a payment, and what was bought. */
const What = ({ row: { type, direction, object_id, service_id, item } }: { row: Transaction }) => {
  const text = KIND[`${type} ${direction}`];
  const to = { payment: `/payments/${object_id}`, deposit: '/deposits', withdrawal: '/withdrawals' }[
    type as string
  ];
  return (
    <>
      {to === undefined ? text : <Link href={to}>{text}</Link>}
      {service_id !== null && (
        <>
          {' · '}
          <ServiceName id={service_id} />
        </>
      )}
      {service_id === null && type === 'payment' && '  · outside vendor'}
      {item !== null && <Item text={item} />}
    </>
  );
};
