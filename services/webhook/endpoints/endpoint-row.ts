import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Deps } from '../deps.ts';
import { type EndpointRow, findEndpoint } from './store.ts';

export const noEndpoint = () => notFound('webhook endpoint');

/** The account's endpoint. @throws ServiceError not_found */
export const ownEndpoint = async (
  { pool }: Pick<Deps, 'pool'>,
  accountId: string,
  endpointId: string,
): Promise<EndpointRow> => {
  const row = await findEndpoint(pool, accountId, endpointId);
  if (row === null) throw noEndpoint();
  return row;
};

/** The same of one that is to be sent to. @throws ServiceError not_found; conflict while it is disabled */
export const enabledEndpoint = async (
  deps: Pick<Deps, 'pool'>,
  accountId: string,
  endpointId: string,
): Promise<EndpointRow> => {
  const row = await ownEndpoint(deps, accountId, endpointId);
  if (row.disabled_reason === null) return row;
  throw conflict('the webhook endpoint is disabled; enable it first');
};
