import { notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { getPayerAddresses } from '../payers/store.ts';
import { findSettlementInScope } from '../record/store/settlements.ts';
import { scopeOf, showWithQuote } from '../record/view.ts';

/** GET /v1/settlements/:settlement_id. */
export const get =
  ({ pool }: { pool: Pool }): Handler<typeof settlement.operations.get> =>
  async ({ settlement_id }, caller) => {
    const row = await findSettlementInScope(pool, scopeOf(caller), settlement_id);
    if (row === null) throw notFound('settlement');
    const [payerAddress] = await getPayerAddresses(pool, [row]);
    return showWithQuote(row, caller, payerAddress!);
  };
