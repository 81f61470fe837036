import { expect, test } from '@jest/globals';
import { createReach, isReachable, UnreachableError } from './reach.ts';

test.each([
  ['8.8.8.8', true],
  ['2606:4700::1111', true],
  ['127.0.0.1', false],
  ['0.0.0.0', false],
  ['10.1.2.3', false],
  ['172.16.0.1', false],
  ['192.168.1.1', false],
  ['169.254.169.254', false],
  ['168.63.129.16', false],
  ['::ffff:168.63.129.16', false],
  ['168.63.129.17', true],
  ['100.64.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::1', false],
  ['::', false],
  ['fe80::1', false],
  ['fd00::1', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:8.8.8.8', true],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:db8::1', false],
  ['no address', false],
])('%s is public: %s', (address, expected) => {
  expect(isReachable(address, 'public')).toBe(expected);
});

test('loopback allows this machine and no private network, and private allows both', () => {
  for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
    expect(isReachable(address, 'loopback')).toBe(true);
  for (const address of ['10.0.0.1', '169.254.169.254', 'fd00::1']) {
    expect(isReachable(address, 'loopback')).toBe(false);
    expect(isReachable(address, 'private')).toBe(true);
  }
});

test.each([
  'http://127.0.0.1:8999',
  'http://2130706433:8999',
  'http://0x7f.1:8999',
  'http://[::1]:8999',
  'http://localhost:8999',
])('%s is refused before a connection', async (url) => {
  const { fetch, close } = createReach({ baseUrl: 'https://api.example.com', reach: 'public' });
  await expect(fetch(url, {})).rejects.toBeInstanceOf(UnreachableError);
  await close();
});
