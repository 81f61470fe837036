import { useState } from 'react';
import { Link } from 'wouter';
import type { Output } from '../../../sdk/src/main.ts';
import { useAction } from '../lib/data.ts';
import { formatDuration } from '../lib/duration.ts';
import {
  Badge,
  Button,
  Copyable,
  Dialog,
  DialogActions,
  Empty,
  Money,
  Page,
  Section,
  Table,
  Time,
  toast,
} from '../ui/index.ts';
import { NewKeyDialog } from './new-key.tsx';
import { useServices } from './select-service.tsx';
import { ServiceForm, type Settings } from './service-form.tsx';

type Created = Output<'identity.createService'>;

/** The services of an account. */
const ServicesPage = () => {
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<Created | null>(null);
  const services = useServices();
  const create = useAction((client, settings: Settings) => client.identity.createService(settings), {
    changes: [['services']],
    done: (answer) => {
      setCreating(false);
      setCreated(answer);
    },
  });
  const button = (
    <Button variant="primary" onPress={() => setCreating(true)}>
      Create a service
    </Button>
  );
  const close = () => {
    create.reset();
    setCreating(false);
  };
  return (
    <Page
      title="Services"
      about="What you sell. Each service has a price, a payout address and a key."
      actions={services.data.length > 0 && button}
    >
      <Section title="Your services">
        <Table
          label="Your services"
          items={services}
          waiting="Loading your services…"
          keyOf={({ service_id }) => service_id}
          empty={
            <Empty title="No service yet">
              <p>
                A service is one API that accepts payments. Create it to get the key that its server needs.
              </p>
              {button}
            </Empty>
          }
          columns={[
            {
              heading: 'Name',
              show: ({ service_id, name }) => <Link href={`/services/${service_id}`}>{name}</Link>,
            },
            { heading: 'Price', align: 'end', show: ({ price }) => <Money micro={price} /> },
            { heading: 'You receive', align: 'end', show: ({ net_amount }) => <Money micro={net_amount} /> },
            {
              heading: 'Paid to',
              show: ({ payout_address }) => (
                <Copyable text={payout_address} label="payout address" shown={8} />
              ),
            },
            {
              heading: 'Redeem window',
              show: ({ redeem_window_seconds }) => formatDuration(redeem_window_seconds),
            },
            { heading: 'State', show: ({ status }) => <ServiceState status={status} /> },
            { heading: 'Made', show: ({ created_at }) => <Time at={created_at} date /> },
          ]}
        />
      </Section>
      <Dialog title="Create a service" isOpen={isCreating} wide onClose={close}>
        <ServiceForm
          error={create.error}
          onSend={(settings) => void create.run(settings)}
          actions={
            <DialogActions>
              <Button onPress={close}>Cancel</Button>
              <Button type="submit" variant="primary" busy={create.isBusy && 'Creating the service…'}>
                Create it
              </Button>
            </DialogActions>
          }
        />
      </Dialog>
      {created !== null && (
        <NewKeyDialog
          title={`The key of “${created.name}”`}
          answer={created}
          onClose={() => {
            setCreated(null);
            create.reset();
            toast('The service is created.');
          }}
        />
      )}
    </Page>
  );
};
export default ServicesPage;

/** The state of a service: active, or closed after its last payments. */
export const ServiceState = ({ status }: { status: 'active' | 'closing' }) => (
  <Badge state={status} tone={status === 'active' ? 'good' : 'wait'} />
);
