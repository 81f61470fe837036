import { useSearchParams } from 'wouter';
import type { Output } from '../../../sdk/src/main.ts';
import { useItems } from '../api/data.ts';
import { useDelegateNames } from '../payments/names.tsx';
import { useAllServices } from '../payments/sales-data.ts';
import { Ago, Badge, Copyable, Empty, LinkButton, Page, Section, Stack, Switch, Table } from '../ui/index.ts';
import { REQUESTS } from './texts.ts';

type Call = Output<'gateway.requests'>['data'][number];

/** How often the newest calls are read. The log has no calls of this console. */
const EVERY_MS = 5000;

/** The newest calls of the account's keys and programs, with their errors. */
const RequestsPage = () => {
  const [params, setParams] = useSearchParams();
  const refused = params.get('show') === 'refused';
  const calls = useItems(
    ['requests', refused],
    (client, cursor, options) =>
      client.gateway.requests({ cursor, refused: refused ? 'true' : 'false' }, options),
    { every: EVERY_MS },
  );
  const nameOf = useCallers();
  return (
    <Page
      title="Requests"
      about={REQUESTS.about}
      actions={<LinkButton to="/developers">For developers</LinkButton>}
    >
      <Section title={REQUESTS.title} about={REQUESTS.limits}>
        <Stack>
          <Switch
            isSelected={refused}
            onChange={(only) => setParams(only ? { show: 'refused' } : {}, { replace: true })}
          >
            {REQUESTS.onlyRefused}
          </Switch>
          <Table
            label="Calls"
            items={calls}
            waiting="Loading your calls…"
            keyOf={({ request_id, created_at }) => `${request_id} ${created_at}`}
            empty={<Empty title={refused ? REQUESTS.noneRefused : REQUESTS.none}>{REQUESTS.first}</Empty>}
            columns={[
              { heading: 'When', show: ({ created_at }) => <Ago at={created_at} /> },
              {
                heading: 'Call',
                main: true,
                show: (call) => <Description call={call} />,
              },
              {
                heading: 'Status',
                show: ({ status }) => <Badge state={String(status)} tone={toneOf(status)} />,
              },
              { heading: 'By', show: nameOf },
              { heading: 'Took', align: 'end', show: ({ duration_ms }) => `${duration_ms} ms` },
              {
                heading: 'Request id',
                show: ({ request_id }) => (
                  <Copyable text={request_id} label={`request id ${request_id}`} short />
                ),
              },
            ]}
          />
        </Stack>
      </Section>
    </Page>
  );
};
export default RequestsPage;

/** Ids that the row shows as a name, or that its other id leads to. */
const REPEATED = new Set(['service_id', 'delegate_id', 'payment_attempt_id']);

const toneOf = (status: number) => (status < 400 ? 'good' : status < 500 ? 'wait' : 'bad');

/** The path, and below it the error with the page that explains it, and the ids. */
const Description = ({ call: { method, path, code, message, ids } }: { call: Call }) => (
  <>
    <code className="long">
      {method} {path}
    </code>
    {code !== null && (
      <div>
        <a href={`/docs/errors#${code}`}>{code}</a> {message}
      </div>
    )}
    {Object.entries(ids)
      .filter(([name]) => !REPEATED.has(name))
      .map(([name, id]) => (
        <div key={name} className="quiet">
          {name.replace(/_id$/, '').replaceAll('_', ' ')} <code className="long">{id}</code>
        </div>
      ))}
  </>
);

/** Who made a call: the name of the service or delegate, or a sign-in. */
const useCallers = () => {
  const delegates = useDelegateNames();
  const { services } = useAllServices();
  return ({ service_id, delegate_id }: Call): string => {
    if (service_id !== null)
      return services.find((each) => each.service_id === service_id)?.name ?? service_id;
    if (delegate_id !== null) return delegates?.get(delegate_id) ?? delegate_id;
    return 'you';
  };
};
