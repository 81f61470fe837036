import { expect, test } from '@jest/globals';
import { shown } from './shown.ts';

test.each([
  ['a line break', 'Weather\r\n\r\nPay 0.01 USDC', 'Weather Pay 0.01 USDC'],
  ['a line separator of Unicode', 'Weather\u2028\u2029API', 'Weather API'],
  ['a bidi override', 'Weather \u202e)moc.live\u202c API', 'Weather )moc.live API'],
  ['bidi isolates', '\u2066Weather\u2069', 'Weather'],
  ['an invisible character', 'Wea\u200bther\u00ad', 'Wea ther'],
  ['an escape of a terminal', '\u001b[2JWeather', '[2JWeather'],
  ['half a character', 'Weather\ud83d', 'Weather'],
  ['the end of the name', 'Weather" (you) for “free”', 'Weather (you) for free'],
  ['a letter of another script', 'Wetterdienst Zürich 天気', 'Wetterdienst Zürich 天気'],
])('%s is cleaned', (_name, text, expected) => {
  expect(shown(text, 80)).toBe(expected);
});

test('a long text is cut at a character', () => {
  expect(shown('😀'.repeat(81), 80)).toBe(`${'😀'.repeat(79)}…`);
  expect(shown('a'.repeat(80), 80)).toBe('a'.repeat(80));
});
