import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { recordReissue } from '../settlements/store/foreign-payments.ts';
import { findSettlementInScope } from '../settlements/store/settlements.ts';

const REFUSED =
  'only an x402 payment whose success was handed out, that is on chain and of which nothing is refunded can be reissued';

/** POST /v1/settlements/:settlement_id/reissue. */
export const reissueForeign =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.operations.reissueForeign> =>
  async ({ settlement_id }, caller) => {
    const serviceId = caller.kind === 'service_key' ? caller.service_id : null;
    const answer = { settlement_id, status: 'issued' as const };
    if (await recordReissue(pool, settlement_id, { accountId: caller.account_id, serviceId })) return answer;
    const scope =
      serviceId === null
        ? ({ as: 'vendor', account_id: caller.account_id } as const)
        : ({ as: 'service', service_id: serviceId } as const);
    const row = await findSettlementInScope(pool, scope, settlement_id);
    if (row === null) throw notFound('settlement');
    // A repeat, or a payment whose success nobody has heard yet.
    if (row.rail === 'x402' && row.status === 'issued') return answer;
    throw conflict(REFUSED);
  };
