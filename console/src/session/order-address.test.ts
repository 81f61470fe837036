import { expect, test } from '@jest/globals';
import { isOrder } from './order-address.ts';

const LINK = '/pay/test/pl_01kaj5w0c0e8h9x2m4n6p8q0rs';

test.each([LINK, LINK.replace('test', 'live'), '/pay#eyJxdW90ZSI6Ii1fIn0'])(
  '%s takes a payment',
  (address) => {
    expect(isOrder(address)).toBe(true);
  },
);

test.each([
  'https://evil.example/pay#eyJ9',
  '//evil.example/pay#eyJ9',
  '/\\evil.example',
  '/pay',
  '/pay#',
  '/pay#a/../b',
  '/pay?x#eyJ9',
  '/pay/../console/account#eyJ9',
  '/console/account',
  `${LINK}/x`,
  `${LINK}?next=https://evil.example`,
  `${LINK}#x`,
  ` ${LINK}`,
  `${LINK}\n`,
  'javascript:alert(1)',
  '',
  null,
  7,
])('a sign-in leads to no other address: %j', (address) => {
  expect(isOrder(address)).toBe(false);
});
