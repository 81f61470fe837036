import { setTimeout as sleep } from 'node:timers/promises';
import { lostBy } from '../../../deploy/local/seed/api.ts';
import { signedInTime } from '../checks/signed-in-time.ts';
import { createLaterCalls } from '../later-calls.ts';
import type { Rng } from '../rng.ts';
import type { Actors, Buyer } from './actors.ts';
import type { Client } from './buyers.ts';
import type { Answer, Log, Payment, Purchase } from './log.ts';
import { PUBLIC_URL } from './shop.ts';

/** How often a buyer signs for one purchase, as each 402 asks it to. */
const SIGNATURES = 4;
const AGAIN_MS = [100, 1500] as const;
/** A replay arrives before and after a lease of the paywall has ended. */
const REPLAY_MS = [0, 12_000] as const;
const MOST_COPIES = 3;
const CHANGE_MS = [500, 4000] as const;
/** The share of the native purchases whose quote an attacker has read before. */
const POISONED = 0.4;

/** One call of a buyer, whose answer is recorded. */
const call = async (
  log: Log,
  purchase: Purchase,
  payment: Payment | null,
  request: (url: string) => Promise<Response>,
): Promise<Answer> => {
  const askedAt = Date.now();
  const said = await request(`${PUBLIC_URL}${purchase.path}`)
    .then(async (response) => ({ status: response.status, body: await response.text() }))
    .catch((error: Error) => ({ status: null, body: `${lostBy(error)} ${error.message}` }));
  const answer: Answer = { askedAt, at: Date.now(), ...said };
  log.answered(purchase, payment, answer);
  return answer;
};

/** One request to the shop, with a payment. */
export const present = (
  { shopFetch }: Pick<Actors, 'shopFetch'>,
  log: Log,
  payment: Payment,
): Promise<Answer> => {
  const { purchase, headers } = payment;
  return call(log, purchase, payment, (url) => shopFetch(url, { headers }));
};

/** One call of the paying fetch, which pays and repeats by itself. */
export const payOwn = (pay: typeof fetch, log: Log, purchase: Purchase): Promise<Answer> =>
  call(log, purchase, null, (url) => pay(url));

/**
 * Concurrent buyers with the clients of each dialect. Some send copies at once, some replay a
 * payment that was delivered, and all repeat a payment whose outcome they do not know. Meanwhile
 * the shop changes its configuration, and an attacker names references of its quotes.
 */
export const startLoad = (options: { actors: Actors; log: Log; rng: Rng; perSecond: number }) => {
  const { actors, log, rng, perSecond } = options;
  const { shop, shopFetch, poisoner, fees, buyers } = actors;
  let running = true;
  const later = createLaterCalls();

  /** The offer of a 402; null when the load has ended before one. */
  const offerOf = async ({ path }: Purchase, own: Rng): Promise<Headers | null> => {
    while (running) {
      const response = await shopFetch(`${PUBLIC_URL}${path}`).catch(() => null);
      await response?.text().catch(() => {});
      // The shop offers other protocols when it knows the terms.
      if (response?.status === 402 && response.headers.has('payment-required')) return response.headers;
      await sleep(own.int(...AGAIN_MS));
    }
    return null;
  };
  const sign = async ({ sign, headersOf }: Client, purchase: Purchase, own: Rng): Promise<Payment | null> => {
    const offer = await offerOf(purchase, own);
    while (offer !== null && running) {
      const transaction = await signedInTime(() => sign(offer));
      if (transaction !== null) return log.signed(purchase, transaction, headersOf(offer, transaction));
      await sleep(own.int(...AGAIN_MS));
    }
    return null;
  };

  /** @returns the status that decided; null: the load has ended before */
  const pay = async (payment: Payment, own: Rng): Promise<number | null> => {
    const copies = own.chance(0.15) ? own.int(2, MOST_COPIES + 1) : 1;
    let answers = await Promise.all(Array.from({ length: copies }, () => present(actors, log, payment)));
    for (;;) {
      const decided =
        answers.find(({ status }) => status === 200) ?? answers.find(({ status }) => status === 402);
      if (decided !== undefined) {
        if (decided.status === 200 && own.chance(0.4))
          later.add(own.int(...REPLAY_MS), () => present(actors, log, payment));
        return decided.status;
      }
      if (!running) return null;
      await sleep(own.int(...AGAIN_MS));
      answers = [await present(actors, log, payment)];
    }
  };

  const buy = async (purchase: Purchase, buyer: Buyer, own: Rng): Promise<void> => {
    if (buyer.dialect === 'quittance') {
      if (own.chance(POISONED)) await poisoner.poison(purchase.path);
      while ((await payOwn(buyer.pay, log, purchase)).status !== 200 && running && !buyer.isPoor)
        await sleep(own.int(...AGAIN_MS));
      return;
    }
    for (let signed = 0; signed < SIGNATURES; signed += 1) {
      const payment = await sign(buyer.client, purchase, own);
      if (payment === null) return;
      const status = await pay(payment, own);
      if (status !== 402 || buyer.isPoor) return;
    }
  };

  let begun = 0;
  const work = async (buyer: Buyer): Promise<void> => {
    while (running) {
      begun += 1;
      const own = rng.fork(begun);
      const next = later.pause(own.int(0, 2000 * (buyers.length / perSecond)));
      await buy(log.begin(buyer.dialect, buyer.address), buyer, own);
      await next;
    }
  };
  const change = async (): Promise<void> => {
    const own = rng.fork(-1);
    while (running) {
      await later.pause(own.int(...CHANGE_MS));
      if (running) await shop.change(own);
    }
  };
  const paying = fees.payWhile(() => running, rng.fork(-2));
  const finished = Promise.all([...buyers.map(work), change(), paying]);
  return {
    stop: async (): Promise<void> => {
      running = false;
      await later.finish(finished);
    },
  };
};
