import { expect, test } from '@jest/globals';
import { DEMO_SHOP, isForBuyers, TRIAL_SHOP } from './own-quotes.ts';

test.each([
  ['of a program without a scope', null, true],
  ['with another scope', { report: 'today' }, true],
  ['of a paywall', { resource: 'https://shop.example.com/report' }, true],
  ['of a trial in the console', { resource: `${TRIAL_SHOP}/report` }, false],
  ['of a check', { resource: 'https://shop.example.com/report', trial: true }, false],
  ['of a vendor with another meaning of trial', { trial: 'of a month' }, true],
  ['of demo data', { resource: `${DEMO_SHOP}/data` }, false],
])('a quote %s', (_name, scope, isServed) => expect(isForBuyers({ scope })).toBe(isServed));
