import { expect, test } from '@jest/globals';
import { refreshOutcome } from './session.ts';

const session = {
  generation: 5,
  rotated_at: 1000,
  idle_expires_at: 50_000,
  expires_at: 90_000,
  revoked_at: null,
};
const idle = { ...session, idle_expires_at: 90_000, expires_at: 50_000 };

test.each([
  ['the current one', session, 5, 2000, 'rotate'],
  ['the current one, long after', session, 5, 49_999, 'rotate'],
  ['the predecessor at once', session, 4, 1000, 'repeat'],
  ['the predecessor, read by a transaction that began earlier', session, 4, 990, 'repeat'],
  ['the predecessor after 10 s', session, 4, 11_000, 'repeat'],
  ['the predecessor after more than 10 s', session, 4, 11_001, 'reuse'],
  ['the one before the predecessor', session, 3, 1000, 'reuse'],
  ['the first', session, 1, 1000, 'reuse'],
  ['one that was not issued yet', session, 6, 1000, 'ended'],
  ['one after the idle time', session, 5, 50_000, 'ended'],
  ['one after the absolute expiry', idle, 5, 50_000, 'ended'],
  ['an old one after the expiry', session, 1, 50_000, 'ended'],
  ['one of a revoked session', { ...session, revoked_at: 1500 }, 5, 2000, 'ended'],
  ['the predecessor in a revoked session', { ...session, revoked_at: 1500 }, 4, 2000, 'ended'],
] as const)('a refresh with %s', (_name, state, generation, now, expected) => {
  expect(refreshOutcome(state, generation, now)).toBe(expected);
});
