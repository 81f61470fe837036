/** The words of the security events. `{name}` is replaced by that detail of the event. */
export const SECURITY = {
  title: 'Security events',
  about:
    'Sign-ins, first payments and changes to limits, passkeys, keys and payout addresses in the last 90 days. Revoke what you do not recognise.',
  where: 'From',
  unknown: 'unknown',
  /** People read this word, the API says delegate. */
  agent: 'agent',
  none: 'No events in the last 90 days',
  /** How somebody signed in, by the word of the API. */
  methods: { email: 'with a mailed link', passkey: 'with a passkey' } as Readonly<Record<string, string>>,
  sentences: {
    signed_in: 'You signed in {method}.',
    device_signed_in: 'The device “{client_name}” signed in.',
    passkey_added: 'The passkey “{label}” was added.',
    passkey_removed: 'The passkey “{label}” was removed.',
    passkey_copied: 'A sign-in was refused because the passkey “{label}” may be a copy.',
    key_created: 'A key was created for the {owner_kind} “{name}”.',
    key_rotated: 'The key of the {owner_kind} “{name}” was rotated.',
    key_reveal: 'A link to a new key of the {owner_kind} “{name}” was mailed.',
    key_revealed: 'The mailed link to a new key of the {owner_kind} “{name}” was used.',
    keys_revoked: 'All keys of the {owner_kind} “{name}” were revoked.',
    payout_changed: 'New quotes of the service “{name}” are paid to {payout_address}.',
    allowed_ips_changed: 'The keys of the service “{name}” now work from {allowed_ips}.',
    key_mails_off: 'E-mails about keys were turned off.',
    account_limits_changed:
      'The limits of this account were set to {per_payment} USDC per payment and {daily} USDC per day.',
    session_reused: 'A session was ended because its old refresh token was used again.',
    delegate_created: 'The agent “{name}” was created.',
    delegate_widened: 'A limit of the agent “{name}” was raised or removed, or it was resumed.',
    external_allowed: 'The agent “{name}” may pay vendors outside Quittance.',
    device_allowed: 'You allowed a device to sign in.',
    wallet_linked: 'The wallet {public_key} was linked.',
    default_wallet_changed: 'Your own payments now come from the wallet {wallet_id}.',
    backup_read: 'The backup of the wallet {wallet_id} was read.',
    backup_replaced: 'The backup of the wallet {wallet_id} was replaced.',
    warnings_reduced: 'E-mails about payments were turned off, or the spending alert was raised.',
    withdrawal_approved: 'The withdrawal {withdrawal_id} was signed.',
    refund_created: 'The refund {refund_id} was created.',
    endpoint_created: 'A webhook endpoint at {host} was created.',
    endpoint_changed: 'A webhook endpoint was moved to {host}.',
    endpoint_deleted: 'The webhook endpoint {endpoint_id} was deleted.',
    endpoint_secret_rotated: 'The secret of the webhook endpoint {endpoint_id} was rotated.',
    account_closed: 'The account was closed.',
    export_made: 'Data was exported: {of}.',
    first_payment: 'You paid {payee} for the first time: {amount} USDC.',
  },
} as const;

/** The words of the limits for payments by a sign-in. */
export const LIMITS = {
  title: 'Payment limits of this account',
  about:
    'These limits apply to payments that you make yourself, except in the five minutes after you sign in. Agents have limits of their own.',
  perPayment: 'Per payment',
  daily: 'Per day (UTC)',
  used: 'Spent today',
  saved: 'Saved. If you raised a limit, we confirm it by e-mail.',
} as const;
