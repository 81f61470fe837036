import { DECLINE_BADGES } from '../../../sdk/src/generated/limits.ts';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useItems } from '../api/data.ts';
import { Ago, Badge, Money, Section, Table } from '../ui/index.ts';
import { useDelegateNames } from './names.tsx';

type Decline = Output<'settlement.listDeclines'>['data'][number];

const EVERY_MS = 10_000;
const LATEST = '6';

/** The reason for its payer, the code for its vendor, who learns no limits. */
const reasonOf = ({ reason, code }: Decline): string =>
  reason === undefined ? code : (DECLINE_BADGES[reason] ?? reason);

/** The latest refused payments of the account as payer. Nothing is shown while there are none. */
export const LatestDeclines = () => {
  const declines = useItems(
    ['declines', 'latest'],
    (client, cursor, options) =>
      client.settlement.listDeclines({ role: 'payer', cursor, limit: LATEST }, options),
    { every: EVERY_MS },
  );
  return <Declines title="Latest declines" declines={{ ...declines, hasMore: false }} isOfAll />;
};

/** The refused payments of one quote. Nothing is shown while there are none. */
export const DeclinesOf = ({ quoteId, side }: { quoteId: string; side: 'payer' | 'vendor' }) => {
  const declines = useItems(['declines', quoteId, side], (client, cursor, options) =>
    client.settlement.listDeclines({ role: side, quote_id: quoteId, cursor }, options),
  );
  return <Declines title="Declined attempts" declines={declines} />;
};

const For = ({ of: { service_name, item } }: { of: Decline }) => (
  <>
    {service_name}
    {item !== null && <div className="quiet long">{item}</div>}
  </>
);

const Declines = ({
  title,
  declines,
  isOfAll = false,
}: {
  title: string;
  declines: Items<Decline>;
  /** Of more than one quote, so each row says what for. */
  isOfAll?: boolean;
}) => {
  const agents = useDelegateNames();
  if (declines.data.length === 0) return null;
  return (
    <Section title={title} about="Refused payments. No money moved.">
      <Table
        label={title}
        items={declines}
        waiting="Loading the declines…"
        keyOf={({ decline_id }) => decline_id}
        empty={null}
        columns={[
          { heading: 'When', show: ({ created_at }) => <Ago at={created_at} /> },
          ...(isOfAll
            ? [{ heading: 'For', main: true, show: (decline: Decline) => <For of={decline} /> }]
            : []),
          { heading: 'Reason', show: (decline) => <Badge state={reasonOf(decline)} tone="bad" /> },
          {
            heading: 'By',
            show: ({ delegate_id }) =>
              delegate_id == null ? null : (agents?.get(delegate_id) ?? delegate_id),
          },
          { heading: 'Amount', align: 'end', show: ({ amount }) => <Money micro={amount} /> },
        ]}
      />
    </Section>
  );
};
