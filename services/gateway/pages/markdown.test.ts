import { expect, test } from '@jest/globals';
import { renderMarkdown } from './markdown.ts';

const render = (source: string) =>
  renderMarkdown(source, (link) => (link.endsWith('.ts') ? null : link)).html;

test.each([
  ['# A `b` & c', '<h1 id="a-b--c">A <code>b</code> &amp; c</h1>\n'],
  ['a [b](/c#d) e', '<p>a <a href="/c#d">b</a> e</p>\n'],
  ['a [b](c.ts)', '<p>a b</p>\n'],
  ['```sh\n# <a>\n\n- b\n```', '<pre tabindex="0"><code># &#60;a&#62;\n\n- b\n</code></pre>\n'],
  ['a\n\n<!-- b\n# c -->\n\nd', '<p>a</p>\n<p>d</p>\n'],
])('%j', (source, html) => {
  expect(render(source)).toBe(html);
});

test('a wide table scrolls, also by the keyboard', () => {
  expect(render('| a |\n| --- |\n| `b\\|c` |')).toMatch(
    /^<div class="wide" tabindex="0"><table>[\s\S]*<td><code>b\|c<\/code><\/td>[\s\S]*<\/table><\/div>\s*$/,
  );
});

test('the headings are named in order', () => {
  expect(renderMarkdown('# A\n\n## `b` c', () => null).headings).toEqual([
    { level: 1, text: 'A', id: 'a' },
    { level: 2, text: 'b c', id: 'b-c' },
  ]);
});

test('no text becomes markup, neither in code nor in addresses', () => {
  const evil = '<img src=x onerror=alert(1)>';
  for (const source of [`\`${evil}\``, `\`\`\`\n${evil}\n\`\`\``])
    expect(render(source)).not.toContain('<img');
  expect(render('[a](b"onclick=c)')).toBe('<p><a href="b&#34;onclick=c">a</a></p>\n');
});

test.each(['<div>a</div>', 'a <img src=x>', '# <b>a</b>', '- <a>', '![a](b.png)'])(
  '%j is refused, because pages have neither HTML nor pictures of their own',
  (source) => {
    expect(() => render(source)).toThrow(/^a page has no/);
  },
);
