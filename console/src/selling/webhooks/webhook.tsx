import { useEffect, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import type { Output } from '../../../../sdk/src/main.ts';
import { useAction, useRead } from '../../api/data.ts';
import {
  Badge,
  Button,
  ConfirmDialog,
  Copyable,
  ErrorNotice,
  LinkButton,
  Loading,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Stack,
  Time,
  toast,
} from '../../ui/index.ts';
import { Deliveries } from './webhook-deliveries.tsx';
import { EndpointForm, SecretDialog } from './webhook-form.tsx';
import { type Endpoint, OFF, timeLeft, wantedText } from './webhook-texts.ts';

/** One endpoint with its deliveries. */
const WebhookPage = () => {
  const { endpoint_id } = useParams<{ endpoint_id: string }>();
  const endpoint = useRead(
    ['endpoints', endpoint_id],
    (client, options) => client.webhook.getEndpoint({ endpoint_id }, options),
    { every: 15_000 },
  );
  return (
    <Page
      title="Webhook endpoint"
      about="Events, signing secret and deliveries."
      actions={<LinkButton to="/webhooks">All endpoints</LinkButton>}
    >
      {endpoint.isPending && <Loading>Loading the endpoint…</Loading>}
      {endpoint.error !== null && <ErrorNotice error={endpoint.error} retry={endpoint.again} />}
      {endpoint.data !== undefined && <EndpointDetails endpoint={endpoint.data} />}
    </Page>
  );
};
export default WebhookPage;

type Open = 'change' | 'rotate' | 'delete' | null;

const EndpointDetails = ({ endpoint }: { endpoint: Endpoint }) => {
  const { endpoint_id, enabled } = endpoint;
  const [open, setOpen] = useState<Open>(null);
  const [rotated, setRotated] = useState<Output<'webhook.rotateEndpointSecret'> | null>(null);
  const [, goTo] = useLocation();
  const close = () => setOpen(null);
  const changes = [['endpoints']];
  const turn = useAction(
    (client, on: boolean) => client.webhook.updateEndpoint({ endpoint_id, enabled: on }),
    {
      changes: [...changes, ['deliveries', endpoint_id]],
      done: (now) => toast(now.enabled ? 'The endpoint is on.' : 'The endpoint is off.'),
    },
  );
  const test = useAction((client, _: undefined) => client.webhook.testEndpoint({ endpoint_id }), {
    changes: [['deliveries', endpoint_id]],
    done: () => toast('Test event sent.'),
  });
  const rotate = useAction((client, _: undefined) => client.webhook.rotateEndpointSecret({ endpoint_id }), {
    changes,
    done: setRotated,
  });
  const remove = useAction((client, _: undefined) => client.webhook.deleteEndpoint({ endpoint_id }), {
    changes,
    done: () => {
      toast('Endpoint deleted.');
      goTo('/webhooks');
    },
  });
  const failed = turn.error ?? test.error;
  return (
    <Stack>
      <DeliveryStatus endpoint={endpoint} />
      <Section
        title="Endpoint"
        actions={
          <Row>
            <Button
              size="small"
              variant="primary"
              isDisabled={!enabled}
              busy={test.isBusy && 'Sending…'}
              onPress={() => void test.run(undefined)}
            >
              Send a test event
            </Button>
            <Button size="small" busy={turn.isBusy && 'Changing…'} onPress={() => void turn.run(!enabled)}>
              {enabled ? 'Turn off' : 'Turn on'}
            </Button>
            <Button size="small" onPress={() => setOpen('change')}>
              Edit
            </Button>
            <Button size="small" onPress={() => setOpen('rotate')}>
              Rotate secret
            </Button>
            <Button size="small" variant="quiet-danger" onPress={() => setOpen('delete')}>
              Delete
            </Button>
          </Row>
        }
      >
        <Stack>
          {failed !== null && <ErrorNotice error={failed} />}
          <EndpointProperties endpoint={endpoint} />
        </Stack>
      </Section>
      <Deliveries endpoint={endpoint} />
      {open === 'change' && <EndpointForm endpoint={endpoint} onClose={close} />}
      <ConfirmDialog
        title="Rotate the signing secret?"
        confirm="Rotate secret"
        doing="Creating a new secret…"
        danger={false}
        isOpen={open === 'rotate'}
        onClose={close}
        onConfirm={() => rotate.runOrThrow(undefined)}
      >
        For 24 hours every delivery is signed with both secrets, so that your server can switch. A secret that
        was rotated earlier stops working now.
      </ConfirmDialog>
      <ConfirmDialog
        title="Delete this endpoint?"
        confirm="Delete endpoint"
        doing="Deleting…"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.runOrThrow(undefined)}
      >
        This endpoint gets no more events, and its log is deleted. Events stay readable for 30 days.
      </ConfirmDialog>
      {rotated !== null && <SecretDialog answer={rotated} onClose={() => setRotated(null)} />}
    </Stack>
  );
};

const EndpointProperties = ({ endpoint }: { endpoint: Endpoint }) => {
  const { endpoint_id, enabled } = endpoint;
  return (
    <Properties
      of={[
        ['URL', <Copyable key="url" label="the URL" text={endpoint.url} />],
        ['Description', endpoint.description],
        ['Status', <Badge key="state" state={enabled ? 'on' : 'off'} tone={enabled ? 'good' : 'none'} />],
        ['Events', wantedText(endpoint.event_types)],
        ['Id', <Copyable key="id" label="the endpoint id" text={endpoint_id} />],
        ['Created', <Time key="created" at={endpoint.created_at} />],
      ]}
    />
  );
};

/** What the owner must know: the endpoint is disabled, it fails, or two secrets sign. */
const DeliveryStatus = ({ endpoint }: { endpoint: Endpoint }) => {
  const { enabled, disabled_reason, failing_since, previous_secret_expires_at } = endpoint;
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, []);
  const overlaps = previous_secret_expires_at !== null && Date.parse(previous_secret_expires_at) > now;
  return (
    <>
      {!enabled && disabled_reason !== null && (
        <Notice tone={disabled_reason === 'owner' ? 'wait' : 'bad'} title="This endpoint is off">
          {OFF[disabled_reason]} You can redeliver the missed events afterwards.
        </Notice>
      )}
      {enabled && failing_since !== null && (
        <Notice tone="wait" title="Deliveries are failing">
          No event has been accepted since <Time at={failing_since} />. We keep retrying. After five days the
          endpoint is turned off, and we e-mail you.
        </Notice>
      )}
      {overlaps && (
        <Notice tone="wait" title={`Two secrets are valid for ${timeLeft(previous_secret_expires_at, now)}`}>
          Deliveries are signed with both until <Time at={previous_secret_expires_at} />, then with the new
          one only.
        </Notice>
      )}
    </>
  );
};
