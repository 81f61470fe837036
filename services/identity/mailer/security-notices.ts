type Details = Record<string, string>;
type Text = { subject: string; sentences: string[] };

const REVOKE =
  'If this was not you, sign in now, undo it, remove what you do not recognise, and revoke other sign-ins.';
const NOT_OFF = 'This mail cannot be turned off.';

/**
 * Mails about what a thief of a sign-in does first. The names in them are those of the owner's own
 * objects.
 */
export const SECURITY_TEXTS: Record<string, (details: Details) => Text> = {
  session_reused: () => ({
    subject: 'A sign-in was ended, because it may be stolen',
    sentences: [
      'An old refresh token of a sign-in was used again. A program that lost an answer does this, or somebody who has copied the token.',
      'The sign-in was ended at once, with the delegates that its device made, so that neither can go on.',
      'If you do not know why, revoke your other sign-ins, and look at the security events of your account.',
      NOT_OFF,
    ],
  }),
  external_allowed: ({ name, delegate_id }) => ({
    subject: 'A delegate may pay vendors that do not use Quittance',
    sentences: [
      `The delegate “${name}” (${delegate_id}) may now pay more vendors that have no account here. Such a payment has no refund.`,
      REVOKE,
      NOT_OFF,
    ],
  }),
  delegate_widened: ({ name, delegate_id }) => ({
    subject: 'A delegate may do more',
    sentences: [
      `A limit of the delegate “${name}” (${delegate_id}) was raised or removed, or it was resumed.`,
      REVOKE,
    ],
  }),
  allowed_ips_changed: ({ name, service_id, allowed_ips, widened }) => ({
    subject: `From where the keys of a service work was ${widened === 'yes' ? 'widened' : 'changed'}`,
    sentences: [
      `The keys of the service “${name}” (${service_id}) now work from ${allowed_ips}.`,
      'If this was not you, sign in now, set the addresses back, rotate the key with “revoke the others”, and revoke other sign-ins.',
      ...(widened === 'yes' ? [NOT_OFF] : []),
    ],
  }),
  wallet_linked: ({ public_key, wallet_id }) => ({
    subject: 'A wallet was linked',
    sentences: [`The wallet ${public_key} (${wallet_id}) was linked to your account.`, REVOKE],
  }),
  default_wallet_changed: ({ wallet_id }) => ({
    subject: 'Another wallet pays now',
    sentences: [`Payments with a sign-in are now made from the wallet ${wallet_id}.`, REVOKE],
  }),
  backup_replaced: ({ wallet_id }) => ({
    subject: 'The backup of a wallet was replaced',
    sentences: [`The encrypted backup of the wallet ${wallet_id} was replaced.`, REVOKE],
  }),
  warnings_reduced: () => ({
    subject: 'Warnings were turned off',
    sentences: ['Mails about payments were turned off, or the spending alert was raised or removed.', REVOKE],
  }),
  endpoint_created: ({ endpoint_id, host }) => ({
    subject: 'A webhook endpoint was created',
    sentences: [
      `The events of your account are now sent to ${host} (${endpoint_id}). They show payments, wallets and amounts.`,
      REVOKE,
      NOT_OFF,
    ],
  }),
  endpoint_changed: ({ endpoint_id, host }) => ({
    subject: 'A webhook endpoint has another address',
    sentences: [
      `The events of the webhook endpoint ${endpoint_id} are now sent to ${host}.`,
      REVOKE,
      NOT_OFF,
    ],
  }),
  endpoint_secret_rotated: ({ endpoint_id }) => ({
    subject: 'The secret of a webhook endpoint was rotated',
    sentences: [
      `The webhook endpoint ${endpoint_id} has a new secret. For 24 hours deliveries are signed with both.`,
      REVOKE,
      NOT_OFF,
    ],
  }),
  export_made: () => ({
    subject: 'The data of your account were exported',
    sentences: [
      'A program has announced that it exports everything that the API shows of your account: payments, wallets, names and settings.',
      'If this was not you, sign in now, and revoke other sign-ins. What was read cannot be taken back.',
    ],
  }),
  endpoint_deleted: ({ endpoint_id }) => ({
    subject: 'A webhook endpoint was deleted',
    sentences: [`The webhook endpoint ${endpoint_id} was deleted with its log.`, REVOKE],
  }),
};
