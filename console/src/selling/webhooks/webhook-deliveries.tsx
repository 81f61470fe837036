import { type FormEvent, useState } from 'react';
import { useAction, useItems, useRead } from '../../api/data.ts';
import {
  Ago,
  Badge,
  Button,
  Code,
  type Column,
  Dialog,
  DialogActions,
  Empty,
  ErrorNotice,
  Loading,
  Row,
  Section,
  Select,
  Stack,
  Table,
  TextField,
  Time,
  toast,
} from '../../ui/index.ts';
import { type Attempt, type Delivery, type Endpoint, outcomeOf } from './webhook-texts.ts';

type Filter = 'all' | Delivery['status'];

/** The deliveries of an endpoint, newest first, with requests, answers and redelivery. */
export const Deliveries = ({ endpoint }: { endpoint: Endpoint }) => {
  const { endpoint_id, enabled } = endpoint;
  const [filter, setFilter] = useState<Filter>('all');
  const [shown, setShown] = useState<Delivery | null>(null);
  const [since, setSince] = useState(false);
  const deliveries = useItems(
    ['deliveries', endpoint_id, filter],
    (client, cursor, options) =>
      client.webhook.listDeliveries(
        { endpoint_id, cursor, ...(filter === 'all' ? {} : { status: filter }) },
        options,
      ),
    { every: 3000 },
  );
  const again = useAction((client, event_id: string) => client.webhook.redeliver({ endpoint_id, event_id }), {
    changes: [['deliveries', endpoint_id]],
    done: ({ redelivering }) =>
      toast(redelivering === 0 ? 'This event is already being delivered.' : 'Event sent again.'),
  });
  return (
    <Section
      title="Deliveries"
      about="The last 30 days. Answer 2xx within 15 seconds to accept an event; otherwise we retry up to 8 times over three days. Events can arrive twice; deduplicate by id."
      actions={
        <Button size="small" isDisabled={!enabled} onPress={() => setSince(true)}>
          Redeliver since…
        </Button>
      }
    >
      <Stack>
        {again.error !== null && <ErrorNotice error={again.error} />}
        <Row>
          <Select
            label="Show"
            value={filter}
            onChange={setFilter}
            options={[
              ['all', 'all deliveries'],
              ['delivered', 'delivered'],
              ['pending', 'pending'],
              ['failed', 'failed'],
            ]}
          />
        </Row>
        <Table
          label="Deliveries"
          items={deliveries}
          waiting="Loading the log…"
          keyOf={({ event_id }) => event_id}
          empty={
            filter === 'all' ? (
              <Empty title="No deliveries yet">Send a test event to see what your server gets.</Empty>
            ) : (
              <Empty title={`No ${filter} deliveries`} />
            )
          }
          columns={columnsOf({ enabled, onShow: setShown, onAgain: (id) => void again.run(id) })}
        />
      </Stack>
      {shown !== null && (
        <DeliveryDialog endpoint={endpoint} delivery={shown} onClose={() => setShown(null)} />
      )}
      {since && <SinceDialog endpointId={endpoint_id} onClose={() => setSince(false)} />}
    </Section>
  );
};

const columnsOf = ({
  enabled,
  onShow,
  onAgain,
}: {
  enabled: boolean;
  onShow: (delivery: Delivery) => void;
  onAgain: (eventId: string) => void;
}): readonly Column<Delivery>[] => [
  { heading: 'Event', show: ({ type }) => <code className="unbroken">{type}</code> },
  { heading: 'Status', show: ({ status }) => <Badge state={status} /> },
  { heading: 'Last attempt', show: ({ attempts }) => <LastTry attempt={attempts.at(-1)} /> },
  { heading: 'Attempts', align: 'end', show: ({ attempts }) => attempts.length },
  {
    heading: 'Next attempt',
    show: ({ next_attempt_at, status }) =>
      status === 'pending' ? <Time at={next_attempt_at} never="now" /> : null,
  },
  { heading: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
  {
    heading: '',
    align: 'end',
    show: (delivery) => (
      <>
        <Button
          size="small"
          variant="quiet"
          aria-label={`Show ${delivery.type} ${delivery.event_id}`}
          onPress={() => onShow(delivery)}
        >
          Show
        </Button>
        <Button
          size="small"
          variant="quiet"
          isDisabled={!enabled}
          aria-label={`Redeliver ${delivery.type} ${delivery.event_id}`}
          onPress={() => onAgain(delivery.event_id)}
        >
          Redeliver
        </Button>
      </>
    ),
  },
];

const LastTry = ({ attempt }: { attempt: Attempt | undefined }) =>
  attempt === undefined ? (
    <span className="quiet">none yet</span>
  ) : (
    <>
      {outcomeOf(attempt)} <span className="quiet">({attempt.duration_ms} ms)</span>
    </>
  );

/**
 * The request as it was sent, and every answer. Each try has a new signature, which is not stored.
 */
const requestOf = (
  { url }: Endpoint,
  { attempts }: Delivery,
  event: { event_id: string; type: string; created_at: string; data: unknown },
): string => {
  const { host, pathname, search } = new URL(url);
  const { event_id: id, type, created_at: timestamp, data } = event;
  const last = attempts.at(-1);
  const at = last === undefined ? '(of the attempt)' : Math.floor(Date.parse(last.at) / 1000);
  return [
    `POST ${pathname}${search}`,
    `host: ${host}`,
    'content-type: application/json',
    'user-agent: Quittance-Webhooks/1',
    `webhook-id: ${id}`,
    `webhook-timestamp: ${at}`,
    'webhook-signature: v1,(new for each attempt, not stored)',
    '',
    JSON.stringify({ id, type, timestamp, data }, null, 2),
  ].join('\n');
};

const DeliveryDialog = ({
  endpoint,
  delivery,
  onClose,
}: {
  endpoint: Endpoint;
  delivery: Delivery;
  onClose: () => void;
}) => {
  const { event_id, attempts, type } = delivery;
  const event = useRead(['event', event_id], (client, options) =>
    client.webhook.getEvent({ event_id }, options),
  );
  return (
    <Dialog title={type} wide isOpen onClose={onClose}>
      {event.isPending && <Loading>Loading the request…</Loading>}
      {event.error !== null && <ErrorNotice error={event.error} retry={event.again} />}
      {event.data !== undefined && (
        <>
          <Code label="Request, to the current URL" text={requestOf(endpoint, delivery, event.data)} />
          <p className="quiet">The body is sent as one line. Line breaks are added here.</p>
        </>
      )}
      <h3>{attempts.length === 0 ? 'No attempts yet' : 'Answers'}</h3>
      {attempts.toReversed().map((attempt) => (
        <div key={attempt.at} className="notice" data-tone={attempt.error === null ? 'good' : 'bad'}>
          <Row>
            <strong>{outcomeOf(attempt)}</strong>
            <Time at={attempt.at} />
            <span className="quiet">{attempt.duration_ms} ms</span>
          </Row>
          {attempt.response === null ? (
            <span className="quiet">no body</span>
          ) : (
            <code className="long">{attempt.response}</code>
          )}
        </div>
      ))}
      <DialogActions>
        <Button onPress={onClose}>Close</Button>
      </DialogActions>
    </Dialog>
  );
};

const SPANS = [
  ['1', 'in the last hour'],
  ['24', 'in the last day'],
  ['168', 'in the last week'],
  ['720', 'in the last 30 days'],
  ['own', 'since a certain time'],
] as const;

const redeliveredText = (events: number): string => {
  if (events === 0) return 'No events since then.';
  return events === 1 ? 'One event is being redelivered.' : `${events} events are being redelivered.`;
};

const SinceDialog = ({ endpointId, onClose }: { endpointId: string; onClose: () => void }) => {
  const [span, setSpan] = useState<(typeof SPANS)[number][0]>('1');
  const [own, setOwn] = useState('');
  const [wrong, setWrong] = useState<string | null>(null);
  const again = useAction(
    (client, since: string) => client.webhook.redeliver({ endpoint_id: endpointId, since }),
    {
      changes: [['deliveries', endpointId]],
      done: ({ redelivering }) => {
        toast(redeliveredText(redelivering));
        onClose();
      },
    },
  );
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const from = span === 'own' ? Date.parse(own) : Date.now() - Number(span) * 3_600_000;
    setWrong(Number.isNaN(from) ? 'Enter a date and a time.' : null);
    if (!Number.isNaN(from)) void again.run(new Date(from).toISOString());
  };
  return (
    <Dialog title="Redeliver events" isOpen onClose={onClose}>
      <form onSubmit={submit}>
        <Stack>
          <p>
            Sends every event of this endpoint again, delivered before or not, except test events. At most
            10,000, oldest first.
          </p>
          <Select label="Events" value={span} onChange={setSpan} options={SPANS} />
          {span === 'own' && (
            <TextField
              label="Since"
              type="datetime-local"
              value={own}
              onChange={(typed) => {
                setOwn(typed);
                // A field with an error would prevent the browser from submitting the form.
                setWrong(null);
              }}
              error={wrong}
              hint="In your time zone."
            />
          )}
          {again.error !== null && <ErrorNotice error={again.error} />}
          <DialogActions>
            <Button onPress={onClose}>Cancel</Button>
            <Button type="submit" variant="primary" busy={again.isBusy && 'Queueing…'}>
              Redeliver
            </Button>
          </DialogActions>
        </Stack>
      </form>
    </Dialog>
  );
};
