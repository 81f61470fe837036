import path from 'node:path';
import { GUIDE_GROUPS, GUIDES, type Guide } from '../../../shared/contract/guides.ts';
import { escapeHtml, htmlPage, list, TOP } from './html.ts';
import { type Heading, renderMarkdown } from './markdown.ts';

const addressOf = ({ name }: Guide): string => `/docs/guides/${name}`;
const linkTo = (guide: Guide): string => `<a href="${addressOf(guide)}">${escapeHtml(guide.title)}</a>`;

/** Documents of the repository that another page shows, by their path from the root. */
const OTHER_PAGES: Record<string, string> = {
  'docs/errors.md': '/docs/errors',
  'docs/openapi.json': '/openapi.json',
};

/**
 * The address of a link in a guide: another guide or page, or the link itself if it has an origin.
 * Null for a file that is only in the repository.
 */
const resolveFrom =
  (guide: Guide) =>
  (link: string): string | null => {
    if (/^(https?:\/\/|#|\/)/.test(link)) return link;
    const [, place, fragment] = /^([^#]*)(#.*)?$/.exec(link)!;
    const file = path.posix.join(path.posix.dirname(guide.file), place!);
    const target = GUIDES.find((each) => each.file === file);
    const page = target === undefined ? OTHER_PAGES[file] : addressOf(target);
    return page === undefined ? null : `${page}${fragment ?? ''}`;
  };

const contents = (headings: readonly Heading[]): string => {
  const sections = headings.filter(({ level }) => level === 2);
  if (sections.length < 3) return '';
  const links = sections.map(({ id, text }) => `<a href="#${escapeHtml(id)}">${escapeHtml(text)}</a>`);
  return `<nav aria-label="On this page">${list(links)}</nav>`;
};

/** The guides before and after this one, in the order of the index. */
const neighbours = (guide: Guide): string => {
  const at = GUIDES.indexOf(guide);
  const [before, after] = [GUIDES[at - 1], GUIDES[at + 1]];
  const links = [before && `Before: ${linkTo(before)}`, after && `Next: ${linkTo(after)}`];
  return `<nav aria-label="Guides"><p>${links.filter((link) => link !== undefined).join(' · ')}</p></nav>`;
};

/**
 * /docs/guides/<name>: a guide as a page.
 * @throws Error if its Markdown contains HTML or a picture
 */
export const guideHtml = (guide: Guide, source: string): string => {
  const { html, headings } = renderMarkdown(source, resolveFrom(guide));
  // The table of contents comes after the title.
  const body = html.replace('</h1>', () => `</h1>\n${contents(headings)}`);
  return htmlPage({
    title: `${guide.title} – Quittance`,
    body: `<header>${TOP}</header>\n<main>\n${body}\n</main>\n${neighbours(guide)}`,
  });
};

/** /docs/guides: all guides, by what a reader wants to do. */
export const guidesHtml = (): string => {
  const groups = GUIDE_GROUPS.map(
    ({ title, guides }) =>
      `<h2>${escapeHtml(title)}</h2>\n` +
      list(guides.map((guide) => `${linkTo(guide)}: ${escapeHtml(guide.summary)}`)),
  );
  return htmlPage({
    title: 'Guides – Quittance',
    body: `<header>${TOP}</header>\n<main>\n<h1>Guides</h1>\n${groups.join('\n')}\n</main>`,
  });
};
