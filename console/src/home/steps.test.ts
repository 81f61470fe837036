import { expect, test } from '@jest/globals';
import { nextOf, type Progress, type StepId, stepsOf } from './steps.ts';

const NEW: Progress = { wallets: [], services: 0, payments: 0, endpoints: 0 };
const wallet = (balance: string, allowance: string, status = 'active') => ({
  balance,
  delegation: { allowance, status },
});

const cases: [name: string, progress: Progress, done: StepId[], open: StepId[], next: StepId | undefined][] =
  [
    ['a new account', NEW, [], ['wallet', 'service', 'webhook'], 'wallet'],
    [
      'an empty wallet',
      { ...NEW, wallets: [wallet('0', '0', 'none')] },
      ['wallet'],
      ['wallet', 'money', 'allowance', 'service', 'webhook'],
      'money',
    ],
    [
      'a wallet with money',
      { ...NEW, wallets: [wallet('1', '0', 'none')] },
      ['wallet', 'money'],
      ['wallet', 'money', 'allowance', 'service', 'webhook'],
      'allowance',
    ],
    [
      'an allowance that another app replaced',
      { ...NEW, wallets: [wallet('1', '5', 'overwritten')] },
      ['wallet', 'money'],
      ['wallet', 'money', 'allowance', 'service', 'webhook'],
      'allowance',
    ],
    [
      'a payer without a service',
      { ...NEW, wallets: [wallet('1', '5')] },
      ['wallet', 'money', 'allowance'],
      ['wallet', 'money', 'allowance', 'service', 'webhook'],
      'service',
    ],
    [
      'a vendor without a wallet',
      { ...NEW, services: 2 },
      ['service'],
      ['wallet', 'service', 'webhook'],
      'wallet',
    ],
    [
      'a payer who spent everything',
      { ...NEW, wallets: [wallet('0', '0', 'exhausted')], services: 1, payments: 3 },
      ['wallet', 'money', 'allowance', 'service', 'payment'],
      ['wallet', 'money', 'allowance', 'service', 'payment', 'webhook'],
      'webhook',
    ],
    [
      'everything',
      { wallets: [wallet('1', '1')], services: 1, payments: 1, endpoints: 1 },
      ['wallet', 'money', 'allowance', 'service', 'payment', 'webhook'],
      ['wallet', 'money', 'allowance', 'service', 'payment', 'webhook'],
      undefined,
    ],
  ];

test.each(cases)('%s', (_name, progress, done, open, next) => {
  const steps = stepsOf(progress);
  expect(steps.filter(({ isDone }) => isDone).map(({ id }) => id)).toEqual(done);
  expect(steps.filter(({ isOpen }) => isOpen).map(({ id }) => id)).toEqual(open);
  expect(nextOf(steps)).toBe(next);
});
