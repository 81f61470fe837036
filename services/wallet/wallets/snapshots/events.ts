import { event, type Message } from '../../../../shared/events/event.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import { formatMicro } from '../../../../shared/lib/money/micro.ts';
import type { WalletRow } from '../store.ts';
import { isClosed } from './model.ts';
import type { SnapshotRow } from './store.ts';

/**
 * The event of a change of a wallet's delegation or token account on the chain.
 * @param seenAt epoch milliseconds
 */
export const delegationChanged = (
  row: WalletRow,
  now: SnapshotRow,
  before: SnapshotRow,
  seenAt: number,
): Message =>
  event('wallet.delegationChanged', {
    wallet_id: row.wallet_id,
    account_id: row.account_id,
    owner: row.public_key,
    status: now.delegation_status,
    previous_status: before.delegation_status,
    token_account_closed: isClosed(now),
    delegate: now.delegate,
    allowance: formatMicro(now.allowance),
    balance: formatMicro(now.balance),
    slot: Number(now.slot),
    observed_at: isoTime(seenAt),
  });
