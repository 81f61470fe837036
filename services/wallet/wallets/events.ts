import { job, type Message } from '../../../shared/events/event.ts';
import type { WalletRow } from './store.ts';

/**
 * The job that creates a wallet's token account.
 * @param dispatch how often the job was dispatched before
 */
export const tokenAccountJob = (
  { wallet_id, account_id, public_key: owner }: Pick<WalletRow, 'wallet_id' | 'account_id' | 'public_key'>,
  dispatch: number,
): Message => job('chain-submitter.createTokenAccount', { wallet_id, account_id, owner }, { dispatch });
