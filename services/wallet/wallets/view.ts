import type { z } from 'zod';
import type { Wallet } from '../../../shared/contract/wallet.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { isClosed } from './snapshots/model.ts';
import type { SnapshotRow } from './snapshots/store.ts';
import type { WalletRow } from './store.ts';

export type WalletView = z.infer<typeof Wallet>;

/** A wallet as its owner reads it, with its snapshot of the chain. */
export const showWallet = (row: WalletRow, snapshot: SnapshotRow): WalletView => ({
  wallet_id: row.wallet_id,
  kind: row.kind,
  address: row.public_key,
  token_account: row.token_account,
  label: row.label,
  token_account_closed: isClosed(snapshot),
  balance: formatMicro(snapshot.balance),
  delegation: {
    status: snapshot.delegation_status,
    delegate: snapshot.delegate,
    allowance: formatMicro(snapshot.allowance),
    as_of: isoTime(snapshot.seen_at!),
  },
  created_at: isoTime(row.created_at),
});
