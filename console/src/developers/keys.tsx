import { Link } from 'wouter';
import { useItems } from '../api/data.ts';
import { Ago, Badge, Empty, Section, Table, Time } from '../ui/index.ts';
import { KEYS } from './texts.ts';

/** The keys that can be used: how each begins, its last use and its end. */
export const Keys = () => {
  const keys = useItems(['keys'], (client, cursor, options) => client.identity.listKeys({ cursor }, options));
  return (
    <Section title={KEYS.title} about={KEYS.about}>
      <Table
        label={KEYS.title}
        items={keys}
        waiting="Loading your keys…"
        keyOf={({ key_id }) => key_id}
        empty={<Empty title={KEYS.none}>{KEYS.first}</Empty>}
        columns={[
          {
            heading: 'Of',
            main: true,
            show: ({ name, service_id }) =>
              service_id === null ? (
                <>
                  <Link href="/delegates">{name}</Link> <span className="quiet">agent</span>
                </>
              ) : (
                <>
                  <Link href={`/services/${service_id}`}>{name}</Link> <span className="quiet">service</span>
                </>
              ),
          },
          {
            heading: 'Key',
            show: ({ beginning, current }) => (
              <>
                <code>{beginning}…</code> {!current && <Badge state="replaced" tone="wait" />}
              </>
            ),
          },
          { heading: 'Created', show: ({ created_at }) => <Time at={created_at} date /> },
          { heading: 'Last use', show: ({ last_used_at }) => <Ago at={last_used_at} /> },
          { heading: 'Ends', show: ({ expires_at }) => <Time at={expires_at} /> },
        ]}
      />
    </Section>
  );
};
