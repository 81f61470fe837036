import { expect, test } from '@jest/globals';
import { commitWithin } from './commit-within.ts';

class Refused extends Error {}

/** Commits bytes within a reservation. */
const committed = async (parts: { sign?: Error; commit: boolean | Error }) => {
  let released = 0;
  const result = await commitWithin(
    {
      release: () => {
        released += 1;
      },
    },
    {
      sign: async () => {
        if (parts.sign !== undefined) throw parts.sign;
        return 'bytes';
      },
      commit: async () => {
        if (parts.commit instanceof Error) throw parts.commit;
        return parts.commit;
      },
      isRefused: (error) => error instanceof Refused,
    },
  ).catch((error: Error) => error.message);
  return { result, released };
};

test.each([
  ['committed: it counts', { commit: true }, { result: 'bytes', released: 0 }],
  ['an intent exists: it is released', { commit: false }, { result: null, released: 1 }],
  ['refused: it is released', { commit: new Refused('too many') }, { result: 'too many', released: 1 }],
  ['the answer is lost: it counts', { commit: new Error('lost') }, { result: 'lost', released: 0 }],
  [
    'not signed: it is released',
    { sign: new Error('no key'), commit: true },
    { result: 'no key', released: 1 },
  ],
])('what is reserved for a payment that is %s', async (_name, parts, expected) => {
  expect(await committed(parts)).toEqual(expected);
});
