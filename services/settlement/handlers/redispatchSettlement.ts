import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { recordAction } from '../../../shared/operator/actions.ts';
import type { Deps } from '../deps.ts';
import { settleJob } from '../events.ts';
import { claimNow, lookUpSettlement } from '../store/settlements.ts';

/**
 * Sends the job of a payment that is under way again at once. It changes nothing else: chain-submitter knows the attempt,
 * tells how far it is, and hurries it on (docs/design/settle.md, rules 6 and 16).
 */
export const redispatchSettlement =
  ({ pool, relay }: Deps): Handler<typeof settlement.internal.redispatchSettlement> =>
  async ({ settlement_id, ...operator }) => {
    const { rows, answer } = await pool.transaction(async (tx) => {
      const claimed = await claimNow(tx, settlement_id);
      const row = await lookUpSettlement(tx, settlement_id);
      if (row === null) throw notFound('settlement here');
      if (claimed === null)
        throw conflict(`it has come to its end: ${row.status}, ${row.chain_status} on chain`);
      const { drive } = claimed;
      const change = { before: { drive: drive - 1 }, after: { drive } };
      await recordAction(tx, operator, { action: 'settlement.redrive', target: settlement_id, ...change });
      const { status, chain_status } = row;
      return {
        rows: await insertOutbox(tx, [settleJob(claimed)]),
        answer: { dispatch_count: drive, status, chain_status },
      };
    });
    relay.dispatch(rows);
    return answer;
  };
