import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type EndpointRow, findEndpoint } from './store.ts';

export const endpointNotFound = () => notFound('webhook endpoint');

/** The account's endpoint. @throws ServiceError not_found */
export const getEndpointRow = async (
  { pool }: { pool: Pool },
  accountId: string,
  endpointId: string,
): Promise<EndpointRow> => {
  const row = await findEndpoint(pool, accountId, endpointId);
  if (row === null) throw endpointNotFound();
  return row;
};

/** The account's endpoint, which must be enabled. @throws ServiceError not_found; conflict */
export const getEnabledEndpointRow = async (
  deps: { pool: Pool },
  accountId: string,
  endpointId: string,
): Promise<EndpointRow> => {
  const row = await getEndpointRow(deps, accountId, endpointId);
  if (row.disabled_reason === null) return row;
  throw conflict('the webhook endpoint is disabled; enable it first');
};
