import { useEffect, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import type { Output } from '../../../sdk/src/main.ts';
import { useAction, useRead } from '../lib/data.ts';
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
} from '../ui/index.ts';
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
      about="Its events, its signing secret and its deliveries."
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
      done: (now) => toast(now.enabled ? 'Events are sent to it again.' : 'Events are no longer sent to it.'),
    },
  );
  const test = useAction((client, _: undefined) => client.webhook.testEndpoint({ endpoint_id }), {
    changes: [['deliveries', endpoint_id]],
    done: () => toast('A test event is on its way: see the log.'),
  });
  const rotate = useAction((client, _: undefined) => client.webhook.rotateEndpointSecret({ endpoint_id }), {
    changes,
    done: setRotated,
  });
  const remove = useAction((client, _: undefined) => client.webhook.deleteEndpoint({ endpoint_id }), {
    changes,
    done: () => {
      toast('The endpoint is deleted.');
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
              Change
            </Button>
            <Button size="small" onPress={() => setOpen('rotate')}>
              Rotate the secret
            </Button>
            <Button size="small" variant="quiet" onPress={() => setOpen('delete')}>
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
        confirm="Rotate it"
        doing="Creating a new secret…"
        danger={false}
        isOpen={open === 'rotate'}
        onClose={close}
        onConfirm={() => rotate.runOrThrow(undefined)}
      >
        For 24 hours every delivery is signed with both secrets, so that your receiver can switch at any time.
        An older secret stops working at once.
      </ConfirmDialog>
      <ConfirmDialog
        title="Delete this endpoint?"
        confirm="Delete the endpoint"
        doing="Deleting…"
        isOpen={open === 'delete'}
        onClose={close}
        onConfirm={() => remove.runOrThrow(undefined)}
      >
        Events are no longer sent to it, and its log is deleted. The events stay readable for 30 days.
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
        ['Address', <Copyable key="url" label="the address" text={endpoint.url} />],
        ['What for', endpoint.description],
        ['State', <Badge key="state" state={enabled ? 'on' : 'off'} tone={enabled ? 'good' : 'none'} />],
        ['Events', wantedText(endpoint.event_types)],
        ['Id', <Copyable key="id" label="the endpoint id" text={endpoint_id} />],
        ['Made', <Time key="made" at={endpoint.created_at} />],
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
          {OFF[disabled_reason]} Events of this time can be redelivered afterwards.
        </Notice>
      )}
      {enabled && failing_since !== null && (
        <Notice tone="wait" title="Every attempt fails">
          No event was accepted since <Time at={failing_since} />. Events are sent again later. After five
          days of failures the endpoint is turned off and you get a mail.
        </Notice>
      )}
      {overlaps && (
        <Notice tone="wait" title={`Two secrets sign for ${timeLeft(previous_secret_expires_at, now)} more`}>
          Until <Time at={previous_secret_expires_at} /> deliveries have a signature of each secret, then of
          the new one only.
        </Notice>
      )}
    </>
  );
};
