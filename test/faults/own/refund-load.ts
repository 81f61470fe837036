import { setTimeout as sleep } from 'node:timers/promises';
import type { Rng } from '../rng.ts';
import type { Client } from './client.ts';
import type { Attempt, Refund } from './client-log.ts';

const TRIES = 3;
const BESIDE_MS = [0, 400] as const;

/** What a vendor does about money that it gives back, each in turn. */
const WAYS = [
  'the whole, twice at once',
  'a part cancelled twice, then the rest',
  'more than half, twice at once',
  'one refund, sent twice at once',
  'cancelled beside the submission',
] as const;

/**
 * Refunds of payments by replicas of a vendor that do not know of one another.
 * @returns refunds one payment, each time in another way
 */
export const createRefunds = ({ client, isRunning }: { client: Client; isRunning: () => boolean }) => {
  let number = 0;

  /** Repeats a call without a final answer for a while. */
  const call = async (once: () => Promise<boolean>, own: Rng): Promise<void> => {
    for (let tries = 0; tries < TRIES && isRunning(); tries += 1) {
      if (await once()) return;
      await sleep(own.int(100, 500));
    }
  };
  const twice = (once: () => Promise<boolean>, own: Rng) =>
    Promise.all([call(once, own.fork(1)), call(once, own.fork(2))]);

  return async (attempt: Attempt, own: Rng): Promise<void> => {
    const way = WAYS[number++ % WAYS.length]!;
    const net = BigInt(attempt.quote.quote_amount) - BigInt(attempt.quote.fee_amount);
    const begin = (wanted: bigint | null) => client.beginRefund(attempt, wanted);
    const create = (refund: Refund) => call(() => client.createRefund(refund), own);
    const submit = (refund: Refund) => call(() => client.submitRefund(refund), own);
    const cancel = (refund: Refund) => () => client.cancelRefund(refund);

    if (way === 'one refund, sent twice at once') {
      const refund = begin(net / 3n);
      await twice(() => client.createRefund(refund), own);
      await twice(() => client.submitRefund(refund), own);
      return;
    }
    if (way === 'the whole, twice at once' || way === 'more than half, twice at once') {
      const wanted = way === 'the whole, twice at once' ? null : (net * 6n) / 10n;
      const both = [begin(wanted), begin(wanted)];
      await Promise.all(both.map(create));
      await Promise.all(both.map(submit));
      return;
    }
    const [refund, other] = [begin(net / 3n), begin(net / 3n)];
    await Promise.all([refund, other].map(create));
    if (way === 'cancelled beside the submission') {
      const late = sleep(own.int(...BESIDE_MS)).then(() => call(cancel(refund), own));
      await Promise.all([late, submit(refund), submit(other)]);
      return;
    }
    await twice(cancel(refund), own);
    const rest = begin(null);
    await create(rest);
    await Promise.all([other, rest].map(submit));
  };
};
