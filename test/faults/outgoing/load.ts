import { setTimeout as sleep } from 'node:timers/promises';
import { present, priceOf } from '../../support/actors/outgoing.ts';
import { createLaterCalls } from '../later-calls.ts';
import type { Rng } from '../rng.ts';
import type { Actors, Buyer } from './actors.ts';
import { type Attempt, type Behaviour, type Log, type Payer, signatureOf } from './log.ts';

/** How often a buyer repeats a call that was not answered. */
const REPEATS = 6;
const VENDOR_MS = 40_000;
/** A repeat of an answered call, before and after the bytes have expired. */
const LATER_MS = [0, 25_000] as const;
const MOST_COPIES = 4;
/** Half of the counterparties are honest. */
const WEIGHTS: readonly Behaviour[] = [
  ...Array<Behaviour>(8).fill('honest'),
  ...Array<Behaviour>(2).fill('waits'),
  ...Array<Behaviour>(2).fill('sends-late'),
  ...Array<Behaviour>(2).fill('denies-payment'),
  'never-sends',
  'lies',
  'names-another',
];

/**
 * Concurrent buyers that pay vendors of all kinds. Some send copies at once, some repeat an
 * answered call later, some present the payment twice or at a second vendor of the same payee, and
 * some get the bytes and never present them.
 */
export const startLoad = (options: {
  actors: Actors;
  buyer: Buyer;
  log: Log;
  rng: Rng;
  perSecond: number;
}) => {
  const { actors, buyer, log, rng, perSecond } = options;
  let running = true;
  const laterCalls = createLaterCalls();
  const later = (own: Rng, call: () => Promise<unknown>) => laterCalls.add(own.int(...LATER_MS), call);

  /** @returns the bytes; null when there are none */
  const sign = async (attempt: Attempt, own: Rng): Promise<string | null> => {
    const copies = own.chance(0.15) ? own.int(2, MOST_COPIES + 1) : 1;
    const answers = await Promise.all(Array.from({ length: copies }, () => buyer.ask(attempt)));
    let answer = answers.find(({ kind }) => kind === 'signed') ?? answers[0]!;
    for (let repeats = 0; repeats < REPEATS && answer.kind === 'unknown' && running; repeats += 1) {
      if (own.chance(0.1)) break;
      await sleep(own.int(100, 1500));
      answer = await buyer.ask(attempt);
    }
    return answer.signature;
  };

  /** Presents the bytes at the vendor with a behaviour, and reports its receipt. */
  const deliver = async (attempt: Attempt, signature: string, behaviour: Behaviour, own: Rng) => {
    const { payTo, price } = attempt;
    const resource = actors.resourceOf({ behaviour, payTo });
    const shown = await present({ ...price!, resource }, signature, VENDOR_MS).catch(() => null);
    log.presented(attempt, behaviour, shown);
    const { settlementId } = attempt.answers.find(({ kind }) => kind === 'signed')!;
    if (shown?.receipt && own.chance(0.6)) await buyer.report(attempt, settlementId!, shown.receipt);
  };

  const pay = async (attempt: Attempt, own: Rng): Promise<void> => {
    const resource = actors.resourceOf(attempt);
    attempt.price = await priceOf(resource, VENDOR_MS).catch(() => null);
    if (attempt.price === null) return;
    const signature = await sign(attempt, own);
    if (signature === null || own.chance(0.04)) return;
    if (own.chance(0.3)) later(own, () => buyer.ask(attempt));
    await deliver(attempt, signature, attempt.behaviour, own);
    if (own.chance(0.1)) await deliver(attempt, signature, attempt.behaviour, own);
    // Another vendor of the payee takes the same bytes.
    if (own.chance(0.1)) later(own, () => deliver(attempt, signature, 'honest', own));
  };

  let begun = 0;
  const work = async (payer: Payer): Promise<void> => {
    while (running) {
      begun += 1;
      const own = rng.fork(begun);
      const attempt = log.begin({ payer, behaviour: own.pick(WEIGHTS), payTo: own.pick(actors.payees) });
      const next = laterCalls.pause(own.int(0, 2000 * (actors.payers.length / perSecond)));
      await pay(attempt, own);
      // A key with an open limit waits for the end of its payments.
      if (signatureOf(attempt) === null) await sleep(own.int(200, 1000));
      await next;
    }
  };
  const finished = Promise.all(actors.payers.map(work));
  return {
    stop: async (): Promise<void> => {
      running = false;
      await laterCalls.finish(finished);
    },
  };
};
