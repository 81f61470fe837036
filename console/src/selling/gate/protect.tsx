import { useState } from 'react';
import { useSearchParams } from 'wouter';
import { useSession } from '../../api/use-session.tsx';
import { fieldUsdc } from '../../lib/money.ts';
import {
  Button,
  Choices,
  Columns,
  Copyable,
  LinkButton,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Select,
  Stack,
  Switch,
  TextField,
} from '../../ui/index.ts';
import {
  type Before,
  chargedOf,
  checkDraft,
  type Faults,
  type GateDraft,
  newDraft,
  newRoute,
  type RouteDraft,
} from './draft.ts';
import './gate.css';
import { ChooseService, type Service, useOwnServices } from '../../payments/select-service.tsx';
import type { Fee } from '../sales/price-fees.ts';
import { useFees } from '../sales/use-fees.ts';
import { RotateKey } from '../service-key.tsx';
import { GateOutput } from './output.tsx';
import { RouteFields } from './route-fields.tsx';

/** The command and the files of a gate before the user's API. `?service=` selects the service. */
const ProtectPage = () => {
  const [params] = useSearchParams();
  const own = useOwnServices(params.get('service'));
  const { service } = own;
  return (
    <Page
      title="Protect an API"
      about="A gate in front of your API charges for its routes. The API stays as it is, in any language."
      actions={<LinkButton to="/integrate">Use the SDK instead</LinkButton>}
    >
      <Section title="Your service">
        <Stack>
          <ChooseService {...own} />
          {service !== undefined && (
            <>
              <Properties
                of={[['Service id', <Copyable key="id" label="the service id" text={service.service_id} />]]}
              />
              <Row>
                <RotateKey service={service}>Create a new key</RotateKey>
                <span className="quiet">The gate needs the service key, which is shown once.</span>
              </Row>
            </>
          )}
        </Stack>
      </Section>
      {service !== undefined && <Gate key={service.service_id} service={service} />}
    </Page>
  );
};
export default ProtectPage;

const Gate = ({ service }: { service: Service }) => {
  const { environment } = useSession();
  const [draft, setDraft] = useState(() => newDraft(fieldUsdc(service.price)));
  const change = (changed: Partial<GateDraft>) => setDraft({ ...draft, ...changed });
  const fees = useFees(draft.routes.map(chargedOf).filter((each) => each !== null));
  const { texts, faults } = checkDraft(draft, fees);
  const filled = {
    baseUrl: location.origin,
    environment,
    serviceId: service.service_id,
    price: service.price,
  };
  return (
    <>
      <Addresses draft={draft} faults={faults} change={change} />
      <Routes
        routes={draft.routes}
        price={fieldUsdc(service.price)}
        faults={faults}
        fees={fees}
        onChange={(routes) => change({ routes })}
      />
      <GateOutput draft={draft} texts={texts} faults={faults} filled={filled} />
    </>
  );
};

const BEFORE: readonly (readonly [Before, string])[] = [
  ['gate', 'The gate itself (recommended)'],
  ['nginx', 'nginx, which asks the gate'],
  ['caddy', 'Caddy, which asks the gate'],
  ['haproxy', 'HAProxy, which asks the gate'],
  ['apache', 'Apache, which asks the gate'],
];

type FormProps = { draft: GateDraft; faults: Faults; change: (changed: Partial<GateDraft>) => void };

const Addresses = ({ draft, faults, change }: FormProps) => (
  <Section title="Your API">
    <Stack>
      <Columns>
        <TextField
          label="Upstream address"
          hint="Where your API is, as the gate reaches it. Buyers do not see it."
          value={draft.upstream}
          onChange={(upstream) => change({ upstream })}
          error={faults.upstream ?? null}
          spellCheck="false"
          autoComplete="off"
        />
        <TextField
          label="Public address"
          hint="What buyers type. It is signed into every quote. Empty for a try on this machine."
          placeholder="https://api.example.com"
          value={draft.publicUrl}
          onChange={(publicUrl) => change({ publicUrl })}
          error={faults.public_url ?? null}
          spellCheck="false"
          autoComplete="off"
        />
      </Columns>
      <Select
        label="In front of the API"
        hint={
          draft.before === 'gate'
            ? 'A failure of your API never costs the buyer.'
            : 'For a proxy that you have already. It asks before each request.'
        }
        value={draft.before}
        onChange={(before) => change({ before })}
        options={BEFORE}
      />
      <Advanced draft={draft} faults={faults} change={change} />
    </Stack>
  </Section>
);

/** What most gates leave as it is. */
const Advanced = ({ draft, faults, change }: FormProps) => (
  <details>
    <summary>Advanced</summary>
    <Stack>
      <TextField
        label="Listens on"
        hint="A port, or an address with a port. 0.0.0.0 is reached from other machines."
        value={draft.listen}
        onChange={(listen) => change({ listen })}
        error={faults.listen ?? null}
        spellCheck="false"
        autoComplete="off"
      />
      <Switch
        isSelected={draft.isRefusing}
        onChange={(isRefusing) => change({ isRefusing })}
        hint="otherwise they pass unpaid"
      >
        Refuse requests that match no route
      </Switch>
      <Choices
        label="Further buyers, for routes with a price for each call"
        options={[
          ['x402', 'Clients of x402'],
          ['mpp', 'Clients of MPP'],
        ]}
        value={draft.dialects}
        onChange={(dialects) => change({ dialects })}
      />
    </Stack>
  </details>
);

const ADD = 'gate-add-route';

const Routes = ({
  routes,
  price,
  faults,
  fees,
  onChange,
}: {
  routes: readonly RouteDraft[];
  price: string;
  faults: Faults;
  fees: ReadonlyMap<string, Fee>;
  onChange: (routes: RouteDraft[]) => void;
}) => {
  // The first route is not focused when the page opens.
  const [added, setAdded] = useState<number | null>(null);
  const add = () => {
    const id = Math.max(...routes.map((each) => each.id)) + 1;
    setAdded(id);
    onChange([...routes, { ...newRoute(id, price), path: '' }]);
  };
  const swapped = (at: number) =>
    routes.map((each, place) => (place === at ? routes[at - 1]! : place === at - 1 ? routes[at]! : each));
  return (
    <Section
      title="Routes and prices"
      about="The first route that matches counts. Other requests pass unpaid, unless you refuse them."
    >
      <Stack>
        {faults.routes !== undefined && (
          <Notice tone="bad" title="The routes do not fit together">
            {faults.routes}
          </Notice>
        )}
        {routes.map((route, at) => (
          <RouteFields
            key={route.id}
            at={at}
            route={route}
            faults={faults}
            fees={fees}
            isNew={route.id === added}
            change={(changed) =>
              onChange(routes.map((each) => (each.id === route.id ? { ...each, ...changed } : each)))
            }
            onUp={at === 0 ? undefined : () => onChange(swapped(at))}
            onRemove={
              routes.length === 1
                ? undefined
                : () => {
                    onChange(routes.filter(({ id }) => id !== route.id));
                    document.getElementById(ADD)?.focus();
                  }
            }
          />
        ))}
        <div>
          <Button id={ADD} onPress={add}>
            Add a route
          </Button>
        </div>
      </Stack>
    </Section>
  );
};
