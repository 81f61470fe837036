import { Code, Notice, Section, Stack, Tabs } from '../../ui/index.ts';
import type { Filled } from '../trying/programs.ts';
import type { Faults, FileTexts, GateDraft } from './draft.ts';
import {
  checkCommand,
  checkOutput,
  composeFile,
  dockerCommands,
  environmentOf,
  gateCommand,
  gateYaml,
  INSTALL,
  isLoopback,
  kubernetesFile,
  portOf,
  proxyFiles,
  secretCommand,
} from './forms.ts';

type Given = { draft: GateDraft; texts: FileTexts; filled: Filled };

const PLACES: Record<string, string> = {
  upstream: 'Upstream address',
  public_url: 'Public address',
  listen: 'Listens on',
  routes: 'Routes',
};
/** `routes.0.price` → Route 1. */
const placeOf = (field: string): string => {
  const [first = '', at] = field.split('.');
  return at === undefined ? (PLACES[first] ?? first) : `Route ${Number(at) + 1}`;
};

/** What a vendor copies. With a mistake above there is nothing to copy, and it is named. */
export const GateOutput = ({ faults, ...given }: Given & { faults: Faults }) => {
  const mistakes = Object.entries(faults).map(([field, text]) => `${placeOf(field)}: ${text}`);
  return (
    <>
      {/* Always there, so that a mistake is read aloud while somebody types. */}
      <div role="status">
        {mistakes.length > 0 && (
          <Notice tone="wait" title="Nothing to copy yet">
            {mistakes.map((each) => (
              <p key={each}>{each}</p>
            ))}
          </Notice>
        )}
      </div>
      {mistakes.length === 0 && (
        <>
          <Start {...given} />
          {given.draft.before !== 'gate' && <ProxySection {...given} />}
          <Check {...given} />
        </>
      )}
    </>
  );
};

const Start = ({ draft, texts, filled }: Given) => (
  <Section
    title="Start the gate"
    about="Nothing of your API changes. The gate needs Node 22.19 or newer, or a container."
  >
    <Stack>
      <Code label="Environment" language="bash" text={environmentOf(draft, filled)} />
      <p className="quiet">
        The service key is shown once, when it is created: create a new one above if you do not have it.
        {draft.publicUrl.trim() === '' && ' Without a public address only this machine can buy.'}
      </p>
      <Code label="gate.yaml" language="yaml" text={gateYaml(texts)} file="gate.yaml" />
      <Tabs
        label="Where the gate runs"
        tabs={[
          ['command', 'Command line', <OnCommandLine key="command" texts={texts} />],
          ['docker', 'Docker', <OnDocker key="docker" draft={draft} filled={filled} />],
          ...(draft.before === 'gate'
            ? ([
                ['compose', 'Compose', <OnCompose key="compose" draft={draft} />],
                ['kubernetes', 'Kubernetes', <OnKubernetes key="kubernetes" draft={draft} texts={texts} />],
              ] as const)
            : []),
        ]}
      />
    </Stack>
  </Section>
);

const OnCommandLine = ({ texts }: { texts: FileTexts }) => {
  const command = gateCommand(texts);
  return (
    <Stack>
      <Code label="Install" language="bash" text={INSTALL} />
      <Code
        label="Start with gate.yaml"
        language="bash"
        text={'npx --no-install quittance-gate gate.yaml\n'}
      />
      {command === null ? (
        <p className="quiet">
          These settings need the file: packs, further protocols, or an order of routes that options do not
          keep.
        </p>
      ) : (
        <Code label="The same without a file" language="bash" text={command} />
      )}
    </Stack>
  );
};

const OnDocker = ({ draft, filled }: Omit<Given, 'texts'>) => (
  <Code label="Build and start" language="bash" text={dockerCommands(draft, filled)} />
);

/** In a container 127.0.0.1 is the container. */
const NotLoopback = ({ what }: { what: string }) => (
  <Notice tone="wait" title="Enter another upstream address">
    {what} Enter the address that your API has there, like http://api:9000.
  </Notice>
);

const OnCompose = ({ draft }: { draft: GateDraft }) =>
  isLoopback(draft.upstream) ? (
    <NotLoopback what="In a project of Compose, 127.0.0.1 is the gate’s own container." />
  ) : (
    <Stack>
      <p className="quiet">
        Beside gate.yaml. The image is built as for Docker. If your API is in another project, add its
        network.
      </p>
      <Code label="compose.yaml" language="yaml" text={composeFile(draft)} file="compose.yaml" />
      <Code label="Start with Compose" language="bash" text={'docker compose up --wait\n'} />
    </Stack>
  );

const OnKubernetes = ({ draft, texts }: Omit<Given, 'filled'>) =>
  isLoopback(draft.upstream) ? (
    <NotLoopback what="In a cluster, 127.0.0.1 is the gate’s own pod." />
  ) : (
    <Stack>
      <p className="quiet">
        Two pods and a Service. Push the image to a registry of yours and name it there. The pods share a
        store.
      </p>
      <Code label="The Secret" language="bash" text={secretCommand(draft)} />
      <Code label="gate.k8s.yaml" language="yaml" text={kubernetesFile(texts)} file="gate.k8s.yaml" />
      <Code label="Apply" language="bash" text={'kubectl apply --filename gate.k8s.yaml\n'} />
    </Stack>
  );

const ProxySection = ({ draft }: Given) => (
  <Section
    title="Let your proxy ask"
    about="It can only ask before your API answers, so the payment is redeemed first. A request that fails passes once more within 10 minutes."
  >
    <Stack>
      <p className="quiet">
        Only the proxy may reach port {portOf(draft.listen)}. Buyers reach the proxy: its address is the
        public one.
      </p>
      {proxyFiles(draft).map(({ name, text }) => (
        <Code key={name} label={name} text={text} file={name} />
      ))}
    </Stack>
  </Section>
);

const Check = ({ texts, filled }: Given) => (
  <Section
    title="Check it"
    about="The check calls each route at its public address as a buyer would, and pays nothing."
  >
    <Stack>
      <Code label="With the same environment" language="bash" text={checkCommand(texts)} />
      <Code label="It prints" text={checkOutput(texts, filled)} copy={null} />
      <p className="quiet">
        A line that begins with “wrong” says what to change: an address that leads elsewhere, another price or
        service, or a spelling or a method of a path that is cheaper. The first payment is in Sales a moment
        after a buyer has paid.
      </p>
    </Stack>
  </Section>
);
