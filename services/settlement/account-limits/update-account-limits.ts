import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { securityNote } from '../../../shared/events/security-note.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { lockAccountLimits, updateLimitsOf } from '../delegates/store.ts';
import { showLimits } from './view.ts';

/** PATCH /v1/accounts/me/limits. The owner is told of every change. */
export const updateAccountLimits =
  ({
    pool,
    relay,
  }: {
    pool: Pool;
    relay: Outbox;
  }): Handler<typeof settlement.operations.updateAccountLimits> =>
  async (input, { account_id }) => {
    const { row, outbox } = await pool.transaction(async (tx) => {
      const before = await lockAccountLimits(tx, account_id);
      const of = (name: 'per_payment' | 'daily') => {
        const text = input[name];
        return text === undefined ? before[name] : parseMicro(text);
      };
      const after = { per_payment: of('per_payment'), daily: of('daily') };
      const changed = await updateLimitsOf(tx, account_id, after);
      const isRaised = after.per_payment > before.per_payment || after.daily > before.daily;
      const details = {
        per_payment: formatMicro(after.per_payment),
        daily: formatMicro(after.daily),
        raised: isRaised ? 'yes' : 'no',
      };
      const note = securityNote('settlement', { account_id, kind: 'account_limits_changed', details });
      return { row: changed, outbox: await insertOutbox(tx, [note]) };
    });
    relay.dispatch(outbox);
    return showLimits(row);
  };
