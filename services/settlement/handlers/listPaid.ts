import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Deps } from '../deps.ts';
import { type SettlementRow, settlementsIssued } from '../store/settlements.ts';
import { paymentOf } from '../view.ts';

/** Forked away and driven again counts as confirmed still: it is reversed when that is proven to be in vain. */
const STATUS = {
  pending: 'confirmed',
  confirmed: 'confirmed',
  finalized: 'finalized',
  failed: 'reversed',
} as const satisfies Record<SettlementRow['chain_status'], string>;

/** int.settlement.listPaid. */
export const listPaid =
  ({ pool }: Pick<Deps, 'pool'>): Handler<typeof settlement.internal.listPaid> =>
  async (page) =>
    (await settlementsIssued(pool, page)).map((row) => ({
      settlement_id: row.settlement_id,
      status: STATUS[row.chain_status],
      tx_hash: row.tx_hash!,
      ...paymentOf(row, row.issued_at!),
    }));
