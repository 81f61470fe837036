import { useState } from 'react';
import type { Output } from '../../../sdk/src/main.ts';
import { type Items, useItems } from '../api/data.ts';
import { Empty, ErrorNotice, LinkButton, Loading, Select } from '../ui/index.ts';

export type Service = Output<'identity.listServices'>['data'][number];

/** The account's services, fifty at a time: one list for every page that uses it. */
export const useServices = (): Items<Service> =>
  useItems(['services'], (client, cursor, options) =>
    client.identity.listServices({ cursor, limit: '50' }, options),
  );

/**
 * The active services, and the selected one: the first until the user selects another.
 * @param wanted the id of a service to begin with
 */
export const useOwnServices = (
  wanted: string | null = null,
): {
  services: Items<Service>;
  selling: readonly Service[];
  service: Service | undefined;
  choose: (id: string) => void;
} => {
  const [id, choose] = useState(wanted);
  const services = useServices();
  const selling = services.data.filter(({ status }) => status === 'active');
  const service = selling.find(({ service_id }) => service_id === id) ?? selling[0];
  return { services, selling, service, choose };
};

/** Selects one of the account's services. If there is none, it links to creating one. */
export const ChooseService = ({ services, selling, service, choose }: ReturnType<typeof useOwnServices>) => {
  if (services.isPending) return <Loading>Loading your services…</Loading>;
  if (services.error !== null) return <ErrorNotice error={services.error} retry={services.again} />;
  if (service === undefined)
    return (
      <Empty title="You have no service yet">
        A service has a name, a price and a payout address.
        <div>
          <LinkButton to="/services" variant="primary">
            Create a service
          </LinkButton>
        </div>
      </Empty>
    );
  return (
    <Select
      label="Service"
      value={service.service_id}
      onChange={choose}
      options={selling.map(({ service_id, name }) => [service_id, name])}
    />
  );
};
