import { useItems } from '../api/data.ts';
import { EXAMPLES } from '../generated/examples.ts';
import { Ago, Code, Copyable, Empty, LinkButton, Section, Table } from '../ui/index.ts';
import { VERIFY } from './texts.ts';

/** How often the newest events are read. */
const EVERY_MS = 5000;

const ROLES: Readonly<Record<string, string>> = { payer: 'buyer', vendor: 'vendor' };

/** The newest events of the account as they happen, each with its payload. */
export const LiveEvents = () => {
  const events = useItems(
    ['events', 'live'],
    (client, cursor, options) => client.webhook.listEvents({ cursor, limit: '10' }, options),
    { every: EVERY_MS },
  );
  return (
    <Section
      title="Events"
      about="Live, kept for 30 days. Webhook deliveries have the same JSON as their body."
      actions={
        <LinkButton to="/webhooks" size="small">
          Webhooks
        </LinkButton>
      }
    >
      <Table
        label="Events"
        items={events}
        waiting="Loading your events…"
        keyOf={({ event_id }) => event_id}
        empty={<Empty title="No events yet">Payments, refunds and new keys appear here.</Empty>}
        columns={[
          { heading: 'When', show: ({ created_at }) => <Ago at={created_at} /> },
          {
            heading: 'Type',
            main: true,
            show: (event) => (
              <details>
                <summary>{event.type}</summary>
                <Code
                  label={`Payload of ${event.type}`}
                  language="json"
                  text={JSON.stringify(event, null, 2)}
                />
              </details>
            ),
          },
          // An account that pays itself has each event twice.
          { heading: 'You are', show: ({ data: { role } }) => ROLES[String(role)] ?? null },
          {
            heading: 'Object',
            show: ({ object_id }) => <Copyable text={object_id} label={`id ${object_id}`} short />,
          },
        ]}
      />
      <details>
        <summary>{VERIFY.summary}</summary>
        <Code label={VERIFY.label} language="typescript" text={EXAMPLES.webhookExample} />
      </details>
    </Section>
  );
};
