import { useParams } from 'wouter';
import { useAction, useRead } from '../api/data.ts';
import { Countdown } from '../lib/countdown.tsx';
import {
  Button,
  Columns,
  Copyable,
  ErrorNotice,
  LinkButton,
  Loading,
  Notice,
  Page,
  Properties,
  Row,
  Section,
  Time,
  toast,
} from '../ui/index.ts';
import { ServiceEnd } from './close-service.tsx';
import { ServiceDomain } from './domain.tsx';
import { PaymentLinks } from './links/payment-links.tsx';
import { type Service, ServiceForm, type Settings } from './service-form.tsx';
import { ServiceKey } from './service-key.tsx';
import { ServiceState } from './services.tsx';
import { AllowedIps } from './webhooks/allowed-ips.tsx';
import '../payments/payments.css';

/** One service: its settings, its key, its deletion. */
const ServicePage = () => {
  const { service_id } = useParams<{ service_id: string }>();
  const service = useRead(['services', service_id], (client, options) =>
    client.identity.getService({ service_id }, options),
  );
  if (service.data === undefined) {
    return (
      <Page title="Service" actions={<LinkButton to="/services">All services</LinkButton>}>
        {service.isPending ? (
          <Loading>Loading the service…</Loading>
        ) : (
          <ErrorNotice error={service.error} retry={service.again} />
        )}
      </Page>
    );
  }
  return <Loaded key={service_id} service={service.data} />;
};
export default ServicePage;

const Loaded = ({ service }: { service: Service }) => {
  const { service_id, name, status, next_payout, created_at } = service;
  const isClosing = status === 'closing';
  return (
    <Page
      title={name}
      about="Price, payout address and key."
      actions={
        <>
          <LinkButton to="/services">All services</LinkButton>
          <LinkButton to={`/sales?service=${service_id}`}>Sales</LinkButton>
          {!isClosing && <LinkButton to={`/protect?service=${service_id}`}>Protect an API</LinkButton>}
        </>
      }
    >
      {isClosing && (
        <Notice tone="wait" title="This service is closing">
          No new quotes. Open payments can still be redeemed and refunded. The service ends 30 days after the
          last redeem window.
        </Notice>
      )}
      {next_payout !== null && <WaitingPayout service={service} next={next_payout} />}
      <Columns>
        <Section title="Overview">
          <Properties
            of={[
              ['Service id', <Copyable key="id" text={service_id} label="service id" />],
              ['State', <ServiceState key="state" status={status} />],
              ['Created', <Time key="created" at={created_at} />],
            ]}
          />
        </Section>
        <ServiceKey service={service} />
      </Columns>
      <PaymentLinks service={service} />
      <SettingsSection service={service} />
      <ServiceDomain service={service} />
      <AllowedIps service={service} />
      <ServiceEnd service={service} />
    </Page>
  );
};

/**
 * A pending change of the payout address. In live it takes a day, so that the owner can notice a
 * change by somebody else.
 */
const WaitingPayout = ({
  service: { service_id, payout_address },
  next,
}: {
  service: Service;
  next: NonNullable<Service['next_payout']>;
}) => {
  const keep = useAction((client) => client.identity.updateService({ service_id, payout_address }), {
    changes: [['services']],
    done: () => toast('Payout address kept.'),
  });
  return (
    <Notice tone="wait" title="New payout address pending">
      <p>
        In <Countdown until={next.effective_at} over="a moment" />, on <Time at={next.effective_at} />, new
        quotes will be paid to <code className="whole">{next.payout_address}</code>. If this was not you, keep
        the current address and rotate the key.
      </p>
      {keep.error !== null && <ErrorNotice error={keep.error} />}
      <Button size="small" busy={keep.isBusy && 'Saving…'} onPress={() => void keep.run(undefined)}>
        Keep current address
      </Button>
    </Notice>
  );
};

const SettingsSection = ({ service }: { service: Service }) => {
  const { service_id } = service;
  const save = useAction(
    (client, changed: Partial<Settings>) => client.identity.updateService({ service_id, ...changed }),
    { changes: [['services']], done: () => toast('Settings saved.') },
  );
  const send = (settings: Settings) => {
    // Unchanged fields are not sent. An unchanged payout address would cancel a pending change.
    const changed = Object.fromEntries(
      Object.entries(settings).filter(
        ([field, value]) => field === 'allow_off_curve' || service[field as keyof Service] !== value,
      ),
    ) as Partial<Settings>;
    void save.run(changed);
  };
  return (
    <Section
      title="Settings"
      about="Apply to new quotes. Changing the payout address needs a recent sign-in; in live it takes effect after 24 hours."
    >
      <ServiceForm
        service={service}
        error={save.error}
        onSend={send}
        actions={
          <Row>
            <Button type="submit" variant="primary" busy={save.isBusy && 'Saving…'}>
              Save settings
            </Button>
          </Row>
        }
      />
    </Section>
  );
};
