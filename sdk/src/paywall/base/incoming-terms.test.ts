import { afterEach, expect, jest, test } from '@jest/globals';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import { TERMS } from '../../../../test/support/stand-ins/vendor-api.ts';
import { createTerms, type IncomingTerms } from './incoming-terms.ts';

afterEach(() => {
  jest.restoreAllMocks();
});
const passTime = (ms: number) => {
  const now = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => now + ms);
};
/** A source of terms, each read with another fee payer. */
const reading = () => {
  const state = { reads: 0, fails: false, errors: [] as unknown[] };
  const find = createTerms(
    async () => {
      state.reads += 1;
      if (state.fails) throw new Error('no answer');
      return { ...TERMS, fee_payer: String(state.reads) } as IncomingTerms;
    },
    (error) => state.errors.push(error),
  );
  return { state, find, feePayer: async () => (await find())?.fee_payer ?? null };
};

test('concurrent first reads are one, and the terms are used for five minutes', async () => {
  const { state, feePayer } = reading();
  expect(await Promise.all([feePayer(), feePayer()])).toEqual(['1', '1']);
  passTime(299_000);
  expect(await feePayer()).toBe('1');
  expect(state.reads).toBe(1);
});

test('older terms are used while the next read runs in the background', async () => {
  const { state, feePayer } = reading();
  await feePayer();
  passTime(301_000);
  expect(await feePayer()).toBe('1');
  await waitUntil(async () => (await feePayer()) === '2');
  expect(state.reads).toBe(2);
});

test('older terms remain when the next read fails, and the failure is reported', async () => {
  const { state, feePayer } = reading();
  await feePayer();
  state.fails = true;
  passTime(301_000);
  expect(await feePayer()).toBe('1');
  await waitUntil(() => state.errors.length === 1);
  expect(await feePayer()).toBe('1');
  expect(state.reads).toBe(2);
});

test('after a failed first read there are none for ten seconds, without a further call', async () => {
  const { state, feePayer } = reading();
  state.fails = true;
  expect([await feePayer(), await feePayer()]).toEqual([null, null]);
  expect([state.reads, state.errors.length]).toEqual([1, 1]);
  state.fails = false;
  passTime(10_001);
  expect(await feePayer()).toBe('2');
});
