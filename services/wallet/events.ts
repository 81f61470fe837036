import { event, job, type Message } from '../../shared/events/event.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import { isClosed, type SightRow } from './store/sights.ts';
import type { WalletRow } from './store/wallets.ts';

/** The job that has a token account created. @param dispatch how often it was sent before */
export const tokenAccountJob = (
  { wallet_id, account_id, public_key: owner }: Pick<WalletRow, 'wallet_id' | 'account_id' | 'public_key'>,
  dispatch: number,
): Message => job('chain-submitter.createTokenAccount', { wallet_id, account_id, owner }, { dispatch });

/**
 * A wallet's delegation or token account is another on chain than it was. @param seenAt epoch
 * milliseconds
 */
export const delegationChanged = (row: WalletRow, now: SightRow, before: SightRow, seenAt: number): Message =>
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
