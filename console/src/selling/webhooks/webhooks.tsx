import { useState } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../../sdk/src/main.ts';
import { useItems } from '../../api/data.ts';
import { Ago, Badge, Button, Empty, Page, Section, Table } from '../../ui/index.ts';
import { EndpointForm, SecretDialog } from './webhook-form.tsx';
import { type Endpoint, wantedText } from './webhook-texts.ts';

const stateOf = ({ enabled, disabled_reason, failing_since }: Endpoint) => {
  if (!enabled)
    return (
      <Badge
        state={disabled_reason === 'owner' ? 'off' : `off: ${disabled_reason}`}
        tone={disabled_reason === 'owner' ? 'none' : 'bad'}
      />
    );
  return failing_since === null ? <Badge state="on" tone="good" /> : <Badge state="failing" tone="wait" />;
};

/** All endpoints of the account. */
const WebhooksPage = () => {
  const [adding, setAdding] = useState(false);
  const [made, setMade] = useState<Output<'webhook.createEndpoint'> | null>(null);
  const endpoints = useItems(['endpoints'], (client, cursor, options) =>
    client.webhook.listEndpoints({ cursor }, options),
  );
  return (
    <Page
      title="Webhooks"
      about="Get your events as signed JSON, sent by POST and retried until your server accepts them."
      actions={
        <Button variant="primary" onPress={() => setAdding(true)}>
          New endpoint
        </Button>
      }
    >
      <Section title="Endpoints">
        <Table
          label="Endpoints"
          items={endpoints}
          waiting="Loading your endpoints…"
          keyOf={({ endpoint_id }) => endpoint_id}
          empty={
            <Empty title="No endpoints yet">
              Create one to learn about payments at once. A server that is not reachable from outside can read{' '}
              <code>GET /v1/events</code> instead.
            </Empty>
          }
          columns={[
            {
              heading: 'URL',
              show: ({ endpoint_id, url, description }) => (
                <>
                  <Link className="long" href={`/webhooks/${endpoint_id}`}>
                    {url}
                  </Link>
                  {description !== null && <div className="quiet">{description}</div>}
                </>
              ),
            },
            {
              heading: 'Events',
              show: ({ event_types }) => <span className="long">{wantedText(event_types)}</span>,
            },
            { heading: 'Status', show: stateOf },
            { heading: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
          ]}
        />
      </Section>
      {adding && <EndpointForm onMade={setMade} onClose={() => setAdding(false)} />}
      {made !== null && <SecretDialog answer={made} onClose={() => setMade(null)} />}
    </Page>
  );
};
export default WebhooksPage;
