import { expect, test } from '@jest/globals';
import { createInFlightTransactions, planPoll, toInFlight, writing } from './in-flight.ts';

const inFlight = (intentId = 'settle:acc_1:a') => {
  const intent = {
    ...{ intent_id: intentId, kind: 'settle' as const, object_id: 'stl_1', traceparent: null },
    ...{ status: 'signed' as const, slot: null },
  };
  const bytes = { signature: 's', wire: new Uint8Array([1]), lastValidBlockHeight: 100, generation: 1 };
  return toInFlight(intent, null, bytes);
};

const deferred = () => Promise.withResolvers<void>();

test('what is being written is not polled, and is due at the time that the write names', async () => {
  const transactions = createInFlightTransactions();
  const [transaction, other] = [inFlight(), inFlight('settle:acc_1:b')];
  transactions.add(transaction, 5);
  transactions.add(other, 6);
  const { promise, resolve } = deferred();
  const written = writing(
    [transaction],
    () => promise,
    () => 42,
  );
  expect(transactions.listPollable()).toEqual([other]);
  resolve();
  await written;
  expect(transaction.schedule).toEqual({ state: 'due', at: 42 });
});

test('nothing but its end makes a transaction due that is being written', async () => {
  const transactions = createInFlightTransactions();
  const transaction = inFlight();
  transactions.add(transaction, 5);
  const { promise, resolve } = deferred();
  const written = writing(
    [transaction],
    () => promise,
    () => 42,
  );
  planPoll(transaction, 0);
  transactions.pollNow(transaction.intent.intent_id);
  expect(transaction.schedule).toEqual({ state: 'writing' });
  resolve();
  await written;
});

test('a second write leaves out what is being written, and its end ends no other', async () => {
  const [transaction, other] = [inFlight(), inFlight('settle:acc_1:b')];
  const { promise, resolve } = deferred();
  const first = writing(
    [transaction],
    () => promise,
    () => 42,
  );
  const begun: unknown[] = [];
  const second = async (transactions: readonly unknown[]) => void begun.push(...transactions);
  await writing([transaction, other], second, () => 7);
  await writing([transaction], second, () => 7);
  expect(begun).toEqual([other]);
  expect([transaction.schedule.state, other.schedule]).toEqual(['writing', { state: 'due', at: 7 }]);
  resolve();
  await first;
  expect(transaction.schedule).toEqual({ state: 'due', at: 42 });
});

test('a write that fails leaves its transactions due', async () => {
  const transaction = inFlight();
  const failing = () => Promise.reject(new Error('the connection is closed'));
  await expect(writing([transaction], failing, () => 42)).rejects.toThrow('the connection is closed');
  expect(transaction.schedule).toEqual({ state: 'due', at: 42 });
});
