import { Link } from 'wouter';
import { COUNTED_CAPS, COUNTED_NAMES } from '../../../sdk/src/generated/limits.ts';
import type { Output } from '../../../sdk/src/main.ts';
import { isPaid, itemOf, keptOf, movedOf } from '../../../sdk/src/payment.ts';
import { useItems } from '../api/data.ts';
import { LatestDeclines } from '../payments/declines.tsx';
import { Item } from '../payments/item.tsx';
import { PaymentState } from '../payments/payment-state.tsx';
import { useSummary } from '../payments/summary.ts';
import { Ago, Columns, Empty, Meter, Money, Section, Stack, Table } from '../ui/index.ts';
import type { Wallet } from '../wallet/signing.tsx';
import { Figure } from './figure.tsx';
import { Revenue } from './revenue.tsx';

type Settlement = Output<'settlement.list'>['data'][number];

/** How often the newest payments are read. */
const EVERY_MS = 10_000;
const LATEST = '6';

const sum = (amounts: readonly string[]): bigint => amounts.reduce((all, each) => all + BigInt(each), 0n);

/** The account at a glance: revenue, money, agents, and what happened last. */
const Overview = ({
  wallets,
  isVendor,
  isBuyer,
}: {
  wallets: readonly Wallet[];
  isVendor: boolean;
  isBuyer: boolean;
}) => (
  <>
    {isVendor && <Revenue />}
    {isBuyer && <Spendable wallets={wallets} />}
    <Columns>
      <Stack>
        {isVendor && <Latest side="vendor" title="Latest sales" path="/sales" />}
        {(isBuyer || !isVendor) && <Latest side="payer" title="Latest payments" path="/activity" />}
      </Stack>
      <Stack>
        <Agents />
        <LatestDeclines />
      </Stack>
    </Columns>
  </>
);

/** What a buyer has, may spend and has spent. */
const Spendable = ({ wallets }: { wallets: readonly Wallet[] }) => {
  const spent = useSummary(30, 'day').data;
  const allowed = wallets.filter(({ delegation }) => delegation.status === 'active');
  return (
    <div className="figures">
      <Figure label="Balance" note={<Link href="/wallet">Wallet</Link>}>
        <Money micro={sum(wallets.map(({ balance }) => balance))} large />
      </Figure>
      <Figure label="Spending limit" note={<Link href="/wallet">Change</Link>}>
        <Money micro={sum(allowed.map(({ delegation }) => delegation.allowance))} large />
      </Figure>
      <Figure label="Spent, 30 days" note={<Link href="/activity">Activity</Link>}>
        {spent === undefined ? <span className="quiet">…</span> : <Money micro={spent.total_spent} large />}
      </Figure>
    </div>
  );
};

export default Overview;

const Latest = ({ side, title, path }: { side: 'payer' | 'vendor'; title: string; path: string }) => {
  const items = useItems(
    ['payments', 'latest', side],
    (client, cursor, options) => client.settlement.list({ role: side, cursor, limit: LATEST }, options),
    { every: EVERY_MS },
  );
  const shown = { ...items, hasMore: false };
  const to = ({ settlement_id }: Settlement) =>
    side === 'vendor' ? `/sales/${settlement_id}` : `/payments/${settlement_id}`;
  return (
    <Section title={title} actions={<Link href={path}>See all</Link>}>
      <Table
        label={title}
        items={shown}
        waiting="Loading the latest payments…"
        keyOf={({ settlement_id }) => settlement_id}
        empty={<Empty title={side === 'vendor' ? 'No sales yet' : 'No payments yet'} />}
        columns={[
          { heading: 'When', show: ({ created_at }) => <Ago at={created_at} /> },
          {
            heading: 'For',
            main: true,
            show: (each) => {
              const item = itemOf(each);
              return (
                <>
                  <Link href={to(each)}>{each.service_name}</Link>
                  {item !== null && <Item text={item} />}
                </>
              );
            },
          },
          { heading: 'Status', show: (each) => <PaymentState of={each} /> },
          side === 'vendor'
            ? {
                heading: 'Net',
                align: 'end',
                show: (each) => <Money micro={isPaid(each) ? keptOf(each, 0n) : 0n} sign />,
              }
            : {
                heading: 'Amount',
                align: 'end',
                show: (each) => <Money micro={-movedOf(each)} sign />,
              },
        ]}
      />
    </Section>
  );
};

/** Agents with a limit, and how much of it they have used. */
const Agents = () => {
  const delegates = useItems(['delegates'], (client, cursor, options) =>
    client.identity.listDelegates({ cursor }, options),
  );
  const limited = delegates.data.flatMap(({ delegate_id, name, limits, usage }) => {
    const period = COUNTED_NAMES.find((each) => limits[each] !== null);
    return period === undefined
      ? []
      : [{ delegate_id, name, limit: BigInt(limits[period]!), used: usage[period], period }];
  });
  if (limited.length === 0) return null;
  return (
    <Section title="Agents and their limits" actions={<Link href="/delegates">Agents</Link>}>
      <Stack>
        {limited.slice(0, 4).map(({ delegate_id, name, limit, used, period }) => (
          <Meter
            key={delegate_id}
            label={`${name}, ${COUNTED_CAPS[period].toLowerCase()}`}
            spent={BigInt(used.spent)}
            held={BigInt(used.held)}
            limit={limit}
          />
        ))}
      </Stack>
    </Section>
  );
};
