import { expect, test } from '@jest/globals';
import { itemOf } from './payment.ts';

test.each<[string, Parameters<typeof itemOf>[0], string | null]>([
  [
    'of a payment link has its title',
    { scope: { resource: 'https://pay', payment_link: { title: 'Harbour tour' } } },
    'Harbour tour',
  ],
  ['of a paywall has its address', { scope: { resource: 'https://shop/report' } }, 'https://shop/report'],
  ['of another protocol has what the client said', { scope: null, resource: '/weather' }, '/weather'],
  ['of another scope has no name', { scope: { resource: 7, payment_link: null } }, null],
])('a payment %s', (_name, sold, item) => expect(itemOf(sold)).toBe(item));
