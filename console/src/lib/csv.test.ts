import { expect, test } from '@jest/globals';
import { textCell } from './csv.ts';

test.each([
  ['Weather', '"Weather"'],
  ['say "hi", twice', '"say ""hi"", twice"'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['+1', `"'+1"`],
  ['-0.40', '"-0.40"'],
  ['-2+3', `"'-2+3"`],
  ['@SUM(A1)', `"'@SUM(A1)"`],
  ['\t=1', `"'\t=1"`],
  ['\r=1', `"'\r=1"`],
  ['  =1', `"'  =1"`],
  ['\u0000=1', `"'\u0000=1"`],
  ['＝1', `"'＝1"`],
  ['', '""'],
])('%j becomes the cell %j', (text, cell) => {
  expect(textCell(text)).toBe(cell);
});
