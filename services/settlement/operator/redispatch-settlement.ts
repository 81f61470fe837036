import { conflict, notFound } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { recordAction } from '../../../shared/operator/actions.ts';
import { settleJob } from '../record/events.ts';
import { findSettlement } from '../record/store/settlements.ts';
import { claimSettlement } from '../record/store/stalled.ts';
import { QUITTANCE } from '../settling/quittance-rail.ts';

/**
 * Dispatches the job of a payment that is under way immediately, and changes nothing else.
 * chain-submitter has the attempt, publishes its progress and executes it without delay
 * (docs/design/settle.md, rules 6 and 16).
 */
export const redispatchSettlement =
  ({
    pool,
    relay,
  }: {
    pool: Pool;
    relay: Outbox;
  }): Handler<typeof settlement.internal.redispatchSettlement> =>
  async ({ settlement_id, ...operator }) => {
    const { rows, answer } = await pool.transaction(async (tx) => {
      const claimed = await claimSettlement(tx, settlement_id, QUITTANCE);
      const row = await findSettlement(tx, settlement_id);
      if (row === null) throw notFound('settlement here');
      if (claimed === null && row.rail !== 'quittance')
        throw conflict('the payment has no job: its progress is queried without one');
      if (claimed === null)
        throw conflict(`the payment is not under way: ${row.status}, ${row.chain_status} on chain`);
      const { dispatch_count } = claimed;
      const change = {
        before: { dispatch_count: dispatch_count - 1 },
        after: { dispatch_count },
      };
      await recordAction(tx, operator, { action: 'settlement.redispatch', target: settlement_id, ...change });
      const { status, chain_status } = row;
      return {
        rows: await insertOutbox(tx, [settleJob(claimed)]),
        answer: { dispatch_count, status, chain_status },
      };
    });
    relay.dispatch(rows);
    return answer;
  };
