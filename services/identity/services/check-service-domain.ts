import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Terms } from '../terms.ts';
import { findServiceRow, updateDomainProof } from './store.ts';
import { showService } from './view.ts';

/** POST /v1/services/:service_id/domain/check. A proof that is found is in the next quote. */
export const checkServiceDomain =
  ({
    pool,
    fee,
    proveDomain,
  }: { pool: Pool } & Pick<Terms, 'fee' | 'proveDomain'>): Handler<
    typeof identity.operations.checkServiceDomain
  > =>
  async ({ service_id }, { account_id }) => {
    const row = await findServiceRow(pool, account_id, service_id);
    if (row === null) throw notFound('service');
    if (row.domain === null) throw conflict('the service has no domain; set one first');
    const claim = { service_id, domain: row.domain };
    await updateDomainProof(pool, claim, await proveDomain(claim));
    const checked = await findServiceRow(pool, account_id, service_id);
    if (checked === null) throw notFound('service');
    return showService(checked, fee);
  };
