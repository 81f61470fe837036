import type { Environment } from '../../../shared/contract/primitives.ts';
import { DECLINE_REASONS, DECLINES, type DeclineReason } from '../../../shared/contract/settlement.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Payee } from '../../../shared/lib/money/payees.ts';
import { displayUsdc } from '../../../shared/lib/money/usdc.ts';
import { REVEAL_MINUTES } from '../keys/store/reveal_links.ts';
import {
  type Details,
  day,
  type Link,
  type Mail,
  mailOf,
  moment,
  type Notices,
  type NoticeText,
} from './mail-text.ts';
import { NOT_OFF, SECURITY_TEXTS } from './security-notices.ts';

/**
 * Mails to the owner of an account about keys and payments. The names in them are not trustworthy:
 * the service that was paid belongs to a stranger. A name is therefore quoted, escaped, and in no
 * subject. People read "agent" for a delegate.
 */
const NOT_YOU =
  'Was this not you? Sign in, remove what you do not recognise, rotate your keys, and revoke the other sessions.';

/** The object of a key, which is the owner's own. */
const owner = ({ owner_kind, name }: Details) =>
  `the ${owner_kind === 'delegate' ? 'agent' : owner_kind} “${name}”`;

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
const service = ({ service: name, service_id }: Details) =>
  service_id === undefined
    ? 'a vendor that does not use Quittance'
    : `the service ${quoted(name)}(${service_id})`;
/** The agent by its name, or by its id if it was revoked. */
const agentOf = ({ delegate, delegate_id }: Details) =>
  delegate === undefined ? `agent (${delegate_id})` : `agent ${quoted(delegate).trimEnd()}`;
/** The name of a vendor that does not use Quittance is the host that asked. */
const payeeOf = (details: Details) =>
  details.service_id === undefined ? quoted(details.service).trimEnd() : service(details);
/** Everybody who would be paid. Of several, the amount decides who gets the payment. */
const goesTo = (payees: readonly Payee[]) =>
  payees.length === 1
    ? `The money would go to ${payees[0]!.address}.`
    : `The money would go to ${payees.length} addresses: ${payees
        .map(({ address, amount }) => `${usdc(amount)} to ${address}`)
        .join(', ')}.`;
const MAX_RESOURCE = 200;
const shortened = (text: string) => (text.length > MAX_RESOURCE ? `${text.slice(0, MAX_RESOURCE)}…` : text);
const PAYMENT_MAILS_OFF = 'You can turn off e-mails about payments in the console, under Account.';

/** Why a payment of a delegate was declined, and what its owner can do. */
const whyDeclined = (
  { reason, limit, left, resets_at }: Details,
  at: (iso: string | undefined) => string,
): readonly string[] => {
  const { mail, mailWithout = [] } = DECLINES[reason as DeclineReason] ?? {};
  if (!mail || limit === undefined) return mailWithout;
  const of = usdc(limit);
  return mail({ limit: of, left: `${usdc(left)} of ${of} are left`, resetsAt: at(resets_at) });
};
/** The reasons of declines about which the owner of a delegate is mailed. */
export const MAILED_REASONS: ReadonlySet<string> = new Set(
  DECLINE_REASONS.filter((reason) => DECLINES[reason].mail || DECLINES[reason].mailWithout),
);

const KEYS: Notices = {
  key_created: (details) => ({
    subject: 'A key was created',
    sentences: [`A key was created for ${owner(details)}.`],
    advice: [NOT_YOU],
  }),
  key_rotated: (details, at) => ({
    subject: 'A key was rotated',
    sentences: [`The key of ${owner(details)} was replaced. ${previousKeys(details, at)}`],
    advice: [NOT_YOU],
  }),
  key_revealed: (details, at) => ({
    subject: 'A new key was shown',
    sentences: [
      `The link that we mailed was used: ${owner(details)} has a new key. ${previousKeys(details, at)}`,
    ],
    advice: [NOT_YOU],
  }),
  keys_revoked: (details) => ({
    subject: 'Keys were revoked',
    sentences: [`${owner(details).replace('the', 'The')} was deleted, so all its keys were revoked.`],
    advice: [NOT_YOU],
  }),
  key_reveal: (details) => ({
    subject: 'Your link to a new key',
    sentences: [
      `You requested a new key for ${owner(details)}. The link works once, for ${REVEAL_MINUTES} minutes.`,
    ],
    advice: ['Was this not you? Do not open the link, and revoke your other sessions.'],
  }),
  payout_changed: (details, at) => ({
    subject: 'A payout address was changed',
    sentences: [
      `New quotes of ${owner(details)} are paid to ${details.payout_address}` +
        `${details.effective_at === 'now' ? '' : ` from ${at(details.effective_at)}`}. Existing quotes keep their address.`,
    ],
    advice: ['Was this not you? Sign in and restore the address.'],
  }),
  passkey_added: ({ label, at: added }, at) => ({
    subject: 'A passkey was added',
    sentences: [`The passkey “${label}” was added at ${at(added)}. It can sign in to your account.`],
    advice: [NOT_YOU],
  }),
  passkey_removed: ({ label, at: removed }, at) => ({
    subject: 'A passkey was removed',
    sentences: [`The passkey “${label}” was removed at ${at(removed)}. It can no longer sign in.`],
    advice: [NOT_YOU],
  }),
  passkey_copied: ({ label, at: refused }, at) => ({
    subject: 'A sign-in with a passkey was refused',
    sentences: [
      `At ${at(refused)} we refused a sign-in with the passkey “${label}”, because it may be a copy: its counter went back.`,
    ],
    advice: [
      'If you restored a device or a security key from a backup, remove this passkey and add it again. Otherwise remove it now.',
    ],
  }),
  key_mails_off: ({ at: off }, at) => ({
    subject: 'E-mails about keys were turned off',
    sentences: [`At ${at(off)} e-mails about new and removed keys and passkeys were turned off.`],
    advice: [NOT_YOU],
  }),
};

const previousKeys = ({ until }: Details, at: (iso: string | undefined) => string) =>
  until === 'now' ? 'The previous keys are revoked.' : `The previous key works until ${at(until)}.`;

const PAYMENTS: Notices = {
  payment_made: (details, at) => ({
    subject: 'You made a payment',
    sentences: [
      `At ${at(details.at)} your account paid ${usdc(details.amount)} to ${service(details)}` +
        `${details.delegate_id === undefined ? '' : `, by the ${agentOf(details)}`}.`,
    ],
    advice: [NOT_YOU, PAYMENT_MAILS_OFF],
  }),
  first_payment: (details, at) => ({
    subject: 'First payment to a new payee',
    sentences: [
      `At ${at(details.at)} your account paid ${usdc(details.amount)} to ${service(details)}` +
        `${details.pay_to === undefined ? '' : ` at the address ${details.pay_to}`} for the first time.`,
      ...(details.total === undefined
        ? []
        : [`It is a part of a payment of ${usdc(details.total)} to ${details.payees} addresses.`]),
      details.delegate_id === undefined
        ? 'It was paid from a session of yours.'
        : `It was paid by the ${agentOf(details)}.`,
    ],
    advice: [NOT_YOU, `You get one e-mail for each new payee. ${NOT_OFF}`],
  }),
  payment_received: (details, at) => ({
    subject: 'You received a payment',
    sentences: [
      `At ${at(details.at)} ${service(details)} was paid ${usdc(details.amount)}. You receive ${usdc(details.net)}; the fee is ${usdc(details.fee)}.`,
    ],
    advice: [PAYMENT_MAILS_OFF],
  }),
  spending_alert: ({ day: of, spent, threshold }) => ({
    subject: 'Your daily spending exceeds your alert',
    sentences: [
      `On ${day(of)} (UTC) your account has spent ${usdc(spent)} so far, more than your alert of ${usdc(threshold)}.`,
      'The alert stops no payment. Limits of agents and the spending limit of a wallet do.',
    ],
    advice: [NOT_YOU, 'You can change or turn off this alert in the console, under Account.'],
  }),
  approval_requested: (details, at) => ({
    subject: 'A payment needs your approval',
    sentences: [
      `The ${agentOf(details)} asks to pay ${usdc(details.amount)} to ${payeeOf(details)}.`,
      `You can approve or deny it until ${at(details.expires_at)}. Nothing is held or paid before.`,
    ],
    advice: [
      goesTo(JSON.parse(details.payees ?? '[]')),
      ...(details.resource === undefined
        ? []
        : [
            details.service_id === undefined
              ? `The agent says it pays for ${quoted(shortened(details.resource)).trimEnd()}. Nobody has verified this.`
              : `The quote of the service is for ${quoted(shortened(details.resource)).trimEnd()}.`,
          ]),
      'If you do not expect this payment, deny it and rotate the key of the agent.',
    ],
  }),
  payment_declined: (details, at) => {
    const [why = '', ...todo] = whyDeclined(details, at);
    return {
      subject: 'A payment of an agent was declined',
      sentences: [
        `At ${at(details.at)} the ${agentOf(details)} tried to pay ${usdc(details.amount)} to ${service(details)}. The payment was declined, and nothing was paid.`,
        why,
      ],
      advice: [
        ...(details.resource === undefined
          ? []
          : [`The quote of the service was for ${quoted(shortened(details.resource)).trimEnd()}.`]),
        ...todo,
        'If you do not expect this payment, revoke the agent or rotate its key.',
        'You get at most one such e-mail an hour. The console lists all declined payments under Activity.',
      ],
    };
  },
};

const ACCOUNT: Notices = {
  webhook_disabled: ({ host, reason, at: off }, at) => ({
    subject: 'A webhook endpoint was turned off',
    sentences: [
      reason === 'gone'
        ? `At ${at(off)} your server at ${host} answered 410 (gone), so we stopped sending events to it.`
        : `Every delivery to ${host} failed for five days, so the endpoint was turned off at ${at(off)}.`,
      'When your server works again, turn the endpoint on and redeliver the missed events. They stay available for 30 days.',
    ],
    advice: [],
  }),
  device_signed_in: ({ client_name, at: signedIn }, at) => ({
    subject: 'A device signed in',
    sentences: [
      `At ${at(signedIn)} the device ${quoted(client_name)}signed in to your account with a code that was confirmed in the console.`,
      'It can read your account, pay within its limits, and create agents with limits. They end when you revoke the session.',
    ],
    advice: ['If somebody sent you that code, or if this was not you, revoke the session now.'],
  }),
  account_closed: ({ at: closed, erase_at }, at) => ({
    subject: 'Your account was closed',
    sentences: [
      `At ${at(closed)} your account was closed. Its sessions, passkeys, services, agents, keys, webhooks and wallet links have ended.`,
      `Your personal data are erased at ${at(erase_at)}. Payments are kept without your name and address.`,
    ],
    advice: [
      'The money in your wallets is yours and was not moved. Revoke our spending limit in the app of each linked wallet.',
      'Was this not you? Write to support before the data are erased. You can open a new account with this address at any time.',
    ],
  }),
  account_limits_changed: ({ per_payment, daily, raised }) => ({
    subject: `The payment limits of your account were ${raised === 'yes' ? 'raised' : 'changed'}`,
    sentences: [
      `A session of your account may now pay ${usdc(per_payment)} per payment and ${usdc(daily)} per day without a recent sign-in.`,
    ],
    advice: [NOT_YOU],
  }),
};

const TEXTS: Notices = { ...KEYS, ...PAYMENTS, ...ACCOUNT, ...SECURITY_TEXTS };
/** All kinds of notices. */
export const KINDS: readonly string[] = Object.keys(TEXTS);

/** From where it was done, for an owner to recognise. */
const clientSentences = ({ address, agent }: Details): string[] =>
  address === undefined ? [] : [`It was done from the network ${address}, with ${agent}.`];

const titled = (subject: string) => `${subject} (Quittance)`;
const textOf = (kind: string, details: Details, now: Date): NoticeText | null =>
  Object.hasOwn(TEXTS, kind) ? TEXTS[kind]!(details, (iso) => moment(iso, now)) : null;

type To = { to: string; environment: Environment; now: Date };

/**
 * The mail of a notice with its optional button. Null for a kind that this release does not know.
 */
export const noticeMail = (
  kind: string,
  { to, environment, now, details }: To & { details: Details },
  link: Link | null,
): Mail | null => {
  const text = textOf(kind, details, now);
  if (text === null) return null;
  const { subject, sentences } = text;
  const advice = [...text.advice, ...clientSentences(details)];
  return mailOf({ to, environment, subject: titled(subject), title: subject, sentences, advice, link });
};

/** One change of several that one mail reports. */
type Change = { kind: string; at: string; details: Details };
/** A mail reports so many changes. The console has all of them. */
const MAX_CHANGES = 20;

/** One mail about several changes that were made from one place within minutes. */
export const changesMail = (changes: readonly Change[], { to, environment, now }: To, link: Link): Mail => {
  const sentences = changes.slice(0, MAX_CHANGES).flatMap(({ kind, at, details }) => {
    const what = textOf(kind, details, now)?.sentences[0];
    return what === undefined ? [] : [`${moment(at, now)}: ${what}`];
  });
  const more = changes.length - MAX_CHANGES;
  if (more > 0) sentences.push(`And ${more} more. The console lists them under Account, Security events.`);
  const title = `${changes.length} changes to your account`;
  const advice = [NOT_YOU, ...clientSentences(changes[0]?.details ?? {})];
  return mailOf({ to, environment, subject: titled(title), title, sentences, advice, link });
};
