import { expect, test } from '@jest/globals';
import { isPublicAddress, refusalOf } from './target.ts';

test.each([
  ['1.1.1.1', true],
  ['93.184.216.34', true],
  ['2606:4700:4700::1111', true],
  // Loopback, unspecified, private, link-local with the clouds' metadata, CGNAT.
  ['127.0.0.1', false],
  ['127.255.255.254', false],
  ['0.0.0.0', false],
  ['10.0.0.1', false],
  ['172.16.0.1', false],
  ['172.31.255.255', false],
  ['192.168.1.1', false],
  ['169.254.169.254', false],
  ['168.63.129.16', false],
  ['168.63.129.17', true],
  ['100.64.0.1', false],
  ['100.100.100.200', false],
  // Protocol assignments, documentation, benchmarking, multicast, reserved, broadcast.
  ['192.0.0.170', false],
  ['192.0.2.1', false],
  ['198.18.0.1', false],
  ['198.51.100.1', false],
  ['203.0.113.1', false],
  ['224.0.0.1', false],
  ['240.0.0.1', false],
  ['255.255.255.255', false],
  ['::', false],
  ['::1', false],
  ['fe80::1', false],
  ['fe80::1%eth0', false],
  ['fec0::1', false],
  ['fc00::1', false],
  ['fd00:ec2::254', false],
  ['ff02::1', false],
  ['2001:db8::1', false],
  // An IPv4 address inside: mapped, compatible, NAT64 (well-known and local), 6to4, Teredo.
  ['::ffff:127.0.0.1', false],
  ['::ffff:7f00:1', false],
  ['::ffff:1.1.1.1', false],
  ['::127.0.0.1', false],
  ['64:ff9b::7f00:1', false],
  ['64:ff9b:1::a00:1', false],
  ['2002:7f00:1::', false],
  ['2001:0:7f00:1::', false],
  ['100::1', false],
  ['not an address', false],
])('%s is public: %s', (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});

const PUBLIC = 'must lead to a public address';
const NAME = 'must be a name of the public internet';
test.each([
  ['https://api.example.com/hook?tenant=1', null],
  ['https://api.example.com:8443/hook', null],
  ['https://1.1.1.1/hook', null],
  ['https://[2606:4700:4700::1111]/hook', null],
  ['http://api.example.com/hook', 'must be https'],
  ['ftp://api.example.com/hook', 'must be https'],
  ['https://user:pass@api.example.com/', 'must not contain credentials'],
  ['https://user@api.example.com/', 'must not contain credentials'],
  ['https://api.example.com/#x', 'must not have a fragment'],
  ['https://api.example.com:22/', 'must be on port 443, or 1024 and up'],
  ['https://api.example.com:25/', 'must be on port 443, or 1024 and up'],
  ['https://127.0.0.1/', PUBLIC],
  ['https://2130706433/', PUBLIC],
  ['https://0x7f.1/', PUBLIC],
  ['https://0177.0.0.1/', PUBLIC],
  ['https://１２７.０.０.１/', PUBLIC],
  ['https://127.0.0.1./', PUBLIC],
  ['https://169.254.169.254/latest/meta-data', PUBLIC],
  ['https://[::1]/', PUBLIC],
  ['https://[::ffff:10.0.0.1]/', PUBLIC],
  ['https://localhost/', NAME],
  ['https://LOCALHOST:8443/', NAME],
  ['https://a.localhost/', NAME],
  ['https://metadata.google.internal/', NAME],
  ['https://printer.local./', NAME],
  ['https://postgres/', NAME],
])('%s: %s', (url, expected) => {
  expect(refusalOf(new URL(url))).toBe(expected);
});
