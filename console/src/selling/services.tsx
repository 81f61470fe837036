import { useState } from 'react';
import { Link } from 'wouter';
import { formatDuration } from '../lib/duration.ts';
import { useServices } from '../payments/select-service.tsx';
import { Ago, Badge, Button, Copyable, Empty, Money, Page, Section, Table } from '../ui/index.ts';
import { CreateServiceDialog } from './create-service.tsx';

/** The services of an account. */
const ServicesPage = () => {
  const [isCreating, setCreating] = useState(false);
  const services = useServices();
  const button = (
    <Button variant="primary" onPress={() => setCreating(true)}>
      Create a service
    </Button>
  );
  return (
    <Page
      title="Services"
      about="The APIs you sell: a price, a payout address and a key each."
      actions={services.data.length > 0 && button}
    >
      <Section title="Your services">
        <Table
          label="Your services"
          items={services}
          waiting="Loading your services…"
          keyOf={({ service_id }) => service_id}
          empty={
            <Empty title="No services yet">
              <p>A service is an API you sell: a name, a price per call and a payout address.</p>
              {button}
            </Empty>
          }
          columns={[
            {
              heading: 'Name',
              show: ({ service_id, name }) => <Link href={`/services/${service_id}`}>{name}</Link>,
            },
            { heading: 'Price', align: 'end', show: ({ price }) => <Money micro={price} /> },
            { heading: 'Net', align: 'end', show: ({ net_amount }) => <Money micro={net_amount} /> },
            {
              heading: 'Paid to',
              show: ({ payout_address }) => <Copyable text={payout_address} label="payout address" short />,
            },
            {
              heading: 'Redeem window',
              show: ({ redeem_window_seconds }) => formatDuration(redeem_window_seconds),
            },
            { heading: 'State', show: ({ status }) => <ServiceState status={status} /> },
            { heading: 'Created', show: ({ created_at }) => <Ago at={created_at} /> },
          ]}
        />
      </Section>
      {isCreating && <CreateServiceDialog onClose={() => setCreating(false)} />}
    </Page>
  );
};
export default ServicesPage;

/** The state of a service: active, or closed after its last payments. */
export const ServiceState = ({ status }: { status: 'active' | 'closing' }) => (
  <Badge state={status} tone={status === 'active' ? 'good' : 'wait'} />
);
