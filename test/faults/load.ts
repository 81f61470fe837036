import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, People } from './client.ts';
import type { Attempt, Ledger } from './ledger.ts';
import type { Rng } from './rng.ts';

const TRIES = 3;
const MOST_IN_FLIGHT = 300;

/** Everything in micro-units; the least fee is 10,000. */
const AMOUNT = [20_000, 500_000] as const;

/**
 * Payers that pay at once, as careless as real ones: they repeat what is answered, double-click, give up, use one quote
 * twice, and redeem with two replicas.
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

  const settle = async (attempt: Attempt, own: Rng): Promise<void> => {
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

  const pay = async (own: Rng): Promise<void> => {
    const [payer, vendor] = [own.pick(people.payers), own.pick(people.vendors)];
    const terms = {
      quote_amount: String(own.int(...AMOUNT)),
      ...(own.chance(0.05) ? { expires_in_seconds: own.int(2, 15) } : {}),
    };
    const quote = await client.quote(vendor, terms, () => running);
    if (quote === null) return;
    const attempt = ledger.begin(payer, vendor, quote);
    // Another buyer of the same account with the same quote: one of them pays.
    const rival = own.chance(0.05) ? [ledger.begin(payer, vendor, quote)] : [];
    await Promise.all([attempt, ...rival].map((one) => settle(one, own)));
    if (attempt.standing === 'paid' && own.chance(0.5)) await redeem(attempt, own);
  };

  // New payments begin at their pace, whatever became of the others: a call whose service was killed waits for long.
  const inFlight = new Set<Promise<void>>();
  const arrivals = async () => {
    for (let number = 0; running; number += 1) {
      if (inFlight.size < MOST_IN_FLIGHT) {
        const work = pay(rng.fork(number)).finally(() => inFlight.delete(work));
        inFlight.add(work);
      }
      await sleep(rng.int(0, 2000) / perSecond);
    }
  };
  const arriving = arrivals();
  return {
    /** No new payments; resolves when every call under way was answered or lost. */
    stop: async (): Promise<void> => {
      running = false;
      await arriving;
      await Promise.all(inFlight);
    },
  };
};
