import { expect, test } from '@jest/globals';
import { guessRole, nextOf, type Progress, type Role, stepsOf } from './steps.ts';

const wallet = (balance: string, allowance: string, status = 'active') => ({
  balance,
  delegation: { allowance, status },
});
const nothing: Progress = { wallets: [], services: 0, payments: 0, agents: 0, isServed: false };
const ready = { ...nothing, wallets: [wallet('5', '5')] };

const cases: [
  name: string,
  role: Role,
  progress: Progress,
  done: string[],
  next: string | undefined,
  action: string,
][] = [
  ['a new vendor', 'sell', nothing, [], 'service', 'service'],
  ['a service, no buyer yet', 'sell', { ...nothing, services: 1 }, ['service'], 'sale', 'wallet'],
  [
    'a buyer without money',
    'sell',
    { ...nothing, services: 1, wallets: [wallet('0', '0', 'none')] },
    ['service'],
    'sale',
    'money',
  ],
  [
    'a buyer who may not pay',
    'sell',
    { ...nothing, services: 1, wallets: [wallet('5', '0', 'none')] },
    ['service'],
    'sale',
    'allowance',
  ],
  ['a buyer who may pay', 'sell', { ...ready, services: 1 }, ['service'], 'sale', 'pay'],
  [
    'sold in the page',
    'sell',
    { ...ready, services: 1, payments: 1 },
    ['service', 'sale'],
    'server',
    'server',
  ],
  [
    'the server before a sale',
    'sell',
    { ...nothing, services: 1, isServed: true },
    ['service', 'server'],
    'sale',
    'wallet',
  ],
  [
    'a vendor with all',
    'sell',
    { ...ready, services: 1, payments: 1, isServed: true },
    ['service', 'sale', 'server'],
    undefined,
    '',
  ],
  ['a new buyer', 'pay', nothing, [], 'wallet', 'wallet'],
  [
    'a wallet without money',
    'pay',
    { ...nothing, wallets: [wallet('0', '0', 'none')] },
    [],
    'wallet',
    'money',
  ],
  [
    'a revoked allowance',
    'pay',
    { ...nothing, wallets: [wallet('5', '5', 'revoked')] },
    ['wallet'],
    'allowance',
    'allowance',
  ],
  ['ready to pay', 'pay', ready, ['wallet', 'allowance'], 'payment', 'pay'],
  [
    'paid, and empty now',
    'pay',
    { ...nothing, wallets: [wallet('0', '0')], payments: 1 },
    ['wallet', 'allowance', 'payment'],
    undefined,
    '',
  ],
  ['a buyer who wants an agent', 'agent', ready, ['wallet', 'allowance'], 'agent', 'agent'],
  ['an agent', 'agent', { ...ready, agents: 1 }, ['wallet', 'allowance', 'agent'], undefined, ''],
];

test.each(cases)('%s', (_name, role, progress, done, next, action) => {
  const steps = stepsOf(role, progress);
  expect(steps).toHaveLength(3);
  expect(steps.filter(({ isDone }) => isDone).map(({ id }) => id)).toEqual(done);
  expect(nextOf(steps)).toBe(next);
  expect(steps.find(({ id }) => id === next)?.action ?? '').toBe(action);
});

test('an account that has begun is not asked', () => {
  expect(guessRole(nothing)).toBeNull();
  expect(guessRole(ready)).toBe('pay');
  expect(guessRole({ ...ready, agents: 1 })).toBe('agent');
  expect(guessRole({ ...ready, agents: 1, services: 1 })).toBe('sell');
});
