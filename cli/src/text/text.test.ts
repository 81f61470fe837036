import { expect, test } from '@jest/globals';
import { plain, properties, shownTime, table } from './text.ts';

test('columns are aligned to the left, or to the right for amounts', () => {
  const rows = [
    ['Weather API', '0.10 USDC'],
    ['News', '12.50 USDC'],
  ];
  expect(table(['NAME', 'PRICE'], rows, [1])).toBe(
    ['NAME              PRICE', 'Weather API   0.10 USDC', 'News         12.50 USDC'].join('\n'),
  );
});

test('a name of a stranger cannot move the cursor, colour the text or reorder the line', () => {
  expect(plain('A\u001b[2K\rB\u202eC\nD')).toBe('A�[2K�B�C�D');
  expect(table(['NAME'], [['A\nB']])).toBe('NAME\nA�B');
});

test('a time has no milliseconds', () => {
  expect(shownTime('2026-11-28T04:26:02.123Z')).toBe('2026-11-28T04:26:02Z');
  expect(shownTime('2026-11-28T04:26:02Z')).toBe('2026-11-28T04:26:02Z');
});

test('a null value is omitted', () => {
  expect(
    properties([
      ['Account', 'acct_1'],
      ['Key', null],
      ['URL', 'x'],
    ]),
  ).toBe('Account  acct_1\nURL      x');
});
