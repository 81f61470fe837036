import { EXAMPLES } from '../generated/examples.ts';
import { useSession } from '../session/use-session.tsx';
import { Code, Copyable, LinkButton, Notice, Page, Properties, Section, Stack, Tabs } from '../ui/index.ts';
import { ChooseService, useOwnServices } from './select-service.tsx';

const FRAMEWORKS = [
  ['express', 'Express', 'express.ts'],
  ['fastify', 'Fastify', 'fastify.ts'],
  ['hono', 'Hono', 'hono.ts'],
  ['next', 'Next', 'app/report/route.ts'],
] as const;

/** Quotes a text for a shell script. */
const quoted = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

const YourService = ({ own, serviceId }: { own: ReturnType<typeof useOwnServices>; serviceId: string }) => {
  const { environment } = useSession();
  return (
    <Section title="Your service">
      <Stack>
        <ChooseService {...own} />
        <Properties
          of={[
            [
              'Service id',
              own.service !== undefined && <Copyable key="id" label="the service id" text={serviceId} />,
            ],
            ['Gateway', <Copyable key="url" label="the gateway’s address" text={location.origin} />],
            ['Environment', environment],
          ]}
        />
        {own.service !== undefined && (
          <Notice>
            The service key was shown when it was created, and is not shown again. Store it in the environment
            of your server, never in code or in a page.
          </Notice>
        )}
      </Stack>
    </Section>
  );
};

/**
 * Code for the user's service, from the SDK's README and the examples, with the known values on
 * top.
 */
const SnippetsPage = () => {
  const { environment } = useSession();
  const own = useOwnServices();
  const serviceId = own.service?.service_id ?? 'SERVICE_ID';
  const baseUrl = location.origin;
  const here = (code: string): string =>
    code
      .replaceAll('_test_…', `_${environment}_…`)
      .replace("environment: 'test'", `environment: '${environment}'`);
  const given = (code: string, names: Record<string, string>): string => {
    const lines = Object.entries(names).map(([name, value]) => `const ${name} = ${quoted(value)};`);
    // Imports stay on top.
    const [head, ...rest] = here(code).split('\n\n');
    return [head, lines.join('\n'), ...rest].join('\n\n');
  };
  const settings = [
    `QUITTANCE_URL=${baseUrl}`,
    `SERVICE_ID=${serviceId}`,
    `SERVICE_KEY=vendor_${environment}_…`,
    'PUBLIC_URL=https://shop.example.com',
    'REDIS_URL=redis://127.0.0.1:6379',
    'PORT=8402',
  ].join('\n');
  return (
    <Page
      title="Integrate"
      about="Code to copy, with your service and this gateway filled in. It is the code of the manual and of the examples that our tests run."
      actions={<LinkButton to="/try">Try it first</LinkButton>}
    >
      <YourService own={own} serviceId={serviceId} />
      <Section
        title="Sell a route"
        about="A paywall answers 402 with a quote, checks the payment and delivers once."
      >
        <Stack>
          <Code label="In your project" text="npm install @quittance/sdk" />
          <p className="quiet">
            If your registry does not have it: <code>npm pack ./sdk</code> in the repository of the system
            creates a file, and <code>npm install</code> installs that file.
          </p>
          <Code label="paywall.ts" text={given(EXAMPLES.paywall, { baseUrl, serviceId })} />
          <p className="quiet">
            <code>memoryStore()</code> is for a first try, because it is lost at a restart. Several processes
            share a store: <code>redis-store.ts</code> below is one. The price must be more than the fee (0.5
            %, at least 0.01 USDC), which you pay out of it.
          </p>
          <Tabs
            label="Framework"
            tabs={FRAMEWORKS.map(([key, text, file]) => [
              key,
              text,
              <Stack key={key}>
                <Code label={`The route, in ${text}`} text={EXAMPLES.frameworks[key].route} />
                <details>
                  <summary>A whole vendor in {text}</summary>
                  <Stack>
                    <Code label={file} text={EXAMPLES.frameworks[key].example} />
                    <Code label="paywall.ts, by the environment" text={EXAMPLES.paywallExample} />
                    <Code label="shop.ts" text={EXAMPLES.shopExample} />
                    <Code label="redis-store.ts" text={EXAMPLES.storeExample} />
                    <Code label=".env" text={settings} />
                  </Stack>
                </details>
              </Stack>,
            ])}
          />
        </Stack>
      </Section>
      <Section
        title="Buy from others"
        about="A fetch that pays 402 answers automatically, with a delegate key and within limits that you set."
      >
        <Stack>
          <Code label="A fetch that pays" text={given(EXAMPLES.pay, { baseUrl })} />
          <details>
            <summary>A whole buyer</summary>
            <Code label="buyer.ts" text={here(EXAMPLES.buyerExample)} />
          </details>
        </Stack>
      </Section>
      <Section
        title="Every operation of the API"
        about="The client without a paywall: quote, settle and redeem by hand."
      >
        <Code label="The client" text={given(EXAMPLES.client, { baseUrl, service_id: serviceId })} />
      </Section>
    </Page>
  );
};
export default SnippetsPage;
