import { useSearchParams } from 'wouter';
import { useSession } from '../../api/use-session.tsx';
import { EXAMPLES } from '../../generated/examples.ts';
import { ChooseService, useOwnServices } from '../../payments/select-service.tsx';
import {
  Code,
  CodeTabs,
  Copyable,
  LinkButton,
  Page,
  Properties,
  Section,
  Stack,
  Tabs,
} from '../../ui/index.ts';
import {
  buyerProgram,
  callPrograms,
  type Filled,
  FRAMEWORKS,
  type Framework,
  installCommands,
  startCommands,
  VENDOR_FILES,
  vendorProgram,
} from './programs.ts';

const NAMES: Record<Framework, string> = {
  express: 'Express',
  fastify: 'Fastify',
  hono: 'Hono',
  next: 'Next',
};

/** The price of a first try, until there is a service: 0.05 USDC. */
const SAMPLE_PRICE = '50000';

/** Code for the user's service, which runs as copied. `?service=` selects the service. */
const SnippetsPage = () => {
  const { environment } = useSession();
  const [params] = useSearchParams();
  const own = useOwnServices(params.get('service'));
  const filled: Filled = {
    baseUrl: location.origin,
    environment,
    serviceId: own.service?.service_id ?? 'SERVICE_ID',
    price: own.service?.price ?? SAMPLE_PRICE,
  };
  const { typescript, bash, python } = callPrograms(filled);
  return (
    <Page
      title="Integrate"
      about="Code that runs as copied, with your service and this server filled in."
      actions={<OtherWays service={own.service?.service_id} />}
    >
      <Section title="Your service">
        <Stack>
          <ChooseService {...own} />
          <Properties
            of={[
              [
                'Service id',
                own.service !== undefined && (
                  <Copyable key="id" label="the service id" text={filled.serviceId} />
                ),
              ],
              ['API', <Copyable key="url" label="the API’s address" text={filled.baseUrl} />],
              ['Environment', environment],
            ]}
          />
          <p className="quiet">
            Keep the service key in the environment of your server, never in code or in a page.
          </p>
        </Stack>
      </Section>
      <Section
        title="Put it in your server"
        about="The route answers 402 with a price, checks the payment and delivers once. Node 22.19 or newer runs the file."
      >
        <Tabs
          label="Framework"
          tabs={FRAMEWORKS.map((key) => [
            key,
            NAMES[key],
            <Vendor key={key} framework={key} filled={filled} />,
          ])}
        />
      </Section>
      <Section title="Buy from others" about="A fetch that pays 402 answers within your limits.">
        <Code label="buyer.ts" language="typescript" text={buyerProgram(filled)} />
      </Section>
      <Section title="Without the paywall" about="Quote, settle and redeem by hand, in any language.">
        <CodeTabs
          label="The calls"
          of={[
            ['typescript', typescript],
            ['bash', bash],
            ['python', python],
          ]}
        />
      </Section>
    </Page>
  );
};
export default SnippetsPage;

const OtherWays = ({ service }: { service: string | undefined }) => (
  <>
    <LinkButton to={service === undefined ? '/protect' : `/protect?service=${service}`}>
      Protect an API without code
    </LinkButton>
    <LinkButton to="/try">Try it in the browser</LinkButton>
  </>
);

const Vendor = ({ framework, filled }: { framework: Framework; filled: Filled }) => (
  <Stack>
    <Code label="1. Install" language="bash" text={installCommands(framework)} />
    <Code
      label={`2. ${VENDOR_FILES[framework].file}`}
      language="typescript"
      text={vendorProgram(framework, filled)}
    />
    <Code label="3. Start and call" language="bash" text={startCommands(framework, filled)} />
    <details>
      <summary>Several processes: a shared store</summary>
      <Stack>
        <p className="quiet">
          Replace <code>memoryStore()</code> by <code>redisStore(process.env.REDIS_URL!)</code> from this
          file.
        </p>
        <Code label="redis-store.ts" language="typescript" text={EXAMPLES.storeExample} />
      </Stack>
    </details>
  </Stack>
);
