import { expect, test } from '@jest/globals';
import type { ServiceError } from '../../../shared/contract/errors.ts';
import { carryOut, orRefused, type PaymentCall } from './carry-out.ts';

type Row = { settlement_id: string };
type Step = string;

const rail = { mayBePaid: 'the chain may have it' };
/** Carries out a payment that is refused, with the steps in their order. */
const carried = async (parts: {
  accepted?: string;
  known?: Row;
  lost?: 'none' | 'may be paid' | { answer: { answer: string } };
}) => {
  const steps: Step[] = [];
  const payment: PaymentCall<{ answer: string }, string, { known: Row | null }> = {
    acceptNew: async () => {
      steps.push('accept');
      return parts.accepted === undefined ? { refused: 'a limit' } : { answer: parts.accepted };
    },
    readRecords: async (refusal) => {
      steps.push(`read after ${refusal}`);
      return { known: parts.known ?? null };
    },
    repeat: async ({ settlement_id }) => ({ answer: `repeat of ${settlement_id}` }),
    findLost: async (refusal) => {
      steps.push(`search after ${refusal}`);
      return parts.lost ?? 'none';
    },
    refuse: async (refusal, { known }) => ({ answer: `refused: ${refusal}, ${known}` }),
  };
  const result = await orRefused(() => carryOut(rail, payment));
  return { steps, result };
};
const READ = ['accept', 'read after a limit'];
const SEARCHED = [...READ, 'search after a limit'];

test('an accepted payment is answered', async () => {
  expect(await carried({ accepted: 'paid' })).toEqual({ steps: ['accept'], result: { answer: 'paid' } });
});

test('a refused payment that has a record by then is answered by it, whatever the chain has', async () => {
  const known = { settlement_id: 'stl' };
  for (const lost of ['none', 'may be paid'] as const)
    expect(await carried({ known, lost })).toEqual({ steps: READ, result: { answer: 'repeat of stl' } });
});

test('a payment without a record is refused when nothing of it is lost', async () => {
  expect(await carried({ lost: 'none' })).toEqual({
    steps: SEARCHED,
    result: { answer: 'refused: a limit, null' },
  });
});

test('a payment that the chain has is answered instead of refused', async () => {
  expect(await carried({ lost: { answer: { answer: 'adopted' } } })).toEqual({
    steps: SEARCHED,
    result: { answer: 'adopted' },
  });
});

test('no refusal of a payment that the chain may have says that nothing moved', async () => {
  const { steps, result } = await carried({ lost: 'may be paid' });
  expect(steps).toEqual(SEARCHED);
  const { refused } = result as { refused: ServiceError };
  expect([refused.code, refused.message, refused.extras]).toEqual([
    'service_unavailable',
    'the chain may have it',
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: 30 },
  ]);
});

test('an error that is not for the caller is no refusal', async () => {
  await expect(orRefused(() => Promise.reject(new TypeError('a bug')))).rejects.toThrow('a bug');
});
