import { expect, test } from '@jest/globals';
import type { Client } from '../../client.ts';
import { ApiError, NoAnswerError } from '../../errors.ts';
import { RateLimitedError } from '../../generated/errors.ts';
import { createAcceptIncoming } from './incoming-payments.ts';

const PAYMENT = { rail: 'x402', quote_amount: '1', memo: 'm', transaction: 'AQ==', redeem_id: 'r' } as const;
const PENDING = { status: 'pending', settlement_id: 's', tx_hash: null };
const CONFIRMED = { status: 'confirmed', settlement_id: 's', replayed: false, redeem_id: 'r' };
const INFO = { status: 503, requestId: null, retryAfterMs: 0 };
const STATUS: Record<string, number> = { validation_error: 400, payment_failed: 402, conflict: 409 };
const refusal = (code: string, retryAfterMs = 0, money_moved?: 'unknown' | 'no' | 'yes') =>
  new (code === 'rate_limited' ? RateLimitedError : ApiError)(
    { code, message: '', ...(money_moved === undefined ? {} : { money_moved }) },
    { ...INFO, status: STATUS[code] ?? 503, retryAfterMs },
  );

/** Accepts by a script: each step is an answer or an error, the last one for all further calls. */
const accepting = (...steps: (object | 'silence')[]) => {
  let calls = 0;
  const acceptForeign = async (_: object, { signal }: { signal: AbortSignal }) => {
    const step = steps[Math.min(calls, steps.length - 1)];
    calls += 1;
    if (step === 'silence')
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    if (step instanceof Error) throw step;
    return step;
  };
  const client = { settlement: { acceptForeign } } as unknown as Client;
  const accept = createAcceptIncoming(client, 1);
  return { accept: (waitMs: number) => accept(PAYMENT, waitMs), calls: () => calls };
};
const unavailable = (reason: string) => expect.objectContaining({ status: 503, reason });

test('a pending payment is asked for again until it is confirmed', async () => {
  const { accept, calls } = accepting(PENDING, PENDING, CONFIRMED);
  expect(await accept(60_000)).toEqual(CONFIRMED);
  expect(calls()).toBe(3);
});

test('a payment that stays pending ends in 503 when the wait is over', async () => {
  const { accept, calls } = accepting(PENDING);
  expect(await accept(100)).toEqual(unavailable('being_confirmed'));
  expect(calls()).toBeGreaterThan(1);
});

test('a call without an answer ends with the wait, and is no failure', async () => {
  const { accept, calls } = accepting('silence');
  expect(await accept(50)).toEqual(unavailable('being_confirmed'));
  expect(calls()).toBe(1);
});

test('a redeem by another delivery is spent, and a repeat of the own one is not', async () => {
  const replayed = { ...CONFIRMED, replayed: true };
  expect(await accepting({ ...replayed, redeem_id: 'other' }).accept(1000)).toBe('spent');
  expect(await accepting(replayed).accept(1000)).toEqual(replayed);
});

test('a limit that outlasts the wait is reported as such only if no call can have been executed', async () => {
  const limited = refusal('rate_limited', 60_000);
  expect(await accepting(limited).accept(1000)).toEqual(unavailable('rate_limited'));
  expect(await accepting(PENDING, limited).accept(1000)).toEqual(unavailable('being_confirmed'));
  const lost = new NoAnswerError('', { retryAfterMs: 0 });
  expect(await accepting(lost, limited).accept(1000)).toEqual(unavailable('being_confirmed'));
});

test('while the API asks to wait, no further payment is sent', async () => {
  const { accept, calls } = accepting(refusal('rate_limited', 60_000));
  await accept(1000);
  expect(await accept(1000)).toEqual(unavailable('rate_limited'));
  expect(calls()).toBe(1);
});

test('a refusal is final only if the outcome is known', async () => {
  expect(await accepting(refusal('conflict', 0, 'no')).accept(1000)).toMatchObject({ status: 402 });
  const open = accepting(refusal('conflict', 0, 'unknown'), CONFIRMED);
  expect(await open.accept(60_000)).toEqual(CONFIRMED);
});

test.each(['conflict', 'validation_error', 'payment_failed'])(
  'a refusal by %s after money moved asks for no second payment',
  async (code) => {
    const { accept, calls } = accepting(refusal(code, 0, 'yes'));
    expect(await accept(60_000)).toMatchObject({ status: 503, reason: code, retryAfterSeconds: 60 });
    expect(calls()).toBe(1);
  },
);

test('an error of the program is thrown', async () => {
  await expect(accepting(new TypeError('a mistake')).accept(1000)).rejects.toThrow('a mistake');
});
