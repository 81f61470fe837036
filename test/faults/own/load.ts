import { setTimeout as sleep } from 'node:timers/promises';
import type { Consumer, Quote, Vendor } from '../../../deploy/local/seed/actors.ts';
import type { Rng } from '../rng.ts';
import { createApprovedPayments } from './approval-load.ts';
import { type Actors, type Client, FIRST_PRICE, type Newcomer } from './client.ts';
import type { Attempt, ClientLog, Hedge } from './client-log.ts';
import { createRefunds } from './refund-load.ts';
import { createDeliveries } from './unit-load.ts';

const TRIES = 3;
/** A slow machine gets no more work than this: the load proves correctness, not speed. */
const MOST_IN_FLIGHT = 120;
const MOST_AT_ONCE = 8;

/** All amounts in micro-units. The least fee is 10,000. */
const AMOUNT = [20_000, 500_000] as const;

/** New payers sign up one after another, and only so many wait for their first payment. */
const WAITING_NEWCOMERS = 3;
const NEWCOMER_EVERY_MS = 2000;
const MOST_NEWCOMERS = 300;

type Payer = { payer: Consumer; key: string | null };

/**
 * Concurrent payers that behave as carelessly as real ones: they repeat answered calls, send copies
 * to several gateways, give up, use one quote or one id more than once, overdraw their wallet, and
 * redeem with two replicas.
 */
export const startLoad = (options: {
  client: Client;
  actors: Actors;
  clientLog: ClientLog;
  /** They have never paid, and pay first. */
  newcomers: readonly Newcomer[];
  rng: Rng;
  perSecond: number;
}) => {
  const { client, actors, clientLog, rng, perSecond } = options;
  let running = true;
  const isRunning = () => running;
  const refund = createRefunds({ client, isRunning });
  const { unitsOf, deliver } = createDeliveries({ client, isRunning });
  /** Attempts that may begin now. A group of rivals may begin in advance. */
  let credit = 0;
  let underWay = 0;

  const settle = async (attempt: Attempt, own: Rng, copies = 1): Promise<void> => {
    credit -= 1;
    underWay += 1;
    await settleForAWhile(attempt, own, copies).finally(() => {
      underWay -= 1;
    });
  };

  const settleForAWhile = async (attempt: Attempt, own: Rng, copies: number): Promise<void> => {
    if (copies > 1) clientLog.hedge('copies at once');
    await Promise.all(Array.from({ length: copies }, () => client.settle(attempt)));
    for (let tries = 1; tries < TRIES && running && attempt.outcome === 'open'; tries += 1) {
      // The other clients give up early. The recovery phase queries their attempts.
      if (own.chance(0.3)) return;
      await sleep(own.int(100, 1000));
      await client.settle(attempt);
    }
    if (attempt.outcome === 'paid' && own.chance(0.2)) await client.settle(attempt);
    if (attempt.outcome === 'refused' && running && own.chance(0.4)) {
      clientLog.hedge('after a refusal');
      await sleep(own.int(0, 500));
      await client.settle(attempt);
    }
  };

  const redeem = async (attempt: Attempt, own: Rng): Promise<void> => {
    const ids = [crypto.randomUUID(), ...(own.chance(0.2) ? [crypto.randomUUID()] : [])];
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answered = await Promise.all(ids.map((id) => client.redeem(attempt, id)));
      if (answered.every(Boolean) || !running) return;
      await sleep(own.int(100, 500));
    }
  };

  /** What a client that lost its records does with a quote or an id that its account has used. */
  const askOtherwise = async (
    kind: Hedge,
    { payer, vendor, quote, key, id }: Attempt,
    other: string | null,
  ): Promise<void> => {
    const another = kind === 'another quote' ? await client.quote(vendor, terms(rng), isRunning) : quote;
    if (another === null) return;
    clientLog.hedge(kind);
    const attempt =
      kind === 'another delegate'
        ? clientLog.begin(payer, vendor, quote, { key: other, id })
        : clientLog.begin(payer, vendor, another, { key, ...(kind === 'another quote' ? { id } : {}) });
    await client.settle(attempt);
  };

  const hedgeAfter = async (attempt: Attempt, own: Rng, other: string | null): Promise<void> => {
    if (attempt.outcome !== 'paid' || !running) return;
    if (own.chance(0.06)) await askOtherwise('a second id', attempt, other);
    if (own.chance(0.03)) await askOtherwise('another quote', attempt, other);
    if (other !== null && own.chance(0.1)) await askOtherwise('another delegate', attempt, other);
  };

  const settleAndRedeem = async (
    { payer, key }: Payer,
    vendor: Vendor,
    quote: Quote,
    own: Rng,
  ): Promise<void> => {
    const begin = () => clientLog.begin(payer, vendor, quote, { key });
    const attempt = begin();
    // Other buyers of the same account use the same quote, and one of them pays.
    const rivals = own.chance(0.06) ? own.int(1, MOST_AT_ONCE) : 0;
    const all = [attempt, ...Array.from({ length: rivals }, begin)];
    const copies = own.chance(0.1) ? own.int(2, MOST_AT_ONCE + 1) : 1;
    await Promise.all(all.map((one) => settle(one, own, one === attempt ? copies : 1)));
    const other = actors.agents.find((agent) => agent.payer === payer)?.other ?? null;
    await hedgeAfter(attempt, own, other);
    if (attempt.outcome === 'paid' && own.chance(0.5)) await redeem(attempt, own);
    if (attempt.outcome === 'paid' && own.chance(0.2)) await refund(attempt, own);
  };

  const terms = (own: Rng) => ({
    quote_amount: String(own.int(...AMOUNT)),
    ...(own.chance(0.05) ? { expires_in_seconds: own.int(2, 15) } : {}),
  });

  const payWithApproval = createApprovedPayments({ ...options, ...actors, settle, isRunning });

  const payForUnits = async (own: Rng): Promise<void> => {
    const [payer, vendor] = [own.pick(actors.rich), own.pick(actors.vendors)];
    const units = unitsOf(own);
    const quote = await client.quote(vendor, { ...terms(own), scope: { units } }, isRunning);
    if (quote === null) return;
    const attempt = clientLog.begin(payer, vendor, quote);
    await settle(attempt, own);
    if (attempt.outcome === 'paid') await deliver(attempt, units, own);
  };

  const pay = async (own: Rng): Promise<void> => {
    if (actors.owners.length > 0 && own.chance(0.12)) return payWithApproval(own);
    if (own.chance(0.15)) return payForUnits(own);
    const vendor = own.pick(actors.vendors);
    const poor = own.chance(0.06);
    const agent = !poor && own.chance(0.25) ? own.pick(actors.agents) : null;
    const by = agent ?? { payer: own.pick(poor ? actors.poor : actors.rich), key: null };
    // A rush on a wallet or a limit that can pay for some of the attempts only. The wallet gets a
    // little more now and then, also during the rush.
    const crowd = poor || (agent !== null && own.chance(0.2)) ? MOST_AT_ONCE : 1;
    if (poor && own.chance(0.5)) void client.topUp(by.payer);
    const quotes = await Promise.all(
      Array.from({ length: crowd }, () => client.quote(vendor, terms(own), isRunning)),
    );
    const wanted = quotes.filter((quote) => quote !== null);
    await Promise.all(wanted.map((quote) => settleAndRedeem(by, vendor, quote, own)));
  };

  /**
   * One payment that uses up the full amount, sent two to eight times concurrently: all copies are
   * the same payment.
   */
  const payFirst = async (
    { payer, other }: Newcomer,
    key: string | null,
    own: Rng,
  ): Promise<Attempt | null> => {
    const vendor = own.pick(actors.vendors);
    const quote = await client.quote(vendor, { quote_amount: FIRST_PRICE.toString() }, isRunning);
    if (quote === null) return null;
    clientLog.hedge(key === null ? 'a first payment' : 'a limit that fits once');
    // The balance of a wallet is what a provider reports, and providers lie here. A limit is
    // settlement's record.
    const causedByItself = key === null ? [] : ['limit_exceeded'];
    const attempt = clientLog.begin(payer, vendor, quote, { key, causedByItself });
    await settle(attempt, own, own.int(2, MOST_AT_ONCE + 1));
    await hedgeAfter(attempt, own, other);
    if (attempt.outcome === 'paid' && own.chance(0.3)) await askOtherwise('a second id', attempt, other);
    return attempt;
  };

  const newcomers = [...options.newcomers];
  const welcome = async () => {
    for (let count = 0; running && count < MOST_NEWCOMERS; count += 1) {
      const born = await client.signUp(count % 2 === 0 ? 'delegates' : 'wallet');
      if (born !== null) newcomers.push(born);
      do await sleep(NEWCOMER_EVERY_MS);
      while (running && newcomers.length >= WAITING_NEWCOMERS);
    }
  };

  const payAsNewcomer = async (newcomer: Newcomer, own: Rng): Promise<void> => {
    const keys = newcomer.fitting.length === 0 ? [null] : newcomer.fitting;
    for (const key of keys) await payFirst(newcomer, key, own);
  };

  // New payments begin at their rate, whatever happens to the others: a call whose service was
  // killed waits for long.
  const work = new Set<Promise<void>>();
  const begin = (payment: Promise<void>) => {
    const one = payment.finally(() => work.delete(one));
    work.add(one);
  };
  const arrivals = async () => {
    for (let number = 0; running; number += 1) {
      const pause = rng.int(0, 2000) / perSecond;
      await sleep(pause);
      credit = Math.min(credit + (perSecond * pause) / 1000, MOST_AT_ONCE);
      if (credit < 0 || underWay >= MOST_IN_FLIGHT) continue;
      const newcomer = newcomers.shift();
      const own = rng.fork(number);
      begin(newcomer === undefined ? pay(own) : payAsNewcomer(newcomer, own));
    }
  };
  const arriving = Promise.all([arrivals(), welcome()]);
  return {
    /** Starts no new payments. Resolves when every running call was answered or lost. */
    stop: async (): Promise<void> => {
      running = false;
      await arriving;
      await Promise.all(work);
    },
  };
};
