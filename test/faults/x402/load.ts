import { setTimeout as sleep } from 'node:timers/promises';
import { signedInTime } from '../checks/signed-in-time.ts';
import { createLaterCalls } from '../later-calls.ts';
import type { Rng } from '../rng.ts';
import type { Actors, Buyer } from './actors.ts';
import type { AfterSales } from './after-sales.ts';
import type { Answer, Log, Payment, Purchase, Signed, Vendor } from './log.ts';

/** So many payments of a new buyer are presented at once, and its balance covers so many. */
const OVERDRAWN = 5;
const COVERED = 2n;
/** How often a buyer signs for one purchase, as each failure gives it a new 402. */
const SIGNATURES = 3;
/** How often a buyer that got a 502 sends the same payment again. */
const REPEATS = 3;
const SIGN_AGAIN_MS = 200;
/** A replay arrives before and after an unconfirmed hand-out counts as lost (5 s). */
const REPLAY_MS = [0, 12_000] as const;
/** A vendor reissues and refunds before and after its hand-out was confirmed. */
const AFTER_SALES_MS = [0, 4000] as const;
const MOST_COPIES = 3;
const CHANGE_MS = [500, 4000] as const;

/** @returns null when the buyer gave up, because the chain did not answer */
export const sign = async ({ sign }: Buyer, vendor: Vendor): Promise<Signed | null> => {
  for (let tries = 0; tries < 20; tries += 1) {
    const offer = vendor.offer();
    const payload = await signedInTime(() => sign(offer.requirements));
    if (payload !== null) return { payload, offer };
    await sleep(SIGN_AGAIN_MS);
  }
  return null;
};

/**
 * One request to a stock vendor, which settles a pending payment once more: by its terms of today,
 * and if those are others by the terms of the payment.
 */
export const present = async ({ settle }: Vendor, payment: Payment): Promise<Answer> => {
  const answer = await settle(payment);
  const again = answer.kind === 'pending' ? await settle(payment, 'today') : answer;
  return again.kind === 'other' ? settle(payment) : again;
};

/**
 * Concurrent buyers with the stock client, which pay stock vendors. Some send copies at once, some
 * send a payment again whose answer was lost, and some replay a payment that has succeeded. New
 * buyers pay more purchases at once than they can. The vendors pay their fees, all but one, and
 * change their configuration. They refund some payments, and ask for another success of some.
 */
export const startLoad = (options: {
  actors: Actors;
  afterSales: AfterSales;
  log: Log;
  rng: Rng;
  perSecond: number;
}) => {
  const { actors, afterSales, log, rng, perSecond } = options;
  let running = true;
  const replays = createLaterCalls();

  /** @returns what the buyer learns in the end */
  const pay = async (vendor: Vendor, payment: Payment, own: Rng): Promise<Answer> => {
    const copies = own.chance(0.1) ? own.int(2, MOST_COPIES + 1) : 1;
    const answers = await Promise.all(Array.from({ length: copies }, () => present(vendor, payment)));
    const said = (kind: Answer['kind']) => answers.find((each) => each.kind === kind);
    // A refusal of one copy decides nothing while the outcome of another is unknown.
    let answer = said('success') ?? said('unknown') ?? answers[0]!;
    for (let repeats = 0; repeats < REPEATS && answer.kind === 'unknown' && running; repeats += 1) {
      if (own.chance(0.3)) break;
      await sleep(own.int(100, 1500));
      answer = await present(vendor, payment);
    }
    const { success } = answer;
    if (success !== null && own.chance(0.4))
      replays.add(own.int(...REPLAY_MS), () => vendor.settle(payment, 'today'));
    if (success !== null && own.chance(0.2)) {
      const act = own.pick([afterSales.reissue, afterSales.refund]);
      replays.add(own.int(...AFTER_SALES_MS), () => act(payment, success));
    }
    return answer;
  };

  const buy = async (purchase: Purchase, buyer: Buyer, vendor: Vendor, own: Rng): Promise<void> => {
    for (let signed = 0; signed < SIGNATURES; signed += 1) {
      const signature = await sign(buyer, vendor);
      if (signature === null) return;
      const answer = await pay(vendor, log.signed(purchase, signature), own);
      if (answer.kind !== 'failure' || buyer.isPoor) return;
    }
  };

  /** Payments of a new buyer, all at once, compete for what it has. */
  const overdraw = async (vendor: Vendor, own: Rng): Promise<void> => {
    // A chain with a fault opens no account.
    const made = await signedInTime(() =>
      actors.newBuyer(COVERED * BigInt(vendor.offer().requirements.amount)),
    );
    if (made === null) return;
    const { buyer } = made;
    const signatures = await Promise.all(Array.from({ length: OVERDRAWN }, () => sign(buyer, vendor)));
    const payments = signatures.flatMap((signature) =>
      signature === null ? [] : [log.signed(log.begin(buyer.address, vendor), signature)],
    );
    await Promise.all(payments.map((payment) => pay(vendor, payment, own)));
  };

  /**
   * A buyer signs twice for one purchase, and presents both payments at once. Their
   * payment-identifier says that they are one.
   */
  const buyIdentified = async (purchase: Purchase, buyer: Buyer, vendor: Vendor, own: Rng): Promise<void> => {
    const extensions = { 'payment-identifier': { info: { id: `purchase_${crypto.randomUUID()}` } } };
    const signatures = await Promise.all([sign(buyer, vendor), sign(buyer, vendor)]);
    const payments = signatures.flatMap((signature) => {
      if (signature === null) return [];
      const { offer, payload } = signature;
      return [log.signed(purchase, { offer, payload: { ...payload, extensions } })];
    });
    await Promise.all(payments.map((payment) => pay(vendor, payment, own)));
  };

  /** Every buyer buys once of the vendor whose credit does not suffice for all of them. */
  const useUpCredit = async (buyer: Buyer, own: Rng): Promise<void> => {
    const { debtor } = actors;
    const signature = await sign(buyer, debtor);
    if (signature !== null) await pay(debtor, log.signed(log.begin(buyer.address, debtor), signature), own);
  };

  let begun = 0;
  const work = async (buyer: Buyer): Promise<void> => {
    await useUpCredit(buyer, rng.fork(-1 - begun));
    while (running) {
      begun += 1;
      const own = rng.fork(begun);
      const vendor = own.chance(0.03) ? actors.debtor : own.pick(actors.payers);
      const next = replays.pause(own.int(0, 2000 * (actors.buyers.length / perSecond)));
      if (own.chance(0.06)) await overdraw(vendor, own);
      else {
        const how = own.chance(0.1) ? buyIdentified : buy;
        await how(log.begin(buyer.address, vendor), buyer, vendor, own);
      }
      await next;
    }
  };
  const pays = actors.payers.map(({ fees }, at) => fees!.payWhile(() => running, rng.fork(-100 - at)));
  const change = async (): Promise<void> => {
    const own = rng.fork(-50);
    while (running) {
      await replays.pause(own.int(...CHANGE_MS));
      // A change that a fault has stopped is given up.
      if (running)
        await own
          .pick(actors.payers)
          .change(own)
          .catch(() => {});
    }
  };
  const finished = Promise.all([...actors.buyers.map(work), ...pays, change()]);
  return {
    stop: async (): Promise<void> => {
      running = false;
      await replays.finish(finished);
    },
  };
};
