import type { Notices } from './mail-text.ts';

/** What to do about a change that the owner did not make. */
const UNDO =
  'Was this not you? Sign in, undo it, remove what you do not recognise, and revoke the other sessions.';
export const NOT_OFF = 'This e-mail cannot be turned off.';

/**
 * Mails about what a thief of a sign-in does first. The names in them are those of the owner's own
 * objects.
 */
export const SECURITY_TEXTS: Notices = {
  session_reused: () => ({
    subject: 'A session was ended because it may be stolen',
    sentences: [
      'Somebody used an old refresh token of one of your sessions. A program that lost an answer does this, and so does somebody who copied the token.',
      'We ended the session and revoked the agents that its device created.',
    ],
    advice: ['If you do not know why, revoke your other sessions and check the security events.', NOT_OFF],
  }),
  external_allowed: ({ name }) => ({
    subject: 'An agent may pay vendors outside Quittance',
    sentences: [
      `The agent “${name}” may now pay vendors that do not use Quittance. These payments have no refund.`,
    ],
    advice: [UNDO, NOT_OFF],
  }),
  delegate_widened: ({ name }) => ({
    subject: 'An agent may spend more',
    sentences: [`A limit of the agent “${name}” was raised or removed, or the agent was resumed.`],
    advice: [UNDO],
  }),
  allowed_ips_changed: ({ name, allowed_ips, widened }) => ({
    subject: `The allowed addresses of a service were ${widened === 'yes' ? 'widened' : 'changed'}`,
    sentences: [`The keys of the service “${name}” now work from ${allowed_ips}.`],
    advice: [
      'Was this not you? Sign in, restore the addresses, rotate the key, and revoke the other sessions.',
      ...(widened === 'yes' ? [NOT_OFF] : []),
    ],
  }),
  wallet_linked: ({ public_key }) => ({
    subject: 'A wallet was linked',
    sentences: [`The wallet ${public_key} was linked to your account.`],
    advice: [UNDO],
  }),
  default_wallet_changed: () => ({
    subject: 'Another wallet pays now',
    sentences: ['Payments that you make yourself now come from another wallet.'],
    advice: [UNDO],
  }),
  backup_replaced: () => ({
    subject: 'The backup of a wallet was replaced',
    sentences: ['The encrypted backup of one of your wallets was replaced, as when you add a passkey to it.'],
    advice: [UNDO],
  }),
  warnings_reduced: () => ({
    subject: 'Warnings were reduced',
    sentences: ['E-mails about payments were turned off, or the spending alert was raised or removed.'],
    advice: [UNDO],
  }),
  endpoint_created: ({ host }) => ({
    subject: 'A webhook endpoint was created',
    sentences: [
      `The events of your account are now sent to ${host}. They show payments, wallets and amounts.`,
    ],
    advice: [UNDO, NOT_OFF],
  }),
  endpoint_changed: ({ host }) => ({
    subject: 'A webhook endpoint has a new address',
    sentences: [`The events of a webhook endpoint are now sent to ${host}.`],
    advice: [UNDO, NOT_OFF],
  }),
  endpoint_secret_rotated: () => ({
    subject: 'The secret of a webhook endpoint was rotated',
    sentences: ['A webhook endpoint has a new secret. For 24 hours deliveries are signed with both.'],
    advice: [UNDO, NOT_OFF],
  }),
  export_made: () => ({
    subject: 'Your account data were exported',
    sentences: ['All data of your account were downloaded: payments, wallets, names and settings.'],
    advice: ['Was this not you? Sign in and revoke the other sessions. What was read cannot be taken back.'],
  }),
  endpoint_deleted: () => ({
    subject: 'A webhook endpoint was deleted',
    sentences: ['A webhook endpoint was deleted together with its log.'],
    advice: [UNDO],
  }),
};
