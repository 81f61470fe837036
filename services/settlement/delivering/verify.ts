import { notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { findForVerify, type VerifyRequest } from '../record/store/settlements.ts';
import { amountsOf, authorizationShown, endOfWindow, statusNow, unitsShown } from '../record/view.ts';

/** POST /v1/settlements/:settlement_id/verify: a read that never changes anything. */
export const verify = ({ pool }: { pool: Pool }): Handler<typeof settlement.operations.verify> => {
  const find = batched((requests: readonly VerifyRequest[]) => findForVerify(pool, requests));
  return async ({ settlement_id }, { service_id }) => {
    const row = await find({ settlement_id, service_id });
    if (row === null) throw notFound('settlement');
    return {
      settlement_id,
      status: statusNow(row),
      chain_status: row.chain_status,
      tx_hash: row.tx_hash,
      ...amountsOf(row),
      service_id: row.service_id,
      scope: row.scope,
      ...unitsShown(row),
      ...authorizationShown(row),
      redeem_expires_at: endOfWindow(row),
      redeemed_at: isoTimeOrNull(row.redeemed_at),
    };
  };
};
