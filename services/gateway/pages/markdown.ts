import { escapeHtml } from './html.ts';

/**
 * Renders the part of Markdown that our documents use: headings, paragraphs, lists of one level,
 * tables, fenced code, links, code and bold text. Everything else throws, so that a document cannot
 * be shown wrongly. All text is escaped, and no HTML passes (docs/adr/0054-guides-as-pages.md).
 */

export type Heading = { level: number; text: string; id: string };
type Rendered = { html: string; headings: Heading[] };
/** The address of a link in the page, or null if the page cannot link to it. */
type Resolve = (link: string) => string | null;

const INLINE =
  /``(?<double>.+?)``|`(?<code>[^`]+)`|\*\*(?<bold>.+?)\*\*|\[(?<text>[^\]]+)\]\((?<link>[^()\s]+)\)/;

/** One piece of text with code, bold text and links. */
const inline = (text: string, resolve: Resolve): string => {
  const found = INLINE.exec(text);
  if (found === null) return escapeHtml(text);
  const { double, code = double, bold, text: label, link } = found.groups!;
  const before = escapeHtml(text.slice(0, found.index));
  const after = inline(text.slice(found.index + found[0].length), resolve);
  if (code !== undefined) return `${before}<code>${escapeHtml(code.trim())}</code>${after}`;
  if (bold !== undefined) return `${before}<strong>${inline(bold, resolve)}</strong>${after}`;
  const shown = inline(label!, resolve);
  const href = resolve(link!);
  return `${before}${href === null ? shown : `<a href="${escapeHtml(href)}">${shown}</a>`}${after}`;
};

/** The anchor of a heading, as code hosts make it. */
const anchorOf = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const cellsOf = (row: string): string[] =>
  row
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'));

const table = (lines: readonly string[], resolve: Resolve): string => {
  const [heads, rule, ...rows] = lines.map(cellsOf);
  if (!rule?.every((cell) => /^-+$/.test(cell))) throw new Error(`a table without a rule: ${lines[0]}`);
  const row = (cells: readonly string[], tag: string) => {
    if (cells.length !== heads!.length) throw new Error(`a row of another length: ${cells.join(' | ')}`);
    return `<tr>${cells.map((cell) => `<${tag}>${inline(cell, resolve)}</${tag}>`).join('')}</tr>`;
  };
  const body = rows.map((cells) => row(cells, 'td')).join('');
  // The wrapper scrolls on a narrow screen. It takes the focus, so that a keyboard can scroll it.
  return `<div class="wide" tabindex="0"><table><thead>${row(heads!, 'th')}</thead><tbody>${body}</tbody></table></div>`;
};

const ITEM = { ul: /^- /, ol: /^\d+\. / };

/** A list of one level. An indented line continues its item. */
const list = (lines: readonly string[], kind: keyof typeof ITEM, resolve: Resolve): string => {
  const items: string[] = [];
  for (const line of lines) {
    if (ITEM[kind].test(line)) items.push(line.replace(ITEM[kind], ''));
    else if (/^ {2,3}[^\s*+-]/.test(line)) items.push(`${items.pop()!} ${line.trim()}`);
    else throw new Error(`not a line of a list of one level: ${line}`);
  }
  return `<${kind}>${items.map((item) => `<li>${inline(item, resolve)}</li>`).join('')}</${kind}>`;
};

/** Beginnings of forms that this renderer does not have. Shown as text they would be wrong. */
const UNKNOWN = /^(<|>|\s|\||[-*+] |\d+\. |#{5,}|(?:-{3,}|={3,})$|!\[)/;

const block = (lines: readonly string[], resolve: Resolve): string => {
  const [first] = lines as [string];
  if (first.startsWith('|')) return table(lines, resolve);
  if (ITEM.ul.test(first)) return list(lines, 'ul', resolve);
  if (ITEM.ol.test(first)) return list(lines, 'ol', resolve);
  const unknown = lines.find((line) => UNKNOWN.test(line));
  if (unknown !== undefined) throw new Error(`a form that pages do not have: ${unknown}`);
  return `<p>${inline(lines.join(' '), resolve)}</p>`;
};

/** Splits a document into comments, fences, headings and blocks between empty lines. */
const BLOCKS =
  /^<!--[\s\S]*?-->$|^```(?<language>\w*)\n(?<code>[\s\S]*?)^```$|^(?<marks>#{1,4}) (?<title>.+)$|^(?<lines>(?:(?!```|#{1,4} |<!--).+(?:\n|$))+)/gm;

/**
 * The page's HTML, and its headings in order.
 * @throws Error naming the line that has no form of the ones above
 */
export const renderMarkdown = (source: string, resolve: Resolve): Rendered => {
  const headings: Heading[] = [];
  const parts: string[] = [];
  let end = 0;
  for (const { index, 0: whole, groups } of source.matchAll(BLOCKS)) {
    const between = source.slice(end, index);
    if (between.trim() !== '') throw new Error(`a form that pages do not have: ${between.trim()}`);
    end = index + whole.length;
    const { code, marks, title, lines } = groups!;
    if (code !== undefined) parts.push(`<pre tabindex="0"><code>${escapeHtml(code)}</code></pre>`);
    else if (marks !== undefined) {
      const text = title!.replaceAll('`', '');
      const heading = { level: marks.length, text, id: anchorOf(text) };
      headings.push(heading);
      const shown = inline(title!, resolve);
      parts.push(`<h${heading.level} id="${escapeHtml(heading.id)}">${shown}</h${heading.level}>`);
    } else if (lines !== undefined) parts.push(block(lines.trimEnd().split('\n'), resolve));
  }
  if (source.slice(end).trim() !== '') throw new Error(`a form that pages do not have: ${source.slice(end)}`);
  return { html: parts.join('\n'), headings };
};
