// What the gateway needs besides Starlight's pages: no inline script or style, the Markdown of each
// page, the texts of the search, and the files for robots and language models.
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { LOCAL_API as ORIGIN } from '../../shared/lib/local-api.ts';
import type { Page } from './page.ts';
import { sectionsOf } from './sections.ts';

const ASSETS = 'docs/assets';
/** The beginning of the names of the classes that replace inline styles. */
const STYLED = 'styled-';
const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 10);

/**
 * The strict policy of the gateway forbids inline scripts and styles. A script becomes a file at
 * the same place, so that it runs at the same time. A style becomes a class of one style sheet.
 * Tables and code take the focus, so that they scroll by keyboard too.
 */
const withoutInline = (dist: string, htmlFiles: readonly string[]): void => {
  const classes = new Map<string, string>();
  const texts = new Map<string, string>();
  for (const file of htmlFiles) {
    const html = readFileSync(file, 'utf8')
      .replace(
        /<script(?![^>]*\ssrc=)([^>]*)>([\s\S]*?)<\/script>/g,
        (_all, attributes: string, code: string) => {
          const name = `${ASSETS}/inline.${hashOf(code)}.js`;
          writeFileSync(path.join(dist, name), code);
          return `<script${attributes} src="/${name}"></script>`;
        },
      )
      .replaceAll('/sitemap-index.xml', '/sitemap.xml')
      .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>')
      .replaceAll('<pre data-language=', '<pre tabindex="0" data-language=')
      .replace(/<[a-z][\w-]*(?:\s[^<>]*?)?\sstyle="([^"]*)"[^<>]*>/g, (tag, style: string) => {
        const name = classes.get(style) ?? `${STYLED}${hashOf(style)}`;
        classes.set(style, name);
        const bare = tag.replace(` style="${style}"`, '');
        return / class="/.test(bare)
          ? bare.replace(' class="', ` class="${name} `)
          : bare.replace(/^<[a-z][\w-]*/, (open) => `${open} class="${name}"`);
      });
    texts.set(file, html);
  }
  const css = [...classes].map(([style, name]) => `.${name}{${style.replaceAll('&quot;', '"')}}`).join('\n');
  paintByClass(dist);
  const sheet = `/${ASSETS}/inline.${hashOf(css)}.css`;
  writeFileSync(path.join(dist, sheet), css);
  for (const [file, html] of texts)
    writeFileSync(file, html.replace('</head>', `<link rel="stylesheet" href="${sheet}"></head>`));
};

/** Expressive Code's style sheet finds the words that have a colour by their inline style. */
const paintByClass = (dist: string): void => {
  const byStyle = "[style^='--']:not([class])";
  for (const name of globSync(`${ASSETS}/ec.*.css`, { cwd: dist })) {
    const file = path.join(dist, name);
    const css = readFileSync(file, 'utf8');
    if (!css.includes(byStyle)) throw new Error('Expressive Code paints words by other selectors now');
    writeFileSync(file, css.replaceAll(byStyle, `[class^='${STYLED}']`));
  }
};

const markdownOf = ({ title, markdown }: Page): string => `# ${title}\n\n${markdown.trim()}\n`;
/**
 * The fields of every call and event. They are not in the file for language models, which would be
 * five times as long: /openapi.json has them.
 */
const isReference = ({ path: at }: Page): boolean =>
  at.startsWith('docs/api/') || at === 'docs/guides/events';
const markdownPath = ({ path: at }: Page): string => `${at === '' ? 'index' : at}.md`;

const write = (dist: string, name: string, text: string): void => {
  const file = path.join(dist, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
};

const sitemap = (pages: readonly Page[]): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...pages.map(({ path: at }) => `<url><loc>${ORIGIN}/${at}</loc></url>`),
    '</urlset>',
    '',
  ].join('\n');

/** What a program follows here: nothing but documents. */
const ROBOTS = `User-agent: *
Disallow: /v1/
Disallow: /console
Disallow: /receipt
Allow: /

Sitemap: ${ORIGIN}/sitemap.xml
`;

/** Whether every address of the gateway in the Markdown is in the page, where it is replaced. */
const assertOrigins = (page: Page, html: string): void => {
  const count = (text: string) => text.split(ORIGIN).length - 1;
  if (count(html) < count(page.markdown))
    throw new Error(
      `${page.path}: highlighting has split ${ORIGIN}, so that a gateway cannot put its own in`,
    );
};

/** Compressed once at build time with the best level. The other files name the gateway's origin. */
const compress = async (file: string): Promise<void> => {
  const plain = readFileSync(file);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
  writeFileSync(`${file}.br`, await promisify(brotliCompress)(plain, quality));
  writeFileSync(`${file}.gz`, await promisify(gzip)(plain, { level: 9 }));
};

/** Completes what Starlight has written into `dist`. */
export const finish = async (dist: string, pages: readonly Page[]): Promise<void> => {
  for (const name of ['sitemap-index.xml', 'sitemap-0.xml']) rmSync(path.join(dist, name), { force: true });
  const htmlFiles = globSync('**/*.html', { cwd: dist }).map((name) => path.join(dist, name));
  const htmlOf = (page: Page) => readFileSync(path.join(dist, page.path, 'index.html'), 'utf8');
  const sections = pages.flatMap((page) => sectionsOf(page, htmlOf(page)));
  for (const page of pages) assertOrigins(page, htmlOf(page));
  withoutInline(dist, htmlFiles);
  for (const page of pages) write(dist, markdownPath(page), markdownOf(page));
  write(dist, 'docs/search.json', JSON.stringify(sections));
  write(
    dist,
    'llms-full.txt',
    pages
      .filter((page) => !isReference(page))
      .map((page) => `<!-- ${ORIGIN}/${page.path} -->\n\n${markdownOf(page)}`)
      .join('\n'),
  );
  write(dist, 'sitemap.xml', sitemap(pages));
  write(dist, 'robots.txt', ROBOTS);
  const assets = globSync(`${ASSETS}/**`, { cwd: dist }).map((name) => path.join(dist, name));
  await Promise.all(assets.filter((file) => statSync(file).isFile()).map(compress));
};
