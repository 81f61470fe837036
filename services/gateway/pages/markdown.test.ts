import { expect, test } from '@jest/globals';
import { renderMarkdown } from './markdown.ts';

const render = (source: string) =>
  renderMarkdown(source, (link) => (link.endsWith('.ts') ? null : link)).html;

test.each([
  ['# A `b` & c', '<h1 id="a-b--c">A <code>b</code> &#38; c</h1>'],
  ['one\ntwo **three**', '<p>one two <strong>three</strong></p>'],
  ['a [b](/c#d) e', '<p>a <a href="/c#d">b</a> e</p>'],
  ['a [b](c.ts)', '<p>a b</p>'],
  ['`` a`b ``', '<p><code>a`b</code></p>'],
  ['- a\n  b\n- c', '<ul><li>a b</li><li>c</li></ul>'],
  ['1. a\n   b\n2. c', '<ol><li>a b</li><li>c</li></ol>'],
  ['```sh\n# <a>\n\n- b\n```', '<pre tabindex="0"><code># &#60;a&#62;\n\n- b\n</code></pre>'],
  ['a\n\n<!-- b\n# c -->\n\nd', '<p>a</p>\n<p>d</p>'],
])('%j', (source, html) => {
  expect(render(source)).toBe(html);
});

test('a table has heads, and a cell may contain an escaped bar', () => {
  expect(render('| a | b |\n| --- | --- |\n| `c\\|d` | e |')).toMatch(
    /<thead><tr><th>a<\/th><th>b<\/th><\/tr><\/thead><tbody><tr><td><code>c\|d<\/code><\/td><td>e<\/td><\/tr><\/tbody>/,
  );
});

test('no text becomes markup, neither in code, headings, cells nor addresses', () => {
  const evil = '<img src=x onerror=alert(1)>"\'';
  const bare = evil.replaceAll(/[()|[\]]/g, '');
  for (const source of [
    `a ${evil}`,
    `# ${evil}`,
    `- ${evil}`,
    `\`${evil}\``,
    `\`\`\`\n${evil}\n\`\`\``,
    `[a](${bare.replaceAll(' ', '')})`,
  ])
    expect(render(source)).not.toMatch(/<img|"'|='/);
});

test.each([
  '<div>a</div>',
  '> a',
  '* a',
  '- a\n  - b',
  'a\n- b',
  'a\n| b |',
  '![a](b.png)',
  'a\n---',
  '##### a',
  '| a | b |\n| --- | --- |\n| c |',
  '| a |\n| b |',
  '```sh\na',
  '- a\n\n  b',
])('%j is refused, because it would be shown wrongly', (source) => {
  expect(() => render(source)).toThrow();
});
