import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isoTimeOrNull } from '../../../shared/lib/clock.ts';
import type { Deps } from '../deps.ts';
import { findSettlement } from '../store/settlements.ts';
import { amountsOf, scopeOf, statusNow, unitsShown, viewerOf } from '../view.ts';

/** POST /v1/settlements/:settlement_id/verify: tells, and never changes anything. */
export const verify =
  (deps: Deps): Handler<typeof settlement.operations.verify> =>
  async ({ settlement_id }, caller) => {
    const row = await findSettlement(deps.pool, viewerOf(caller), settlement_id);
    if (row === null) throw new ServiceError('not_found', 'no such settlement');
    return {
      settlement_id,
      status: statusNow(row),
      chain_status: row.chain_status,
      tx_hash: row.tx_hash,
      ...amountsOf(row),
      service_id: row.service_id,
      scope: scopeOf(row),
      ...unitsShown(row),
      redeem_expires_at: isoTimeOrNull(row.redeem_expires_at),
      redeemed_at: isoTimeOrNull(row.redeemed_at),
    };
  };
