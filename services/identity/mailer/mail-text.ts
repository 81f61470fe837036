import type { Environment } from '../../../shared/contract/primitives.ts';

export type Mail = { to: string; subject: string; text: string; html: string };
/** The values of a notice's text. */
export type Details = Record<string, string>;
/** The text of a notice. */
export type NoticeText = {
  subject: string;
  /** What happened. */
  sentences: string[];
  /** What to do about it. */
  advice: string[];
};
/** The texts of notices by their kind. `at` writes a moment for people. */
export type Notices = Record<
  string,
  (details: Details, at: (iso: string | undefined) => string) => NoticeText
>;
/** The one thing to do, as the button of a mail. */
export type Link = { url: string; label: string };

/** Escapes text for HTML. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const dayOf = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
});
const timeOf = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });

/**
 * A moment as people read it: "14:07 UTC" on the day of the mail, otherwise "14:07 UTC on 26
 * November 2026". Text that is no moment stays as it is.
 */
export const moment = (iso: string | undefined, now: Date): string => {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return iso ?? '';
  const time = `${timeOf.format(at)} UTC`;
  return dayOf.format(at) === dayOf.format(now) ? time : `${time} on ${dayOf.format(at)}`;
};

/** A day that is given as "2026-11-26", as people read it. */
export const day = (iso: string | undefined): string => {
  const at = new Date(`${iso}T00:00:00Z`);
  return Number.isNaN(at.getTime()) ? (iso ?? '') : dayOf.format(at);
};

/** What every mail of an environment ends with. */
const footer = (environment: Environment): string =>
  environment === 'test' ? 'Quittance · Test mode: no real money.' : 'Quittance';

const STYLE = {
  body: 'margin:0;padding:24px 12px;background:#f6f6f3;color:#1d2326;font:16px/1.5 system-ui,-apple-system,sans-serif',
  card: 'max-width:544px;margin:0 auto;padding:24px;background:#ffffff;border:1px solid #dcdeda;border-radius:12px',
  title: 'margin:0 0 16px;font-size:20px;line-height:1.3',
  sentence: 'margin:0 0 12px;overflow-wrap:anywhere',
  action: 'margin:20px 0',
  button:
    'display:inline-block;padding:10px 18px;border-radius:8px;background:#17604f;color:#ffffff;font-weight:600;text-decoration:none',
  footer: 'margin:24px 0 0;color:#565f63;font-size:14px',
} as const;

const element = (name: string, style: keyof typeof STYLE, content: string): string =>
  `<${name} style="${STYLE[style]}">${content}</${name}>`;

/**
 * The mail with its title, what happened, its button and its advice, as plain text and as HTML. The
 * subject of a notice also names the product, which the mail itself shows at its end.
 */
export const mailOf = ({
  to,
  environment,
  subject,
  title = subject,
  sentences,
  advice,
  link,
}: {
  to: string;
  environment: Environment;
  subject: string;
  title?: string;
  sentences: readonly string[];
  advice: readonly string[];
  link: Link | null;
}): Mail => {
  const paragraph = (sentence: string) => element('p', 'sentence', escapeHtml(sentence));
  const button =
    link === null
      ? []
      : [
          element(
            'p',
            'action',
            `<a href="${escapeHtml(link.url)}" style="${STYLE.button}">${escapeHtml(link.label)}</a>`,
          ),
        ];
  const content = [
    element('h1', 'title', escapeHtml(title)),
    ...sentences.map(paragraph),
    ...button,
    ...advice.map(paragraph),
    element('p', 'footer', footer(environment)),
  ].join('\n');
  const asText = [
    ...sentences,
    ...(link === null ? [] : [`${link.label}:\n${link.url}`]),
    ...advice,
    footer(environment),
    '',
  ];
  return {
    to,
    subject,
    text: asText.join('\n\n'),
    html: [
      `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
        `<title>${escapeHtml(subject)}</title></head>`,
      element('body', 'body', element('div', 'card', `\n${content}\n`)),
      '</html>',
    ].join('\n'),
  };
};
