/** The words of the security events. `{name}` is replaced by that detail of the event. */
export const SECURITY = {
  title: 'Security events',
  about:
    'Sign-ins, and changes of passkeys, keys and payout addresses, for 90 days. Revoke what you do not recognise.',
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
    key_mails_off: 'The mails about keys were turned off.',
  },
} as const;
