import { typeId } from '../primitives.ts';

export const SecurityEventId = typeId('sev', 'SecurityEventId');

/** What the owner of an account should recognise. Most are mailed too. */
export const SECURITY_EVENT_KINDS = [
  'signed_in',
  'device_signed_in',
  'passkey_added',
  'passkey_removed',
  'passkey_copied',
  'key_created',
  'key_rotated',
  'key_reveal',
  'key_revealed',
  'keys_revoked',
  'payout_changed',
  'allowed_ips_changed',
  'key_mails_off',
  'account_limits_changed',
  'first_payment',
  'session_reused',
  'delegate_created',
  'delegate_widened',
  'external_allowed',
  'device_allowed',
  'wallet_linked',
  'default_wallet_changed',
  'backup_read',
  'backup_replaced',
  'warnings_reduced',
  'withdrawal_approved',
  'refund_created',
  'endpoint_created',
  'endpoint_changed',
  'endpoint_deleted',
  'endpoint_secret_rotated',
  'account_closed',
  'export_made',
] as const;
export type SecurityEventKind = (typeof SECURITY_EVENT_KINDS)[number];
