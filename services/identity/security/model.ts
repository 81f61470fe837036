import {
  SECURITY_EVENT_KINDS,
  type SecurityEventKind,
} from '../../../shared/contract/identity/security-kinds.ts';

const kinds: ReadonlySet<string> = new Set(SECURITY_EVENT_KINDS);
export const isSecurityEvent = (kind: string): kind is SecurityEventKind => kinds.has(kind);

/**
 * The events that are recorded and not mailed: another mail follows, or the owner does it often, as
 * to read a backup before each signature, or to save a table of payments.
 */
const UNMAILED: readonly SecurityEventKind[] = [
  ...(['signed_in', 'delegate_created', 'device_allowed'] as const),
  ...(['withdrawal_approved', 'refund_created', 'backup_read'] as const),
];
type Noted = { kind: string; details: Record<string, string> };
export const isMailed = ({ kind, details }: Noted): boolean =>
  !UNMAILED.some((each) => each === kind) && (kind !== 'export_made' || details.of === 'account');

/** What a thief does first. Its mails cannot be turned off: a thief would begin with that. */
const ALWAYS_MAILED: readonly SecurityEventKind[] = [
  ...(['session_reused', 'device_signed_in', 'passkey_copied', 'key_mails_off'] as const),
  ...(['payout_changed', 'external_allowed', 'first_payment', 'account_closed'] as const),
  ...(['endpoint_created', 'endpoint_changed', 'endpoint_secret_rotated'] as const),
];
export const isAlwaysMailed = ({ kind, details }: Noted): boolean =>
  ALWAYS_MAILED.some((each) => each === kind) ||
  (kind === 'account_limits_changed' && details.raised === 'yes') ||
  (kind === 'allowed_ips_changed' && details.widened === 'yes');
