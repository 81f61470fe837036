// The sections of a built page, as the search shows them.
import type { Page } from './page.ts';

type Section = { url: string; page: string; title: string; text: string };

/** Enough of a section to find it by, so that the texts of all sections load quickly. */
const MAX_TEXT = 1200;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: ' ' };

/** The text of HTML that this build has made. */
const textOf = (html: string): string =>
  html
    .replace(/<(script|style|svg|button|figcaption)\b[\s\S]*?<\/\1>/g, ' ')
    .replace(/<a class="sl-anchor-link"[\s\S]*?<\/a>/g, '')
    .replace(/<\/?(p|div|li|ul|ol|tr|td|th|table|pre|figure|details|summary|h\d)\b[^>]*>/g, ' ')
    .replace(/<[^>]*>/g, '')
    .replace(/&#x([0-9a-f]+);/gi, (_all, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/&#(\d+);/g, (_all, code: string) => String.fromCodePoint(Number(code)))
    .replace(/&(\w+);/g, (all, name: string) => ENTITIES[name] ?? all)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, MAX_TEXT);

/** One for the beginning of a page, and one for each heading of the second and third level. */
export const sectionsOf = (page: Page, html: string): Section[] => {
  const [, content] = /<div class="sl-markdown-content">([\s\S]*?)<footer/.exec(html) ?? [];
  if (content === undefined) throw new Error(`${page.path}: Starlight has another structure now`);
  const [first, ...others] = content.split(/(?=<h[23]\b[^>]*\sid=")/);
  const top = { url: `/${page.path}`, page: page.title, title: page.title, text: textOf(first!) };
  return [
    top,
    ...others.map((part) => {
      const [all, id, heading] = /^<h[23]\b[^>]*\sid="([^"]+)"[^>]*>([\s\S]*?)<\/h[23]>/.exec(part)!;
      return {
        url: `/${page.path}#${id}`,
        page: page.title,
        title: textOf(heading!),
        text: textOf(part.slice(all.length)),
      };
    }),
  ];
};
