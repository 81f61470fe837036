import { expect, test } from '@jest/globals';
import { addressGroup } from './address.ts';

test.each([
  ['IPv4', '203.0.113.7', '203.0.113.7'],
  ['IPv4 mapped into IPv6', '::ffff:203.0.113.7', '203.0.113.7'],
  ['full IPv6', '2001:0db8:0001:0002:0003:0004:0005:0006', '2001:db8:1:2::/64'],
  ['short IPv6', '2001:db8:1:2::9', '2001:db8:1:2::/64'],
  ['gap inside the prefix', '2001:db8::7:8:9:a:b', '2001:db8:0:7::/64'],
  ['loopback', '::1', '0:0:0:0::/64'],
  ['link-local with zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
])('%s', (_name, address, expected) => {
  expect(addressGroup(address)).toBe(expected);
});
