import { expect, test } from '@jest/globals';
import { addressGroup, parseAddress } from './address.ts';

test.each([
  ['IPv4', '203.0.113.7', '203.0.113.7'],
  ['IPv4 with a port', '203.0.113.7:4711', '203.0.113.7'],
  ['IPv4 mapped into IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
  ['the same in hexadecimal', '::FFFF:cb00:7107', '203.0.113.7'],
  ['the same at full length', '0:0:0:0:0:ffff:203.0.113.7', '203.0.113.7'],
  ['full IPv6', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['short IPv6', '2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['IPv6 with a port', '[2001:db8:1:2::9]:4711', '2001:db8:1:2::/64'],
  ['IPv6 in brackets', '[2001:db8:1:2::9]', '2001:db8:1:2::/64'],
  ['gap inside the prefix', '2001:db8::7:8:9:a:b', '2001:db8:0:7::/64'],
  ['an IPv4 tail that is not mapped', '64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['loopback', '::1', '0:0:0:0::/64'],
  ['link-local with zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['no address', 'unknown', 'unknown'],
])('%s', (_name, address, expected) => {
  expect(addressGroup(address)).toBe(expected);
});

test.each([
  '',
  'unknown',
  'localhost',
  '203.0.113',
  '203.0.113.07',
  '203.0.113.7:',
  '1.2.3.4:5:6',
  '[',
  '[]',
  '[1.2',
  'a'.repeat(9000),
])('no address: %.20s', (text) => {
  expect(parseAddress(text)).toBeNull();
});
