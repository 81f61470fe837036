import { expect, test } from '@jest/globals';
import { requireFresh } from './step-up.ts';

const SIGN_IN = 1_800_000_000;

test.each([
  ['at once', 0, 'fresh'],
  ['at the limit', 300_000, 'fresh'],
  ['a millisecond later', 300_001, 'reauthentication_required'],
  ['the day after', 86_400_000, 'reauthentication_required'],
])('the age of a sign-in is checked: %s', (_name, ageMs, expected) => {
  let outcome = 'fresh';
  try {
    requireFresh({ auth_time: SIGN_IN }, SIGN_IN * 1000 + ageMs);
  } catch (error) {
    outcome = (error as { code: string }).code;
  }
  expect(outcome).toBe(expected);
});
