import type { Environment } from '../../../shared/contract/primitives.ts';
import { displayUsdc, parseMicro } from '../../../shared/lib/micro.ts';
import { REVEAL_MINUTES } from '../keys/store/reveal_links.ts';
import { escapeHtml, type Mail } from './mailer.ts';

/**
 * Mails to the owner about keys and payments. A name was written by somebody, the service that was paid by a stranger,
 * so it is escaped, quoted for what it is, and in no subject.
 */
export type Notice = { to: string; environment: Environment; details: Record<string, string> };

const IF_NOT_YOU =
  'If this was not you, sign in now, remove what you do not know, rotate keys with “revoke the others”, and end other sign-ins.';

const whose = ({ owner_kind, name, owner_id }: Record<string, string>) =>
  `the ${owner_kind} “${name}” (${owner_id})`;
const untilWhen = ({ until }: Record<string, string>) =>
  until === 'now' ? 'The previous keys have ended.' : `The previous key works until ${until}.`;

const usdc = (digits: string | undefined) => displayUsdc(parseMicro(digits ?? ''));
/**
 * A stranger's name as what it is: without what turns the direction of writing, so that it cannot reorder the amount beside it;
 * without quotation marks that would end its own; and no address that a mail reader makes a link of, in a mail that is ours.
 */
const quoted = (name: string | undefined) => {
  if (name === undefined) return '';
  const text = name.replaceAll(/\p{Bidi_Control}/gu, '').replaceAll(/[“”]/g, '"');
  return `“${text.replaceAll('://', '[:]//').replaceAll(/(?<=\S)\.(?=\S)/g, '[.]')}” `;
};
const service = ({ service: name, service_id }: Record<string, string>) =>
  `the service ${quoted(name)}(${service_id})`;
const PAYMENT_MAILS_OFF =
  'You can turn mails about payments off in the settings of your account (mail_payments).';

type Text = { subject: string; sentences: string[] };
type Words = Record<string, string>;

const TEXTS: Record<string, (words: Words) => Text> = {
  key_created: (words) => ({
    subject: 'A key was created',
    sentences: [`A key was created for ${whose(words)}.`, IF_NOT_YOU],
  }),
  key_rotated: (words) => ({
    subject: 'A key was rotated',
    sentences: [`The key of ${whose(words)} was replaced by a new one.`, untilWhen(words), IF_NOT_YOU],
  }),
  key_revealed: (words) => ({
    subject: 'A new key was shown',
    sentences: [
      `The link that we mailed was used: ${whose(words)} has a new key.`,
      untilWhen(words),
      IF_NOT_YOU,
    ],
  }),
  keys_ended: (words) => ({
    subject: 'Keys were ended',
    sentences: [`All keys of ${whose(words)} have ended, because it was deleted.`, IF_NOT_YOU],
  }),
  payout_changed: (words) => ({
    subject: 'A payout address was changed',
    sentences: [
      `New quotes of ${whose(words)} are paid to ${words.payout_address}` +
        `${words.effective_at === 'now' ? '' : ` from ${words.effective_at}`}.`,
      'If this was not you, sign in now and set the address back: quotes that exist keep their address.',
    ],
  }),
  key_reveal: (words) => ({
    subject: 'Your link to a new key',
    sentences: [
      `Somebody who is signed in to your account asked for a new key of ${whose(words)}.`,
      `The link works once and for ${REVEAL_MINUTES} minutes. A newer link replaces it.`,
      'If this was not you, do not open it, and end your other sign-ins.',
    ],
  }),
  passkey_added: ({ label, at }) => ({
    subject: 'A passkey was added',
    sentences: [`The passkey “${label}” was added at ${at}. It can sign in to your account.`, IF_NOT_YOU],
  }),
  passkey_removed: ({ label, at }) => ({
    subject: 'A passkey was removed',
    sentences: [`The passkey “${label}” was removed at ${at}. It signs nobody in any more.`, IF_NOT_YOU],
  }),
  passkey_copied: ({ label, at }) => ({
    subject: 'A sign-in with a passkey was refused',
    sentences: [
      `At ${at} the passkey “${label}” was used with a counter that went back, which happens when it was copied. ` +
        'Nobody was signed in.',
      'If you restored a device or a key from a backup, remove this passkey and add it again. Otherwise remove it now.',
    ],
  }),
  payment_made: (words) => ({
    subject: 'A payment was made',
    sentences: [
      `At ${words.at} your account paid ${usdc(words.amount)} to ${service(words)}` +
        `${words.delegate_id === undefined ? '' : `, by the delegate ${quoted(words.delegate)}(${words.delegate_id})`}.`,
      `The settlement is ${words.settlement_id}.`,
      IF_NOT_YOU,
      PAYMENT_MAILS_OFF,
    ],
  }),
  payment_received: (words) => ({
    subject: 'A payment was received',
    sentences: [
      `At ${words.at} ${service(words)} was paid ${usdc(words.amount)}: ` +
        `${usdc(words.net)} to its payout address, ${usdc(words.fee)} as the fee.`,
      `The settlement is ${words.settlement_id}.`,
      PAYMENT_MAILS_OFF,
    ],
  }),
  spending_alert: ({ day, spent, threshold }) => ({
    subject: 'Your spending passed the amount that you set',
    sentences: [
      `On ${day} (UTC) your account has paid ${usdc(spent)} so far, more than the ${usdc(threshold)} of your alert.`,
      'Nothing was stopped: limits of delegates and the allowance of a wallet do that.',
      IF_NOT_YOU,
      'You can change or turn off this alert in the settings of your account (spending_alert_threshold).',
    ],
  }),
  webhook_disabled: ({ endpoint_id, host, reason, at }) => ({
    subject: 'A webhook endpoint was turned off',
    sentences: [
      reason === 'gone'
        ? `At ${at} the server at ${host} answered 410 (gone), so nothing is sent to the webhook endpoint ${endpoint_id} any more.`
        : `For five days every delivery to the webhook endpoint ${endpoint_id} at ${host} has failed, so at ${at} it was turned off.`,
      'Once it works, turn it on again (PATCH it with enabled: true) and have what it missed sent again (redeliver); ' +
        'events are kept for 30 days and can be read at GET /v1/events.',
    ],
  }),
  key_mails_off: ({ at }) => ({
    subject: 'Mails about keys were turned off',
    sentences: [`At ${at} the mails about new and removed keys and passkeys were turned off.`, IF_NOT_YOU],
  }),
};

/** The mail of a notice, with its link where it has one; null for a kind that this release does not know. */
export const noticeMail = (
  kind: string,
  { to, environment, details }: Notice,
  link: string | null,
): Mail | null => {
  const text = Object.hasOwn(TEXTS, kind) ? TEXTS[kind]!(details) : null;
  if (text === null) return null;
  const sentences = [
    ...text.sentences,
    ...(environment === 'test' ? ['This is the test environment: its money is not real.'] : []),
  ];
  const title = `${text.subject} (Quittance)`;
  return {
    to,
    subject: title,
    text: [...(link === null ? [] : [link]), ...sentences, ''].join('\n\n'),
    html: [
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body>`,
      ...(link === null ? [] : [`<p><a href="${escapeHtml(link)}">Show the new key</a></p>`]),
      ...sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`),
      '</body></html>',
    ].join('\n'),
  };
};
