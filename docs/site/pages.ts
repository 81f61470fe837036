// The pages of the documentation, as Markdown: the guides and documents of the repository, the
// reference made of docs/openapi.json, and the start page.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { GUIDE_GROUPS, GUIDES } from '../../shared/contract/guides.ts';
import { LOCAL_API as ORIGIN } from '../../shared/lib/local-api.ts';
import type { Page } from './page.ts';
import { referencePages } from './reference.ts';

export const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The address in what is generated from the contract. */
const EXAMPLE_ORIGIN = 'https://api.quittance.example';

const guidePath = (name: string): string => `docs/guides/${name}`;

/** The pages that show a document of the repository, by its path from the root. */
const PAGE_OF: Record<string, string> = {
  ...Object.fromEntries(GUIDES.map(({ name, file }) => [file, `/${guidePath(name)}`])),
  'docs/errors.md': '/docs/errors',
  'docs/openapi.json': '/openapi.json',
  'docs/guides/concepts.svg': '/docs/concepts.svg',
};

/**
 * The address of a link in a document: a page, or the link itself if it has an origin or begins at
 * the root. Null for a file that is only in the repository.
 */
const resolveLink = (file: string, link: string): string | null => {
  if (/^([a-z]+:|#|\/)/.test(link)) return link;
  const [, place, fragment = ''] = /^([^#]*)(#.*)?$/.exec(link)!;
  const page = PAGE_OF[path.posix.join(path.posix.dirname(file), place!)];
  return page === undefined ? null : page + fragment;
};

/** Splits a document at its fenced code, of which every second part consists. */
const outsideCode = (markdown: string, change: (text: string) => string): string =>
  markdown
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');

/** Links lead to pages. A link to a file that no page shows becomes its text. */
const withLinks = (file: string, markdown: string): string =>
  outsideCode(markdown, (text) =>
    text.replace(/\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (_all, shown: string, link: string) => {
      const address = resolveLink(file, link);
      return address === null ? shown : `[${shown}](${address})`;
    }),
  );

/** Title and rest of a document. The notes of generators and linters are not shown. */
const parse = (file: string): { title: string; markdown: string } => {
  const text = read(file).replaceAll(EXAMPLE_ORIGIN, ORIGIN);
  const [, title] = /^# (.+)\n/.exec(text) ?? [];
  if (title === undefined) throw new Error(`${file} does not begin with a title`);
  const body = text.slice(title.length + 3);
  return {
    title,
    markdown: withLinks(
      file,
      outsideCode(body, (part) => part.replace(/<!--[\s\S]*?-->\n*/g, '')),
    ),
  };
};

const sentence = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}.`;

const guidePages = (): Page[] =>
  GUIDES.map(({ name, file, title, summary }) => ({
    path: guidePath(name),
    title,
    description: sentence(summary),
    markdown: parse(file).markdown,
    source: file,
  }));

const guideIndex = (): Page => ({
  path: 'docs/guides',
  title: 'Guides',
  description: 'All guides, by what you want to do.',
  markdown: GUIDE_GROUPS.map(
    ({ title, guides }) =>
      `## ${title}\n\n${guides
        .map((guide) => `- [${guide.title}](/${guidePath(guide.name)}): ${guide.summary}`)
        .join('\n')}`,
  ).join('\n\n'),
  depth: 2,
});

/** Every page, in the order of the navigation. */
export const allPages = (): Page[] => {
  const openApi = JSON.parse(read('docs/openapi.json').replaceAll(EXAMPLE_ORIGIN, ORIGIN));
  const home = parse('docs/site/home.md');
  return [
    {
      path: '',
      title: home.title,
      description: 'Get paid per API call in USDC: guides, API reference and every error code of Quittance.',
      markdown: home.markdown,
    },
    guideIndex(),
    ...guidePages(),
    ...referencePages(openApi),
    {
      path: 'docs/errors',
      title: 'Errors',
      description: 'Every error code with its causes and what to do.',
      markdown: parse('docs/errors.md').markdown,
      depth: 2,
    },
  ];
};

/** The navigation at the side. */
export const sidebar = (pages: readonly Page[]) => {
  const link = (at: string, label?: string) => {
    const page = pages.find((each) => each.path === at)!;
    return { label: label ?? page.title, link: `/${at}` };
  };
  const reference = pages.filter((page) => page.path.startsWith('docs/api/'));
  return [
    link('', 'Home'),
    ...GUIDE_GROUPS.map(({ title, guides }) => ({
      label: title,
      items: guides.map(({ name }) => link(guidePath(name))),
    })),
    {
      label: 'API reference',
      items: [link('docs', 'Overview'), ...reference.map((page) => link(page.path)), link('docs/errors')],
    },
  ];
};
