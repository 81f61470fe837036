import { expect, test } from '@jest/globals';
import { exactUsdc, fieldUsdc, meaningsOfAmount, typedUsdc } from './money.ts';

test('the text on hover has the micro-units', () => {
  expect(exactUsdc(1_234_500_000n)).toBe('1,234.50 USDC · 1234500000 micro-units');
});

/** The text, the language, and what it means. */
test.each([
  ['25', 'en', ['25']],
  [' 12.5 ', 'en', ['12.5']],
  ['0.000001', 'de-DE', ['0.000001']],
  ['12.5 USDC', 'en', ['12.5']],
  ['$0.10', 'en', ['0.10']],
  ['$ 0,10', 'de-DE', ['0.10']],
  // A decimal keyboard that has only a comma.
  ['0,05', 'en', ['0.05']],
  ['0,05', 'de-DE', ['0.05']],
  ['1,5', 'fr-FR', ['1.5']],
  ['49,90', 'pl', ['49.90']],
  [',5', 'de-DE', ['0.5']],
  ['.5', 'en', ['0.5']],
  ['5,', 'de-DE', ['5']],
  // No group of three stands behind the comma, or nothing that can be grouped before it.
  ['0,500', 'de-DE', ['0.500']],
  ['1234,500', 'de-DE', ['1234.500']],
  ['1,5000', 'en', ['1.5000']],
  // Two meanings: the field asks.
  ['1,500', 'en', ['1500', '1.500']],
  ['1,500', 'de-DE', ['1500', '1.500']],
  ['12,345', 'en-IN', ['12345', '12.345']],
  ['1.500', 'de-DE', ['1500', '1.500']],
  ['1.500', 'es', ['1500', '1.500']],
  // The console itself writes 1.500 in English, which has one meaning there.
  ['1.500', 'en', ['1.500']],
  ['1.500', 'de-CH', ['1.500']],
  // Both signs, or one of them twice.
  ['1,234.50', 'en', ['1234.50']],
  ['1.234,50', 'de-DE', ['1234.50']],
  ['1.234,50', 'en', ['1234.50']],
  ['1,234,567', 'en', ['1234567']],
  ['1.234.567', 'de-DE', ['1234567']],
  ['1.234.567,891', 'de-DE', ['1234567.891']],
  ['12,34,567.5', 'en-IN', ['1234567.5']],
  // Spaces and apostrophes are groups only.
  ['1 500', 'fr-FR', ['1500']],
  ['1\u202f500,25', 'fr-FR', ['1500.25']],
  ['1 500,250', 'ru', ['1500.250']],
  ['1’234.50', 'de-CH', ['1234.50']],
  ["1'234", 'en', ['1234']],
  // Digits and signs of other scripts.
  ['١٫٥', 'ar-EG', ['1.5']],
  ['١٬٢٣٤٫٥', 'ar-EG', ['1234.5']],
  ['۰٫۰۵', 'fa-IR', ['0.05']],
  // No amounts.
  ['', 'en', []],
  [' ', 'en', []],
  ['.', 'en', []],
  [',', 'de-DE', []],
  ['abc', 'en', []],
  ['1e3', 'en', []],
  ['-5', 'en', []],
  ['1,2,3', 'en', []],
  ['1.2.3', 'en', []],
  ['1,23.4', 'en', []],
  ['1.234.5', 'de-DE', []],
  ['1,234.5.6', 'en', []],
  ['12 34', 'en', []],
  ['1 5', 'fr-FR', []],
  ['0.0000001', 'en', []],
  ['0,0000001', 'de-DE', []],
] as const)('%j typed in %s means %j', (typed, locale, meanings) => {
  expect(meaningsOfAmount(typed, { locale })).toEqual(meanings);
});

test.each([
  ['1,500', 'en', ['1500']],
  ['1.500', 'de-DE', ['1500']],
  ['49,90', 'de-DE', ['49.90']],
  ['49.905', 'en', []],
] as const)('%j in a currency with cents, typed in %s, means %j', (typed, locale, meanings) => {
  expect(meaningsOfAmount(typed, { locale, places: 2 })).toEqual(meanings);
});

test.each([
  ['0,05', 50_000n],
  ['1.234,50', 1_234_500_000n],
  ['\t0.000001\n', 1n],
  // The field asks first.
  ['1,500', null],
  ['0', null],
  ['0,00', null],
  ['1234567890123', null],
] as const)('%j in a field is %s micro-units', (typed, micro) => {
  expect(typedUsdc(typed, 'de-DE')).toBe(micro);
});

test.each(['de-DE', 'en', 'es', 'ar-EG'])('what a field begins with has one meaning in %s', (locale) => {
  for (const micro of [1n, 125_000n, 12_125_000n, 1_234_500_000n, 1_000_125_000n]) {
    expect(typedUsdc(fieldUsdc(micro, locale), locale)).toBe(micro);
  }
});
