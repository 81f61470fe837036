import { useRead } from '../api/data.ts';
import { useSession } from '../api/use-session.tsx';
import {
  Badge,
  Code,
  Columns,
  Copyable,
  ErrorNotice,
  LinkButton,
  Loading,
  Page,
  Properties,
  Section,
  Stack,
} from '../ui/index.ts';
import { LiveEvents } from './events.tsx';
import { Keys } from './keys.tsx';
import { COMMANDS, CREDENTIALS, DOCUMENTS } from './texts.ts';

/** How often the state of the system is read. */
const EVERY_MS = 15_000;

/** What a developer looks for: documents, addresses, the state of the system, events, keys. */
const DevelopersPage = () => (
  <Page
    title="Developers"
    about="Docs, endpoints, CLI, events and keys."
    actions={<LinkButton to="/requests">Requests</LinkButton>}
  >
    <Columns>
      <Section title="Documentation">
        <ul className="documents">
          {DOCUMENTS.map(([href, name, about]) => (
            <li key={href}>
              <a href={href}>{name}</a>
              <p className="quiet">{about}</p>
            </li>
          ))}
        </ul>
      </Section>
      <Stack>
        <Environment />
        <CommandLine />
      </Stack>
    </Columns>
    <LiveEvents />
    <Keys />
    <Credentials />
  </Page>
);
export default DevelopersPage;

/** The addresses of this environment, and whether its parts work. */
const Environment = () => {
  const { environment } = useSession();
  const ready = useRead(['ready'], (client, options) => client.gateway.ready({}, options), {
    every: EVERY_MS,
  });
  const served = useRead(['environments'], (client, options) => client.gateway.environments({}, options));
  const here = served.data?.environments[environment];
  const parts = Object.entries(ready.data?.environments[environment] ?? {});
  const down = parts.filter(([, state]) => state === 'down').map(([name]) => name);
  return (
    <Section title={environment === 'test' ? 'Test environment' : 'Live environment'}>
      {ready.isPending && <Loading>Loading the state of the system…</Loading>}
      {ready.error !== null && <ErrorNotice error={ready.error} retry={ready.again} />}
      <Properties
        of={[
          ['Base URL', <Copyable key="url" text={location.origin} label="base URL" />],
          [
            'USDC mint',
            here !== undefined && <Copyable key="mint" text={here.usdc_mint} label="mint of USDC" />,
          ],
          ['Network', here?.x402_network != null && <code key="network">{here.x402_network}</code>],
          [
            'State',
            ready.data !== undefined &&
              (down.length === 0 ? (
                <Badge key="state" state="operational" tone="good" />
              ) : (
                <Badge key="state" state={`down: ${down.join(', ')}`} tone="bad" />
              )),
          ],
        ]}
      />
    </Section>
  );
};

const CommandLine = () => (
  <Section title="Command line" about="Pay, sell and forward events from your terminal.">
    <Stack>
      <Code
        label="Events on your machine"
        language="bash"
        text={[
          '# In the repository of Quittance; the package is not published yet:',
          'npm pack ./cli --pack-destination /tmp',
          'npm install --global /tmp/quittance-cli-*.tgz',
          `quittance login --url ${location.origin}`,
          'quittance listen --forward-to localhost:8080/hooks',
          'SERVICE_KEY=vendor_test_… quittance trigger settlement.redeemed --service …',
        ].join('\n')}
      />
      <Properties of={COMMANDS.map(([name, does]) => [name, does] as const)} />
    </Stack>
  </Section>
);

/** What can this do: each kind of credential in plain words. */
const Credentials = () => {
  const { environment } = useSession();
  return (
    <Section title="Keys and sign-ins" about="What each credential can do, and what it cannot.">
      <Columns>
        {CREDENTIALS.map(({ kind, prefix, can, cannot, life, to, where }) => (
          <Stack key={kind}>
            <h3>{kind}</h3>
            {prefix !== '' && (
              <code>
                {prefix}
                {environment}_…
              </code>
            )}
            <p>{can}</p>
            <p>{cannot}</p>
            <p className="quiet">{life}</p>
            <div>
              <LinkButton to={to} size="small">
                {where}
              </LinkButton>
            </div>
          </Stack>
        ))}
      </Columns>
    </Section>
  );
};
