import { expect, test } from '@jest/globals';
import { ProxyList } from './proxies.ts';

test.each(['', ' ', '127.0.0.1', '10.0.0.0/8, 2001:db8::/48 ,::1', '0.0.0.0/0'])(
  'the setting "%s" is valid',
  (text) => {
    expect(ProxyList.safeParse(text).success).toBe(true);
  },
);

test.each([
  'proxy',
  '10.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/8/8',
  '10.0.0.0/+8',
  '::1/129',
  '*',
  '::1;::2',
])('the setting "%s" is refused at the start', (text) => {
  expect(ProxyList.safeParse(text).success).toBe(false);
});
