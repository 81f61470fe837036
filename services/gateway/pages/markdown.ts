import { Marked } from 'marked';
import { escapeHtml } from './html.ts';

/**
 * Renders the Markdown of our documents. Text is escaped, and raw HTML and pictures throw, because
 * the pages have none (docs/adr/0054-guides-as-pages.md).
 */

export type Heading = { level: number; text: string; id: string };
type Rendered = { html: string; headings: Heading[] };
/** The address of a link in the page, or null if the page cannot link to it. */
type Resolve = (link: string) => string | null;

/** The anchor of a heading, as code hosts make it. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/**
 * The page's HTML, and its headings in order.
 * @throws Error naming the HTML or the picture that a page cannot show
 */
export const renderMarkdown = (source: string, resolve: Resolve): Rendered => {
  const headings: Heading[] = [];
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: marked }) {
        const text = marked.replaceAll('`', '');
        const heading = { level: depth, text, id: anchorOf(text) };
        headings.push(heading);
        return `<h${depth} id="${escapeHtml(heading.id)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const shown = this.parser.parseInline(tokens);
        const address = resolve(href);
        return address === null ? shown : `<a href="${escapeHtml(address)}">${shown}</a>`;
      },
      code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>\n`,
      html: ({ text }) => {
        if (/^<!--[\s\S]*-->\s*$/.test(text)) return '';
        throw new Error(`a page has no HTML of its own: ${text}`);
      },
      image: ({ text }) => {
        throw new Error(`a page has no picture: ${text}`);
      },
    },
    hooks: {
      // The wrapper scrolls on a narrow screen. It takes the focus, for scrolling by keyboard.
      postprocess: (html) =>
        html
          .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
          .replaceAll('</table>', '</table></div>'),
    },
  });
  return { html: marked.parse(source, { async: false }), headings };
};
