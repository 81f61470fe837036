import type { z } from 'zod';
import type { Passkey } from '../../shared/contract/identity.account.ts';
import type { Delegate } from '../../shared/contract/identity.delegates.ts';
import type { Session } from '../../shared/contract/identity.sign-in.ts';
import type { AccountStatus, identity } from '../../shared/contract/identity.ts';
import { ACCESS_TOKEN_SECONDS, signAccessToken } from '../../shared/lib/access-token.ts';
import { isoTime, isoTimeOrNull } from '../../shared/lib/clock.ts';
import { formatMicro } from '../../shared/lib/micro.ts';
import type { DelegateSpending, Deps } from './deps.ts';
import { refreshToken } from './domain/tokens.ts';
import type { AccountRow } from './store/accounts.ts';
import type { DelegateRow } from './store/delegates.ts';
import type { PasskeyRow } from './store/passkeys.ts';
import type { ServiceRow } from './store/services.ts';
import type { SessionRow } from './store/sessions.ts';
import type { StandingRow } from './store/standings.ts';

/** A service as its owner reads it. */
export const showService = (row: ServiceRow): z.infer<typeof identity.operations.getService.output> => ({
  service_id: row.service_id,
  name: row.name,
  price: formatMicro(row.price),
  payout_address: row.payout_address,
  next_payout:
    row.next_payout_address === null
      ? null
      : { payout_address: row.next_payout_address, effective_at: isoTime(row.next_payout_at!) },
  key_grace_hours: row.key_grace_hours,
  redeem_window_seconds: row.redeem_window_seconds,
  status: row.status,
  created_at: isoTime(row.created_at),
});

/** A delegate as its account or its key reads it: who it is from here, what it may spend from settlement. */
export const showDelegate = (
  row: DelegateRow,
  { limits, usage, allowed_service_ids }: DelegateSpending,
): z.infer<typeof Delegate> => ({
  delegate_id: row.delegate_id,
  name: row.name,
  wallet_id: row.wallet_id,
  limits,
  usage,
  allowed_service_ids,
  expires_at: isoTimeOrNull(row.expires_at),
  status: row.expired ? 'expired' : 'active',
  created_at: isoTime(row.created_at),
});

/** A new access token and the refresh token of the session's generation: the same one each time it is shown. */
export const showSession = async (deps: Deps, row: SessionRow): Promise<z.infer<typeof Session>> => ({
  access_token: await signAccessToken(
    {
      accountId: row.account_id,
      sessionId: row.session_id,
      environment: deps.environment,
      amr: row.amr,
      authTime: Math.floor(row.signed_in_at / 1000),
      now: deps.clock(),
    },
    deps.signingKey,
  ),
  token_type: 'Bearer',
  expires_in: ACCESS_TOKEN_SECONDS,
  refresh_token: refreshToken(deps.identitySecret, deps.environment, {
    sessionId: row.session_id,
    generation: row.generation,
  }),
  account: { account_id: row.account_id, email: row.email },
});

/** A passkey as its owner reads it. */
export const showPasskey = (row: PasskeyRow): z.infer<typeof Passkey> => ({
  passkey_id: row.passkey_id,
  label: row.label,
  backed_up: row.backed_up,
  created_at: isoTime(row.created_at),
  last_used_at: isoTimeOrNull(row.last_used_at),
});

/** The account's settings with the wallet that the wallet service names. */
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

/** How an account stands, for an operator. */
export const presentStanding = ({
  created_at,
  frozen_at,
  ...row
}: StandingRow): z.infer<typeof AccountStatus> => ({
  ...row,
  created_at: isoTime(created_at),
  frozen_at: isoTimeOrNull(frozen_at),
});
