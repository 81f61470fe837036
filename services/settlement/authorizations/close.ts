import type { Records } from '../../../shared/boot.ts';
import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { findSettlementInScope } from '../record/store/settlements.ts';
import { scopeOf } from '../record/view.ts';
import type { CloseAuthorizations } from './close-authorizations.ts';

/** POST /v1/settlements/:settlement_id/close: the payer ends an authorization. */
export const close =
  ({
    pool,
    closeAuthorizations,
  }: Pick<Records, 'pool'> & {
    closeAuthorizations: CloseAuthorizations;
  }): Handler<typeof settlement.operations.close> =>
  async ({ settlement_id }, caller) => {
    const find = async () => {
      const row = await findSettlementInScope(pool, scopeOf(caller, 'payer'), settlement_id);
      if (row === null) throw notFound('authorization');
      const { status, ceiling, used } = row;
      if (ceiling === null || used === null)
        throw conflict('the settlement is no authorization, so it cannot be closed');
      return { status, ceiling, used };
    };
    const { account_id } = caller;
    if ((await find()).status === 'authorized') await closeAuthorizations({ account_id, settlement_id });
    else count('quittance_idempotent_replays_total', 1, { operation: 'close' });
    const { status, ceiling, used } = await find();
    return { settlement_id, status, max_amount: formatMicro(ceiling), used: formatMicro(used) };
  };
