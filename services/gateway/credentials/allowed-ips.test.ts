import { expect, test } from '@jest/globals';
import { isAllowedFrom } from './allowed-ips.ts';

const BLOCKS = ['203.0.113.7', '198.51.100.0/24', '2001:db8:1::/48', '2001:db8:9::9'];

test.each([
  ['203.0.113.7', true],
  ['203.0.113.8', false],
  ['198.51.100.255', true],
  ['198.51.101.0', false],
  ['2001:db8:1:2::3', true],
  ['2001:db8:2::1', false],
  ['2001:db8:9::9', true],
  ['unknown', false],
  ['', false],
])('from %s: %s', (address, expected) => {
  expect(isAllowedFrom(BLOCKS, address)).toBe(expected);
});

test('a block with bits of hosts is the block, and one of a family has no address of the other', () => {
  expect(isAllowedFrom(['198.51.100.77/24'], '198.51.100.1')).toBe(true);
  expect(isAllowedFrom(['0.0.0.0/0'], '203.0.113.7')).toBe(true);
  expect(isAllowedFrom(['0.0.0.0/0'], '2001:db8::1')).toBe(false);
  expect(isAllowedFrom(['::/0'], '2001:db8::1')).toBe(true);
});

test('without a list every caller is allowed', () => {
  expect(isAllowedFrom(undefined, '203.0.113.7')).toBe(true);
  expect(isAllowedFrom(undefined, 'unknown')).toBe(true);
});
