import { expect, test } from '@jest/globals';
import { agentOf, networkOf } from './client.ts';

test.each([
  ['203.0.113.77', '203.0.113.0/24'],
  ['::ffff:203.0.113.77', '203.0.113.0/24'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
  ['2001:db8::1', '2001:db8:0::/48'],
  ['unknown', 'unknown'],
])('the network of %s is %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test.each([
  [undefined, 'unknown'],
  ['', 'unknown'],
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
    'Chrome',
  ],
  ['Mozilla/5.0 (Macintosh) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15', 'Safari'],
  ['Mozilla/5.0 (X11; rv:143.0) Gecko/20100101 Firefox/143.0', 'Firefox'],
  ['Mozilla/5.0 AppleWebKit/537.36 Chrome/141.0.0.0 Safari/537.36 Edg/141.0', 'Edge'],
  ['curl/8.5.0', 'curl'],
  ['node', 'Node'],
])('the family of %s is %s', (userAgent, family) => {
  expect(agentOf(userAgent)).toBe(family);
});
