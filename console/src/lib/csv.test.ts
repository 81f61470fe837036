import { expect, test } from '@jest/globals';
import { exactDecimal, textCell } from './csv.ts';

test.each([
  [0n, '0.000000'],
  [1n, '0.000001'],
  [1_000_000n, '1.000000'],
  [-1_500_000n, '-1.500000'],
  [9_223_372_036_854_775_807n, '9223372036854.775807'],
])('%s micro-units are exactly %s', (micro, text) => {
  expect(exactDecimal(micro)).toBe(text);
});

test.each([
  ['Weather', '"Weather"'],
  ['say "hi", twice', '"say ""hi"", twice"'],
  ['two\nlines', '"two\nlines"'],
  ['=HYPERLINK("http://x")', `"'=HYPERLINK(""http://x"")"`],
  ['+1', `"'+1"`],
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
