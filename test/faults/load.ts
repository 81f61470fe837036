import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, Quote, Vendor } from '../../deploy/local/people/people.ts';
import type { Client, People } from './client.ts';
import type { Attempt, Ledger } from './ledger.ts';
import type { Rng } from './rng.ts';

const TRIES = 3;
/** A machine that is slow gets no more to do than this: the load proves what becomes of money, not a speed. */
const MOST_IN_FLIGHT = 120;
const MOST_AT_ONCE = 8;

/** Everything in micro-units; the least fee is 10,000. */
const AMOUNT = [20_000, 500_000] as const;

/**
 * Payers that pay at once, as careless as real ones: they repeat what is answered, double-click, give up, use one quote
 * more than once, overdraw their wallet, and redeem with two replicas.
 */
export const startLoad = (options: {
  client: Client;
  people: People;
  ledger: Ledger;
  rng: Rng;
  perSecond: number;
}) => {
  const { client, people, ledger, rng, perSecond } = options;
  let running = true;
  /** Attempts that may begin now; a crowd is begun on credit. */
  let credit = 0;
  let underWay = 0;

  const settle = async (attempt: Attempt, own: Rng): Promise<void> => {
    credit -= 1;
    underWay += 1;
    await settleForAWhile(attempt, own).finally(() => {
      underWay -= 1;
    });
  };

  const settleForAWhile = async (attempt: Attempt, own: Rng): Promise<void> => {
    const doubled = own.chance(0.1);
    await Promise.all([client.settle(attempt), ...(doubled ? [client.settle(attempt)] : [])]);
    for (let tries = 1; tries < TRIES && running && attempt.standing === 'open'; tries += 1) {
      // The others are impatient: their money is looked after in the quiet phase.
      if (own.chance(0.3)) return;
      await sleep(own.int(100, 1000));
      await client.settle(attempt);
    }
    if (attempt.standing === 'paid' && own.chance(0.2)) await client.settle(attempt);
  };

  const redeem = async (attempt: Attempt, own: Rng): Promise<void> => {
    const ids = [crypto.randomUUID(), ...(own.chance(0.2) ? [crypto.randomUUID()] : [])];
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answered = await Promise.all(ids.map((id) => client.redeem(attempt, id)));
      if (answered.every(Boolean) || !running) return;
      await sleep(own.int(100, 500));
    }
  };

  const settleAndRedeem = async (
    { payer, key }: { payer: Consumer; key: string | null },
    vendor: Vendor,
    quote: Quote,
    own: Rng,
  ): Promise<void> => {
    const begin = () => ledger.begin(payer, vendor, quote, key);
    const attempt = begin();
    // Other buyers of the same account with the same quote: one of them pays.
    const rivals = own.chance(0.06) ? own.int(1, MOST_AT_ONCE) : 0;
    const all = [attempt, ...Array.from({ length: rivals }, begin)];
    await Promise.all(all.map((one) => settle(one, own)));
    if (attempt.standing === 'paid' && own.chance(0.5)) await redeem(attempt, own);
  };

  const pay = async (own: Rng): Promise<void> => {
    const vendor = own.pick(people.vendors);
    const poor = own.chance(0.06);
    const agent = !poor && own.chance(0.25) ? own.pick(people.agents) : null;
    const by = agent ?? { payer: own.pick(poor ? people.poor : people.rich), key: null };
    // A run on a wallet, or on a limit, that can pay a part of it only. The wallet gets a little more now and then, also
    // while they run.
    const crowd = poor || (agent !== null && own.chance(0.2)) ? MOST_AT_ONCE : 1;
    if (poor && own.chance(0.5)) void client.topUp(by.payer);
    const terms = () => ({
      quote_amount: String(own.int(...AMOUNT)),
      ...(own.chance(0.05) ? { expires_in_seconds: own.int(2, 15) } : {}),
    });
    const quotes = await Promise.all(
      Array.from({ length: crowd }, () => client.quote(vendor, terms(), () => running)),
    );
    const wanted = quotes.filter((quote) => quote !== null);
    await Promise.all(wanted.map((quote) => settleAndRedeem(by, vendor, quote, own)));
  };

  // New payments begin at their pace, whatever became of the others: a call whose service was killed waits for long.
  const work = new Set<Promise<void>>();
  const arrivals = async () => {
    for (let number = 0; running; number += 1) {
      const pause = rng.int(0, 2000) / perSecond;
      await sleep(pause);
      credit = Math.min(credit + (perSecond * pause) / 1000, MOST_AT_ONCE);
      if (credit < 0 || underWay >= MOST_IN_FLIGHT) continue;
      const one = pay(rng.fork(number)).finally(() => work.delete(one));
      work.add(one);
    }
  };
  const arriving = arrivals();
  return {
    /** No new payments; resolves when every call under way was answered or lost. */
    stop: async (): Promise<void> => {
      running = false;
      await arriving;
      await Promise.all(work);
    },
  };
};
