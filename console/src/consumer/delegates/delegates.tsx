import { useState } from 'react';
import { Link } from 'wouter';
import { useItems } from '../../api/data.ts';
import {
  Ago,
  Button,
  Empty,
  ErrorNotice,
  LinkButton,
  Loading,
  Money,
  Page,
  Section,
  Table,
} from '../../ui/index.ts';
import './delegates.css';
import { StopAll } from '../stop-all.tsx';
import { DelegateCard } from './delegate-card.tsx';
import { CreateDelegate } from './delegate-create.tsx';
import type { Delegate } from './delegate-form.ts';

/** How often the list is read, because running programs change what delegates have left. */
const EVERY_MS = 15_000;

const DelegatesPage = () => {
  const [creating, setCreating] = useState(false);
  const wallets = useItems(['wallets'], (client, cursor, options) => client.wallet.list({ cursor }, options));
  const delegates = useItems(
    ['delegates'],
    (client, cursor, options) => client.identity.listDelegates({ cursor }, options),
    { every: EVERY_MS },
  );
  return (
    <Page
      title="Agents"
      about="An agent is a program that pays for you: it has a key, a wallet and limits. The API calls it a delegate."
      actions={
        wallets.data.length > 0 && (
          <>
            <StopAll delegates={delegates.data} />
            <Button variant="primary" onPress={() => setCreating(true)}>
              New agent
            </Button>
          </>
        )
      }
    >
      {wallets.error !== null && <ErrorNotice error={wallets.error} retry={wallets.again} />}
      <Cards delegates={delegates} hasWallet={wallets.isPending || wallets.data.length > 0} />
      <Revoked />
      {creating && <CreateDelegate wallets={wallets.data} onClose={() => setCreating(false)} />}
    </Page>
  );
};
export default DelegatesPage;

/** Revoked delegates stay findable, because their payments name them. */
const Revoked = () => {
  const revoked = useItems(['delegates', 'revoked'], (client, cursor, options) =>
    client.identity.listDelegates({ status: 'revoked', cursor }, options),
  );
  if (revoked.data.length === 0) return null;
  return (
    <Section
      title="Revoked"
      about="The keys of these agents no longer work. Their payments stay in your activity."
    >
      <Table
        label="Revoked agents"
        items={revoked}
        waiting="Loading revoked agents…"
        keyOf={({ delegate_id }) => delegate_id}
        empty={null}
        columns={[
          {
            heading: 'Name',
            show: ({ delegate_id, name }) => <Link href={`/activity?delegate=${delegate_id}`}>{name}</Link>,
          },
          { heading: 'Revoked', show: ({ revoked_at }) => <Ago at={revoked_at} /> },
          { heading: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
          { heading: 'Spent', align: 'end', show: ({ usage }) => <Money micro={usage.total.spent} /> },
        ]}
      />
    </Section>
  );
};

const Cards = ({
  delegates: { data, error, isPending, hasMore, more, isLoadingMore, again },
  hasWallet,
}: {
  delegates: ReturnType<typeof useItems<Delegate>>;
  hasWallet: boolean;
}) => {
  if (isPending) return <Loading>Loading your agents and their spending…</Loading>;
  if (data.length === 0 && error !== null) return <ErrorNotice error={error} retry={again} />;
  if (data.length === 0) {
    return (
      <div className="section">
        {hasWallet ? (
          <Empty title="No agents yet">
            Give each program its own key, so that a faulty one stops at its limit.
          </Empty>
        ) : (
          <Empty title="You need a wallet first">
            <div>An agent pays from one of your wallets.</div>
            <LinkButton to="/wallet" variant="primary">
              Add a wallet
            </LinkButton>
          </Empty>
        )}
      </div>
    );
  }
  return (
    <>
      {error !== null && <ErrorNotice error={error} retry={again} />}
      <div className="cards">
        {data.map((delegate) => (
          <DelegateCard key={delegate.delegate_id} delegate={delegate} />
        ))}
      </div>
      {hasMore && (
        <div className="table-more">
          <Button size="small" busy={isLoadingMore && 'Loading more…'} onPress={more}>
            Show more agents
          </Button>
        </div>
      )}
    </>
  );
};
