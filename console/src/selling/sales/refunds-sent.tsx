import { Link } from 'wouter';
import { wholeList } from '../../api/data.ts';
import { shortId } from '../../lib/short-id.ts';
import type { Refund } from '../../payments/settlement-history.ts';
import { TransactionHash } from '../../payments/transaction-hash.tsx';
import { Copyable, Money, Section, Table, Time } from '../../ui/index.ts';

/** The refunds that were sent in a period, also of sales that are older than it. */
export const RefundsSent = ({
  refunds,
  nameOf,
}: {
  /** Confirmed ones. */
  refunds: readonly Refund[];
  nameOf: ReadonlyMap<string, string>;
}) =>
  refunds.length === 0 ? null : (
    <Section title="Refunds sent" about="In this period, whenever their sales were.">
      <Table
        label="Refunds sent"
        items={wholeList(refunds)}
        waiting=""
        keyOf={({ refund_id }) => refund_id}
        empty={null}
        columns={[
          {
            heading: 'When',
            show: ({ confirmed_at, settlement_id }) => (
              <Link href={`/sales/${settlement_id}`}>
                <Time at={confirmed_at!} />
              </Link>
            ),
          },
          { heading: 'Service', show: ({ service_id }) => nameOf.get(service_id) ?? shortId(service_id) },
          {
            heading: 'To',
            show: ({ destination_address }) => (
              <Copyable text={destination_address} label="payer address" short />
            ),
          },
          {
            heading: 'Transaction',
            show: ({ tx_hash }) =>
              tx_hash !== null && <TransactionHash hash={tx_hash} label="refund transaction" short />,
          },
          { heading: 'Amount', align: 'end', show: ({ amount }) => <Money micro={-BigInt(amount)} /> },
        ]}
      />
    </Section>
  );
