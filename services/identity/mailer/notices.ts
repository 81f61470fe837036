import type { Environment } from '../../../shared/contract/primitives.ts';
import { DECLINE_REASONS, DECLINES, type DeclineReason } from '../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { displayUsdc } from '../../../shared/lib/usdc.ts';
import { REVEAL_MINUTES } from '../keys/store/reveal_links.ts';
import { environmentSentences, htmlBody, type Mail } from './mail-text.ts';
import { SECURITY_TEXTS } from './security-notices.ts';

/**
 * Mails to the owner of an account about keys and payments. The names in them are not trustworthy:
 * the service that was paid belongs to a stranger. A name is therefore quoted, escaped, and in no
 * subject.
 */
type Notice = { to: string; environment: Environment; details: Record<string, string> };

const IF_NOT_YOU =
  'If this was not you, sign in now, remove what you do not recognise, rotate keys with “revoke the others”, and revoke other sign-ins.';

const owner = ({ owner_kind, name, owner_id }: Record<string, string>) =>
  `the ${owner_kind} “${name}” (${owner_id})`;
const previousKeys = ({ until }: Record<string, string>) =>
  until === 'now' ? 'The previous keys are revoked.' : `The previous key works until ${until}.`;

const usdc = (digits: string | undefined) => displayUsdc(parseMicro(digits ?? ''));
/**
 * Quotes a stranger's name. Characters that change the direction of writing are removed, because
 * they could reorder the amount beside the name. Its own quotation marks become plain ones. Dots
 * and `://` are broken up, so that a mail reader does not turn the name into a link.
 */
const quoted = (name: string | undefined) => {
  if (name === undefined) return '';
  const text = name.replaceAll(/\p{Bidi_Control}/gu, '').replaceAll(/[“”]/g, '"');
  return `“${text.replaceAll('://', '[:]//').replaceAll(/(?<=\S)\.(?=\S)/g, '[.]')}” `;
};
/** A payment without a service is one to a vendor that has no account here. */
const service = ({ service: name, service_id }: Record<string, string>) =>
  service_id === undefined
    ? 'a vendor that does not use Quittance'
    : `the service ${quoted(name)}(${service_id})`;
const delegateOf = ({ delegate, delegate_id }: Record<string, string>) =>
  `The delegate ${quoted(delegate)}(${delegate_id})`;
/** The name of a vendor that does not use Quittance is the host that asked. */
const payeeOf = (details: Record<string, string>) =>
  details.service_id === undefined ? quoted(details.service).trimEnd() : service(details);
const MAX_RESOURCE = 200;
const shortened = (text: string) => (text.length > MAX_RESOURCE ? `${text.slice(0, MAX_RESOURCE)}…` : text);
const PAYMENT_MAILS_OFF =
  'You can turn mails about payments off in the settings of your account (mail_payments).';

/** Why a payment of a delegate was declined, and what its owner can do. */
const whyDeclined = ({ reason, limit, left, resets_at }: Record<string, string>): readonly string[] => {
  const { mail, mailWithout = [] } = DECLINES[reason as DeclineReason] ?? {};
  if (!mail || limit === undefined) return mailWithout;
  const of = usdc(limit);
  return mail({ limit: of, left: `${usdc(left)} of ${of} are left`, resetsAt: resets_at ?? '' });
};
/** The reasons of declines about which the owner of a delegate is mailed. */
export const MAILED_REASONS: ReadonlySet<string> = new Set(
  DECLINE_REASONS.filter((reason) => DECLINES[reason].mail || DECLINES[reason].mailWithout),
);

type Text = { subject: string; sentences: string[] };
type Details = Record<string, string>;

const TEXTS: Record<string, (details: Details) => Text> = {
  key_created: (details) => ({
    subject: 'A key was created',
    sentences: [`A key was created for ${owner(details)}.`, IF_NOT_YOU],
  }),
  key_rotated: (details) => ({
    subject: 'A key was rotated',
    sentences: [`The key of ${owner(details)} was replaced by a new one.`, previousKeys(details), IF_NOT_YOU],
  }),
  key_revealed: (details) => ({
    subject: 'A new key was shown',
    sentences: [
      `The link that we mailed was used: ${owner(details)} has a new key.`,
      previousKeys(details),
      IF_NOT_YOU,
    ],
  }),
  keys_revoked: (details) => ({
    subject: 'Keys were revoked',
    sentences: [`All keys of ${owner(details)} were revoked, because it was deleted.`, IF_NOT_YOU],
  }),
  payout_changed: (details) => ({
    subject: 'A payout address was changed',
    sentences: [
      `New quotes of ${owner(details)} are paid to ${details.payout_address}` +
        `${details.effective_at === 'now' ? '' : ` from ${details.effective_at}`}.`,
      'If this was not you, sign in now and set the address back. Existing quotes keep their address.',
    ],
  }),
  key_reveal: (details) => ({
    subject: 'Your link to a new key',
    sentences: [
      `Somebody who is signed in to your account requested a new key of ${owner(details)}.`,
      `The link works once and for ${REVEAL_MINUTES} minutes. A newer link replaces it.`,
      'If this was not you, do not open it, and revoke your other sign-ins.',
    ],
  }),
  passkey_added: ({ label, at }) => ({
    subject: 'A passkey was added',
    sentences: [`The passkey “${label}” was added at ${at}. It can sign in to your account.`, IF_NOT_YOU],
  }),
  passkey_removed: ({ label, at }) => ({
    subject: 'A passkey was removed',
    sentences: [
      `The passkey “${label}” was removed at ${at}. It cannot sign in to your account any more.`,
      IF_NOT_YOU,
    ],
  }),
  passkey_copied: ({ label, at }) => ({
    subject: 'A sign-in with a passkey was refused',
    sentences: [
      `At ${at} the passkey “${label}” was used with a counter that went back, which happens when a passkey was copied. ` +
        'The sign-in was refused.',
      'If you restored a device or a key from a backup, remove this passkey and add it again. Otherwise remove it now.',
    ],
  }),
  payment_made: (details) => ({
    subject: 'A payment was made',
    sentences: [
      `At ${details.at} your account paid ${usdc(details.amount)} to ${service(details)}` +
        `${details.delegate_id === undefined ? '' : `, by the delegate ${quoted(details.delegate)}(${details.delegate_id})`}.`,
      `The settlement is ${details.settlement_id}.`,
      IF_NOT_YOU,
      PAYMENT_MAILS_OFF,
    ],
  }),
  first_payment: (details) => ({
    subject: 'A first payment to a new payee',
    sentences: [
      `At ${details.at} your account paid ${usdc(details.amount)} to ${service(details)}` +
        `${details.pay_to === undefined ? '' : ` at the address ${details.pay_to}`}, to which it had never paid before.`,
      details.delegate_id === undefined
        ? 'A sign-in of your account paid it.'
        : `${delegateOf(details)} paid it.`,
      `The settlement is ${details.settlement_id}.`,
      IF_NOT_YOU,
      'This mail cannot be turned off. You get one for each new payee.',
    ],
  }),
  payment_received: (details) => ({
    subject: 'A payment was received',
    sentences: [
      `At ${details.at} ${service(details)} was paid ${usdc(details.amount)}: ` +
        `${usdc(details.net)} to its payout address, ${usdc(details.fee)} as the fee.`,
      `The settlement is ${details.settlement_id}.`,
      PAYMENT_MAILS_OFF,
    ],
  }),
  spending_alert: ({ day, spent, threshold }) => ({
    subject: 'Your spending passed the amount that you set',
    sentences: [
      `On ${day} (UTC) your account has paid ${usdc(spent)} so far, more than the ${usdc(threshold)} of your alert.`,
      'The alert stopped no payment. Limits of delegates and the allowance of a wallet stop payments.',
      IF_NOT_YOU,
      'You can change or turn off this alert in the settings of your account (spending_alert_threshold).',
    ],
  }),
  approval_requested: (details) => ({
    subject: 'A payment waits for your approval',
    sentences: [
      `${delegateOf(details)} asks to pay ${usdc(details.amount)} to ${payeeOf(details)}.`,
      `The money would go to the address ${details.pay_to}.`,
      ...(details.resource === undefined
        ? []
        : [
            `The delegate says that it pays for ${quoted(shortened(details.resource))}. Nobody has checked this.`,
          ]),
      `You can approve or deny it until ${details.expires_at}. Nothing is reserved, and nothing is paid without you.`,
      'If you do not expect this payment, deny it, and rotate or delete the key of the delegate.',
    ],
  }),
  payment_declined: (details) => ({
    subject: 'A payment of a delegate was declined',
    sentences: [
      `At ${details.at} the payment of ${usdc(details.amount)} to ${service(details)} was declined. Nothing was paid.`,
      `${delegateOf(details)} asked for it.`,
      ...whyDeclined(details),
      'If you do not expect this payment, rotate or delete the key of the delegate.',
      'You get at most one such mail an hour. All declined payments are listed at GET /v1/declines.',
    ],
  }),
  webhook_disabled: ({ endpoint_id, host, reason, at }) => ({
    subject: 'A webhook endpoint was turned off',
    sentences: [
      reason === 'gone'
        ? `At ${at} the server at ${host} answered 410 (gone), so nothing is sent to the webhook endpoint ${endpoint_id} any more.`
        : `For five days every delivery to the webhook endpoint ${endpoint_id} at ${host} has failed, so it was turned off at ${at}.`,
      'When it works again, turn it on (PATCH it with enabled: true) and request the missed events again (redeliver). ' +
        'Events stay available for 30 days and can be read at GET /v1/events.',
    ],
  }),
  device_signed_in: ({ client_name, at }) => ({
    subject: 'A device was signed in',
    sentences: [
      `At ${at} a device that calls itself ${quoted(client_name)}was signed in to your account, because its code was ` +
        'confirmed in the console. It can read your account, pay within its limits, and create delegates with limits. They end when you revoke its sign-in.',
      'If somebody else sent you that code, or this was not you, revoke the sign-in now: it is listed under “Account” in the console.',
      IF_NOT_YOU,
    ],
  }),
  account_closed: ({ at, erase_at }) => ({
    subject: 'Your account was closed',
    sentences: [
      `At ${at} your account was closed. Its sign-ins, passkeys, services, keys, webhooks and wallet links have ended.`,
      `Your personal data are erased on ${erase_at}. Payments are kept without your name and address.`,
      'Money in your wallets is yours and was not moved. Revoke what a wallet allows us to spend in that wallet.',
      'If this was not you, write to support before the data are erased. With this address you can open a new account at any time.',
    ],
  }),
  account_limits_changed: ({ per_payment, daily, raised }) => ({
    subject: `What a sign-in may pay was ${raised === 'yes' ? 'raised' : 'changed'}`,
    sentences: [
      `A sign-in of your account may now pay ${usdc(per_payment)} at once and ${usdc(daily)} a day without a recent sign-in.`,
      'This was set by somebody who had signed in within the last five minutes.',
      IF_NOT_YOU,
    ],
  }),
  key_mails_off: ({ at }) => ({
    subject: 'Mails about keys were turned off',
    sentences: [`At ${at} the mails about new and removed keys and passkeys were turned off.`, IF_NOT_YOU],
  }),
};

/** From where it was done, for an owner to recognise. */
const clientSentences = ({ address, agent }: Details): string[] =>
  address === undefined ? [] : [`It was done from the network ${address}, with ${agent}.`];

/** The mail of a notice with its optional link. Null for a kind that this release does not know. */
export const noticeMail = (
  kind: string,
  { to, environment, details }: Notice,
  link: { url: string; label: string } | null,
): Mail | null => {
  const texts = { ...TEXTS, ...SECURITY_TEXTS };
  const text = Object.hasOwn(texts, kind) ? texts[kind]!(details) : null;
  if (text === null) return null;
  const sentences = [...text.sentences, ...clientSentences(details), ...environmentSentences(environment)];
  const title = `${text.subject} (Quittance)`;
  return {
    to,
    subject: title,
    text: [...(link === null ? [] : [link.url]), ...sentences, ''].join('\n\n'),
    html: htmlBody(title, link, sentences),
  };
};
