import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { recordReissue } from '../record/store/incoming/incoming-payments.ts';
import { findSettlementInScope } from '../record/store/settlements.ts';

const REFUSED =
  'only an x402 payment whose success was handed out, that is on chain and of which nothing is refunded can be reissued';

const ANOTHER =
  'this redeem_id is not that of the success that was handed out last; read the redeem_id of the settlement';

/**
 * POST /v1/settlements/:settlement_id/reissue. It names the success that was not delivered, so that
 * a repeat after the next one was handed out does not make a third one available.
 */
export const reissueForeign =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.operations.reissueForeign> =>
  async ({ settlement_id, redeem_id }, caller) => {
    const serviceId = caller.kind === 'service_key' ? caller.service_id : null;
    const answer = { settlement_id, status: 'issued' as const };
    const success = { settlementId: settlement_id, redeemId: redeem_id };
    if (await recordReissue(pool, success, { accountId: caller.account_id, serviceId })) return answer;
    const scope =
      serviceId === null
        ? ({ as: 'vendor', account_id: caller.account_id } as const)
        : ({ as: 'service', service_id: serviceId } as const);
    const row = await findSettlementInScope(pool, scope, settlement_id);
    if (row === null) throw notFound('settlement');
    // A repeat, or a payment whose success nobody has yet.
    if (row.rail === 'x402' && row.status === 'issued') return answer;
    throw conflict(row.redeem_id === null || row.redeem_id === redeem_id ? REFUSED : ANOTHER);
  };
