import { expect, test } from '@jest/globals';
import { payeesOf, restOf } from './payees.ts';

test('a payment without splits pays its recipient', () => {
  expect(payeesOf({ pay_to: 'A', amount: '100' })).toEqual([{ address: 'A', amount: '100' }]);
});

test('the recipient gets what the splits leave', () => {
  const splits = [
    { pay_to: 'B', amount: '98' },
    { pay_to: 'C', amount: '1' },
  ];
  expect(payeesOf({ pay_to: 'A', amount: '100', splits })).toEqual([
    { address: 'A', amount: '1' },
    { address: 'B', amount: '98' },
    { address: 'C', amount: '1' },
  ]);
});

test('an address that is named twice is one payee with the sum', () => {
  const splits = [
    { pay_to: 'B', amount: '10' },
    { pay_to: 'A', amount: '20' },
    { pay_to: 'B', amount: '30' },
  ];
  expect(payeesOf({ pay_to: 'A', amount: '100', splits })).toEqual([
    { address: 'A', amount: '60' },
    { address: 'B', amount: '40' },
  ]);
});

test('amounts beyond the exact numbers of JavaScript stay exact', () => {
  const amount = '9223372036854775807';
  expect(restOf({ amount, splits: [{ pay_to: 'B', amount: '1' }] })).toBe(9_223_372_036_854_775_806n);
});
