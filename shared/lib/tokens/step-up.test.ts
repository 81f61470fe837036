import { expect, test } from '@jest/globals';
import { isFresh, requireFresh } from './step-up.ts';

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

test('the sign-in of a device is never fresh, and is told that a person has to do it', () => {
  const device = { auth_time: SIGN_IN, device: true } as const;
  expect(isFresh(device, SIGN_IN * 1000)).toBe(false);
  expect(() => requireFresh(device, SIGN_IN * 1000)).toThrow(
    expect.objectContaining({ code: 'forbidden', message: expect.stringContaining('in the console') }),
  );
});
