/** The words of the security events. `{name}` is replaced by that detail of the event. */
export const SECURITY = {
  title: 'Security events',
  about:
    'Sign-ins, first payments, and changes of limits, passkeys, keys and payout addresses, for 90 days. Revoke what you do not recognise.',
  where: 'From',
  unknown: 'unknown',
  none: 'No event in the last 90 days',
  /** How somebody signed in, by the word of the API. */
  methods: { email: 'by a mailed link', passkey: 'by passkey' } as Readonly<Record<string, string>>,
  sentences: {
    signed_in: 'You signed in {method}.',
    device_signed_in: 'The device “{client_name}” was signed in.',
    passkey_added: 'The passkey “{label}” was added.',
    passkey_removed: 'The passkey “{label}” was removed.',
    passkey_copied: 'A sign-in was refused, because the passkey “{label}” may be a copy.',
    key_created: 'A key was created for the {owner_kind} “{name}”.',
    key_rotated: 'The key of the {owner_kind} “{name}” was rotated.',
    key_reveal: 'A link to a new key of the {owner_kind} “{name}” was mailed.',
    key_revealed: 'The mailed link to a new key of the {owner_kind} “{name}” was used.',
    keys_revoked: 'All keys of the {owner_kind} “{name}” were revoked.',
    payout_changed: 'New quotes of the service “{name}” are paid to {payout_address}.',
    allowed_ips_changed: 'The keys of the service “{name}” now work from {allowed_ips}.',
    key_mails_off: 'The mails about keys were turned off.',
    account_limits_changed: 'A sign-in may pay {per_payment} USDC at once and {daily} USDC a day.',
    session_reused: 'A sign-in was ended, because its old refresh token was used again.',
    delegate_created: 'The delegate “{name}” was created.',
    delegate_widened: 'The delegate “{name}” may do more.',
    external_allowed: 'The delegate “{name}” may pay vendors that do not use Quittance.',
    device_allowed: 'The sign-in of a device was allowed.',
    wallet_linked: 'The wallet {public_key} was linked.',
    default_wallet_changed: 'Payments with a sign-in are made from the wallet {wallet_id}.',
    backup_read: 'The backup of the wallet {wallet_id} was read.',
    backup_replaced: 'The backup of the wallet {wallet_id} was replaced.',
    warnings_reduced: 'Mails about payments were turned off, or the spending alert was raised.',
    withdrawal_approved: 'The withdrawal {withdrawal_id} was approved.',
    refund_created: 'The refund {refund_id} was created.',
    endpoint_created: 'A webhook endpoint at {host} was created.',
    endpoint_changed: 'A webhook endpoint was moved to {host}.',
    endpoint_deleted: 'The webhook endpoint {endpoint_id} was deleted.',
    endpoint_secret_rotated: 'The secret of the webhook endpoint {endpoint_id} was rotated.',
    account_closed: 'The account was closed.',
    export_made: 'An export was made: {of}.',
    first_payment: 'A first payment, of {amount} USDC, went to {payee}.',
  },
} as const;

/** The words of the limits for payments by a sign-in. */
export const LIMITS = {
  title: 'What a sign-in may pay',
  about:
    'These limits hold for payments with an access token. For five minutes after you sign in they do not bind you. A delegate has limits of its own.',
  perPayment: 'For one payment',
  daily: 'For a UTC day',
  used: 'Used today',
  saved: 'Saved. A mail reports it if a limit was raised.',
} as const;
