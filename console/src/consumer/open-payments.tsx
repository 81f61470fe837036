import { Link } from 'wouter';
import { isOutgoingRail } from '../../../sdk/src/payment.ts';
import { useItems } from '../api/data.ts';
import { Ago, Badge, Money, Section, Table } from '../ui/index.ts';

/** They are seen on the chain, or proven unused, within about a minute. */
const EVERY_MS = 10_000;

/**
 * Payments to outside vendors that are signed and not seen on the chain. The list of transactions
 * has them only when the chain shows them, and their amounts are reserved meanwhile. Nothing is
 * shown while there are none.
 */
export const OpenPayments = ({ nameOf }: { nameOf: (delegateId: string) => string }) => {
  const open = useItems(
    ['payments', 'open'],
    (client, cursor, options) =>
      client.settlement.list({ cursor, role: 'payer', status: 'pending' }, options),
    { every: EVERY_MS },
  );
  const signed = open.data.filter(({ rail }) => isOutgoingRail(rail));
  if (signed.length === 0) return null;
  return (
    <Section
      title="Signed, not on chain yet"
      about="Payments to outside vendors (x402, MPP). The amounts are held until the payment is on chain or has expired."
    >
      <Table
        label="Signed payments"
        items={{ ...open, data: signed }}
        waiting="Loading signed payments…"
        keyOf={({ settlement_id }) => settlement_id}
        empty={null}
        columns={[
          {
            heading: 'When',
            show: ({ created_at }) => (
              <span className="one-line">
                <Ago at={created_at} />
              </span>
            ),
          },
          {
            heading: 'To',
            main: true,
            show: ({ settlement_id, service_name }) => (
              <Link href={`/payments/${settlement_id}`}>{service_name}</Link>
            ),
          },
          { heading: 'Agent', show: ({ delegate_id }) => (delegate_id == null ? null : nameOf(delegate_id)) },
          { heading: 'Status', show: () => <Badge state="signed, may still be used" tone="wait" /> },
          {
            heading: 'Amount',
            align: 'end',
            show: ({ quote_amount }) => <Money micro={-BigInt(quote_amount)} sign />,
          },
        ]}
      />
    </Section>
  );
};
