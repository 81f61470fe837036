import { setTimeout as sleep } from 'node:timers/promises';
import type { PaymentPayload } from '@x402/core/types';
import { createLaterCalls } from '../later-calls.ts';
import type { Rng } from '../rng.ts';
import { signedInTime } from '../signed-in-time.ts';
import type { Actors, Buyer, Vendor } from './actors.ts';
import type { Answer, Log, Payment, Purchase } from './log.ts';

/** How often a buyer signs for one purchase, as each failure gives it a new 402. */
const SIGNATURES = 3;
/** How often a buyer that got a 502 sends the same payment again. */
const REPEATS = 3;
const SIGN_AGAIN_MS = 200;
/** A replay arrives before and after an unconfirmed hand-out counts as lost (5 s). */
const REPLAY_MS = [0, 12_000] as const;
const MOST_COPIES = 3;

/** @returns null when the buyer gave up, because the chain did not answer */
const sign = async ({ sign }: Buyer, { requirements }: Vendor): Promise<PaymentPayload | null> => {
  for (let tries = 0; tries < 20; tries += 1) {
    const payload = await signedInTime(() => sign(requirements));
    if (payload !== null) return payload;
    await sleep(SIGN_AGAIN_MS);
  }
  return null;
};

/** One request to a stock vendor, which settles a pending payment once more. */
const present = async ({ settle }: Vendor, payment: Payment): Promise<Answer> => {
  const answer = await settle(payment);
  return answer.kind === 'pending' ? settle(payment) : answer;
};

/**
 * Concurrent buyers with the stock client, which pay stock vendors. Some send copies at once, some
 * send a payment again whose answer was lost, and some replay a payment that has succeeded.
 */
export const startLoad = (options: { actors: Actors; log: Log; rng: Rng; perSecond: number }) => {
  const { actors, log, rng, perSecond } = options;
  let running = true;
  const replays = createLaterCalls();

  /** @returns what the buyer learns in the end */
  const pay = async (vendor: Vendor, payment: Payment, own: Rng): Promise<Answer> => {
    const copies = own.chance(0.1) ? own.int(2, MOST_COPIES + 1) : 1;
    const answers = await Promise.all(Array.from({ length: copies }, () => present(vendor, payment)));
    let answer = answers.find(({ kind }) => kind === 'success') ?? answers[0]!;
    for (let repeats = 0; repeats < REPEATS && answer.kind === 'unknown' && running; repeats += 1) {
      if (own.chance(0.3)) break;
      await sleep(own.int(100, 1500));
      answer = await present(vendor, payment);
    }
    if (answer.kind === 'success' && own.chance(0.4))
      replays.add(own.int(...REPLAY_MS), () => vendor.settle(payment));
    return answer;
  };

  const buy = async (purchase: Purchase, buyer: Buyer, vendor: Vendor, own: Rng): Promise<void> => {
    for (let signed = 0; signed < SIGNATURES; signed += 1) {
      const payload = await sign(buyer, vendor);
      if (payload === null) return;
      const answer = await pay(vendor, log.signed(purchase, payload), own);
      if (answer.kind !== 'failure' || buyer.isPoor) return;
    }
  };

  let begun = 0;
  const work = async (buyer: Buyer): Promise<void> => {
    while (running) {
      begun += 1;
      const own = rng.fork(begun);
      const vendor = own.pick(actors.vendors);
      const next = replays.pause(own.int(0, 2000 * (actors.buyers.length / perSecond)));
      await buy(log.begin(buyer.address, vendor.payTo), buyer, vendor, own);
      await next;
    }
  };
  const finished = Promise.all(actors.buyers.map(work));
  return {
    stop: async (): Promise<void> => {
      running = false;
      await replays.finish(finished);
    },
  };
};
