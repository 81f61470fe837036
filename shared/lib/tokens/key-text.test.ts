import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { createKeyText, keyHash, parseKeyText } from './key-text.ts';

// A fixed key, because the format of existing keys must not change.
const KEY = 'vendor_test_00000000000000000000000000000000000000000011AWNjk';
const valid = createKeyText('vendor_live_');

test.each([
  ['vendor_test_', { kind: 'service_key', environment: 'test' }],
  ['vendor_live_', { kind: 'service_key', environment: 'live' }],
  ['dk_test_', { kind: 'delegate_key', environment: 'test' }],
  ['dk_live_', { kind: 'delegate_key', environment: 'live' }],
] as const)('a new key with the prefix %s has its kind and environment', (prefix, expected) => {
  const text = createKeyText(prefix);
  expect(text).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
  expect(parseKeyText(text)).toEqual({ ...expected, hash: keyHash(text) });
});

test('the expression of the guide for secret scanners finds keys in a text, and no token', () => {
  const guide = readFileSync(new URL('../../../docs/guides/authentication.md', import.meta.url), 'utf8');
  const [, expression] = /^```text\n(\\b\(vendor.*)\n```$/m.exec(guide)!;
  const found = (text: string) => text.match(new RegExp(expression!, 'g'));
  const keys = [valid, createKeyText('vendor_test_'), createKeyText('dk_test_'), createKeyText('dk_live_')];
  expect(found(keys.map((key) => `KEY="${key}";`).join('\n'))).toEqual(keys);
  const others = [valid.slice(0, -1), `${valid}0`, `x${valid}`, `rt_test_${'A'.repeat(49)}`, 'vendor_test_…'];
  expect(found(others.join(' '))).toBeNull();
});

test('the hash is 32 bytes of base64url and differs per key', () => {
  const hashes = Array.from({ length: 50 }, () => parseKeyText(createKeyText('dk_test_'))!.hash);
  expect(new Set(hashes).size).toBe(50);
  for (const hash of hashes) expect(hash).toMatch(/^[A-Za-z0-9_-]{43}$/);
});

test('a fixed key has its expected parts', () => {
  expect(parseKeyText(KEY)?.kind).toBe('service_key');
});

const swapAt = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1);

test.each([
  ['empty', ''],
  ['one character of the secret changed', swapAt(valid, 20)],
  ['one character of the checksum changed', swapAt(valid, valid.length - 1)],
  ['other environment, same rest', valid.replace('vendor_live_', 'vendor_test_')],
  ['other kind, same rest', valid.replace('vendor_live_', 'dk_live_')],
  ['unknown prefix', valid.replace('vendor_live_', 'vendor_prod_')],
  ['one character short', valid.slice(0, -1)],
  ['one character long', `${valid}0`],
  ['a trailing line break', `${valid}\n`],
  ['a leading space', ` ${valid}`],
  ['full-width digit', `${valid.slice(0, -1)}０`],
])('not a key: %s', (_name, text) => {
  expect(parseKeyText(text)).toBeNull();
});
