import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { AccountRow } from './store.ts';

/** The account's settings, with the default wallet that the wallet service returned. */
export const showSettings = (
  row: AccountRow,
  defaultWalletId: string | null,
): z.infer<typeof identity.operations.getSettings.output> => ({
  display_name: row.display_name,
  default_wallet_id: defaultWalletId,
  mail_key_events: row.mail_key_events,
  mail_payments: row.mail_payments,
  spending_alert_threshold:
    row.spending_alert_threshold === null ? null : formatMicro(row.spending_alert_threshold),
});
