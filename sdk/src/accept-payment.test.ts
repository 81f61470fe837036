import { expect, test } from '@jest/globals';
import { acceptedOf, acceptsPayment } from './accept-payment.ts';

const OFFERED = ['tempo/session', 'tempo/charge', 'solana/charge', 'stripe/charge'].map((name) => {
  const [method, intent] = name.split('/') as [string, string];
  return { method, intent };
});
const order = (header: string | null) =>
  acceptedOf(header, OFFERED).map(({ method, intent }) => `${method}/${intent}`);
const ALL = order(null);

test.each<[string, string[]]>([
  ['solana/charge', ['solana/charge']],
  ['tempo/*, solana/*;q=0.6, stripe/charge;q=0.2', ALL],
  ['stripe/charge, solana/charge;q=0.5', ['stripe/charge', 'solana/charge']],
  ['tempo/charge, tempo/session;q=0, solana/charge;q=0.8', ['tempo/charge', 'solana/charge']],
  ['*/*, tempo/session;q=0', ['tempo/charge', 'solana/charge', 'stripe/charge']],
  ['tempo/*;q=0, */*;q=0.1', ['solana/charge', 'stripe/charge']],
  ['*/charge;q=0.2, solana/* ; q=0.9', ['solana/charge', 'tempo/charge', 'stripe/charge']],
  ['solana/charge,,', ['solana/charge']],
])('Accept-Payment: %s', (header, expected) => {
  expect(order(header)).toEqual(expected);
});

test.each([
  '',
  ',',
  'solana',
  'solana/charge;q=2',
  'solana/charge;q=0.1234',
  'solana/charge;v=1',
  'Solana/charge',
  'solana/charge tempo/charge',
])('a header that cannot be read is no preference: %j', (header) => {
  expect(order(header)).toEqual(ALL);
  expect(acceptsPayment(header, { method: 'solana', intent: 'charge' })).toBe(true);
});

test('a client that accepts nothing of what is offered gets all of it', () => {
  expect(order('lightning/charge')).toEqual(ALL);
  expect(order('*/*;q=0')).toEqual(ALL);
});

test('a buyer reads its own header strictly', () => {
  const kind = { method: 'solana', intent: 'charge' };
  expect(acceptsPayment('solana/charge', kind)).toBe(true);
  expect(acceptsPayment('tempo/charge', kind)).toBe(false);
  expect(acceptsPayment('*/*, solana/charge;q=0', kind)).toBe(false);
});

test('a long header is read in no time', () => {
  for (const part of ['solana/charge,', '*/*;q=0.5 ,', ' ', '/', ';q='])
    expect(order(part.repeat(16_000 / part.length)).length).toBeGreaterThan(0);
});
