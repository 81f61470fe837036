import { expect, test } from '@jest/globals';
import { formatDuration, parseWhole } from './duration.ts';

test.each([
  [900, '15 min'],
  [90_061, '1 d 1 h'],
  [3661, '1 h 1 min'],
  [3605, '1 h'],
  [59.9, '59 s'],
  [0.4, '0 s'],
  [-5, '0 s'],
  [604_800, '7 d'],
])('%p seconds are %p', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

test.each([
  ['900', 900],
  ['604,800', 604_800],
  ['29', null],
  ['604801', null],
  ['1e3', null],
  ['-900', null],
  ['90.5', null],
  ['', null],
])('%p entered for 30 to 604800 is %p', (typed, value) => expect(parseWhole(typed, 30, 604_800)).toBe(value));
