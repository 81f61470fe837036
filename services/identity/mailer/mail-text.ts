import type { Environment } from '../../../shared/contract/primitives.ts';

export type Mail = { to: string; subject: string; text: string; html: string };

/** Escapes text for HTML. */
const escapeHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The sentences that every mail of an environment ends with. */
export const environmentSentences = (environment: Environment): string[] =>
  environment === 'test' ? ['This is the test environment: its money is not real.'] : [];

/** The HTML of a mail: its title, an optional link and sentences as paragraphs. */
export const htmlBody = (
  title: string,
  link: { url: string; label: string } | null,
  sentences: readonly string[],
): string =>
  [
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title></head><body>`,
    ...(link === null ? [] : [`<p><a href="${escapeHtml(link.url)}">${escapeHtml(link.label)}</a></p>`]),
    ...sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`),
    '</body></html>',
  ].join('\n');
