import type { Client } from '../../../sdk/src/main.ts';
import { useRead } from '../api/data.ts';
import { shortId } from '../lib/short-id.ts';

/** Buyers know a service from their payments: its name is the one in the latest quote. */

/** One call reads the newest payments, which cover most services of a page. */
const RECENT = '50';

/** Null for a service without a payment by or to this account. */
export const serviceNameOf = async (
  client: Client,
  service_id: string,
  options: { signal?: AbortSignal } = {},
): Promise<string | null> => {
  for (const role of ['payer', 'vendor'] as const) {
    const { data } = await client.settlement.list({ service_id, role, limit: '1' }, options);
    if (data[0] !== undefined) return data[0].service_name;
  }
  return null;
};

/** Names by id of recently paid services. Undefined until they are loaded. */
export const useRecentNames = (): ReadonlyMap<string, string> | undefined => {
  const { data, error } = useRead(['service-names'], async (client, options) => {
    const { data: payments } = await client.settlement.list({ limit: RECENT }, options);
    // The newest payment comes first, and its name counts.
    return new Map(
      payments
        .toReversed()
        .flatMap(({ service_id, service_name }) => (service_id === null ? [] : [[service_id, service_name]])),
    );
  });
  return error === null ? data : new Map();
};

/** The name if it is known, or the beginning of the id. The id is shown on hover. */
export const ServiceName = ({ id }: { id: string }) => {
  const recent = useRecentNames();
  const known = recent?.get(id);
  const { data } = useRead(['service-names', id], (client, options) => serviceNameOf(client, id, options), {
    enabled: recent !== undefined && known === undefined,
  });
  return <span title={id}>{known ?? data ?? <code>{shortId(id)}</code>}</span>;
};

/** Names by id of all delegates. Undefined until they are loaded, or if they cannot be read. */
export const useDelegateNames = (): ReadonlyMap<string, string> | undefined =>
  useRead(['delegates', 'names'], async (client, options) => {
    const names = new Map<string, string>();
    for (const status of ['current', 'revoked'] as const)
      for await (const each of client.identity.listDelegates({ status, limit: '100' }, options))
        names.set(each.delegate_id, status === 'revoked' ? `${each.name} (revoked)` : each.name);
    return names;
  }).data;
