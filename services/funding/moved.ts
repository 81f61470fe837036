import { funding, type Moved } from '../../shared/contract/funding.ts';
import { subjects } from '../../shared/contract/service.ts';
import type { Outgoing } from '../../shared/db/outbox.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import type { DevFundRow } from './store/dev_funds.ts';

/** Forked away and driven again counts as confirmed still: it is reversed when that is proven to be in vain. */
const STATUS = {
  new: 'confirmed',
  signed: 'confirmed',
  confirmed: 'confirmed',
  finalized: 'finalized',
  failed: 'reversed',
} as const satisfies Record<DevFundRow['status'], Moved['status']>;

/** Test funds as the transfer they are; null when they never were on the chain. */
export const movedDevFund = (row: DevFundRow): Moved | null =>
  row.slot === null || row.tx_hash === null
    ? null
    : {
        type: 'dev_fund',
        object_id: row.fund_id,
        status: STATUS[row.status],
        tx_hash: row.tx_hash,
        amount: formatMicro(row.amount),
        from_account_id: null,
        to_account_id: row.account_id,
        service_id: null,
        delegate_id: null,
        // Asked for and sent within seconds, and never shown before.
        created_at: isoTime(row.created_at),
      };

/** The fact of it. A fork may have it told again of another transaction, so that is in the id. */
export const movedMessage = (moved: Moved): Outgoing => ({
  subject: subjects.event(funding.name, 'moved'),
  msgId: `moved:${moved.object_id}:${moved.status}:${moved.tx_hash}`,
  payload: moved,
});
