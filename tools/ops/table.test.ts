import { expect, test } from '@jest/globals';
import { commands } from './commands.ts';
import { helpOf, helpText } from './help.ts';
import { foldText, tableText, WIDTH } from './table.ts';

test('text is folded at spaces into lines of a terminal, and a longer word keeps its line', () => {
  const words = Array.from({ length: 60 }, (_, index) => `word${index}`);
  const signature = '5'.repeat(WIDTH + 8);
  const lines = foldText([...words, signature, 'end'].join(' '), '    ').split('\n');
  expect(lines.filter((line) => line.length > WIDTH)).toEqual([`    ${signature}`]);
  expect(lines.every((line) => line.startsWith('    '))).toBe(true);
  expect(lines.map((line) => line.trim()).join(' ')).toBe([...words, signature, 'end'].join(' '));
});

test('control characters of a forged message do not reach the terminal', () => {
  expect(tableText([['a'], ['\u001b[2J']])).toBe('a\n·[2J');
  expect(foldText('x \u001b[2J')).toBe('x ·[2J');
});

test('a last column that is too wide is folded below its own beginning', () => {
  const words = Array.from({ length: 30 }, (_, index) => `word${index}`).join(' ');
  const lines = tableText([
    ['id', 'what'],
    ['1', words],
  ]).split('\n');
  expect(lines.every((line) => line.length <= WIDTH)).toBe(true);
  expect(lines.slice(2).every((line) => line.startsWith('    word'))).toBe(true);
});

test('the help of every command fits a terminal', () => {
  const texts = [helpText(commands), ...commands.map((each) => helpOf(each))];
  expect(texts.flatMap((text) => text.split('\n')).filter((line) => line.length > WIDTH)).toEqual([]);
});
