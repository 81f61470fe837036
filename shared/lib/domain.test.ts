import { expect, test } from '@jest/globals';
import { displayDomain, normaliseDomain } from './domain.ts';

test.each([
  ['Shop.Example.com', 'shop.example.com'],
  [' example.com. ', 'example.com'],
  ['münchen.de', 'xn--mnchen-3ya.de'],
  ['ｅｘａｍｐｌｅ．com', 'example.com'],
  ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
])('%s is the domain %s', (text, name) => {
  expect(normaliseDomain(text)).toBe(name);
});

test.each([
  ...['', '.', 'com', 'localhost', 'shop.local', 'api.internal', 'a.home.arpa', '127.0.0.1', '0x7f.1'],
  ...['[::1]', '2130706433', 'https://example.com', 'example.com/path', 'example.com:443', 'a@example.com'],
  ...['_quittance.example.com', '-a.example.com', 'a..example.com', 'a b.com', `${'a'.repeat(64)}.com`],
  ...['example.1', `${'abcdefgh.'.repeat(30)}com`, 'exam\u0000ple.com', '*.example.com'],
])('%j is no domain', (text) => {
  expect(normaliseDomain(text)).toBeNull();
});

test.each([
  ['example.com', 'example.com'],
  ['münchen.de', 'münchen.de'],
  ['straße.de', 'straße.de'],
  ['яндекс.рф', 'яндекс.рф'],
  ['例え.みんな', '例え.みんな'],
])('%s is shown as %s', (text, shown) => {
  expect(displayDomain(normaliseDomain(text)!)).toBe(shown);
});

test.each([
  // Cyrillic that looks like Latin, before a Latin and before a Cyrillic last label.
  ...['аррӏе.com', 'раураӏ.com', 'ехаmple.com', 'соса.сом'],
  // Greek, Latin beyond Europe's, the letters that look like plain ones, and marks.
  ...['gοοgle.com', 'ɡoogle.com', 'lıve.com', 'paypaĸ.com', 'exam\u0325ple.com'],
  // Two scripts of which none is wrong.
  ...['例え.com', 'яндекс.com'],
])('%s is shown as xn--', (text) => {
  const name = normaliseDomain(text)!;
  expect(name).toMatch(/(^|\.)xn--/);
  expect(displayDomain(name)).toBe(name);
});
