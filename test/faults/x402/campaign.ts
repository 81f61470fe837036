import { setTimeout as sleep } from 'node:timers/promises';
import { chooseFaults, x402Faults } from '../faults/index.ts';
import { type Harness, startHarness } from '../harness.ts';
import type { Break } from '../invariants.ts';
import { startMonitor } from '../monitor.ts';
import type { Mutation } from '../mutations.ts';
import { inParallel, openWork, TERMINAL_MS, until } from '../recovery.ts';
import { createRng, type Rng } from '../rng.ts';
import { schedule } from '../schedule.ts';
import { type Actors, createActors, PRICE } from './actors.ts';
import { type Death, recordDeaths } from './deaths.ts';
import { readFinalState } from './final-state.ts';
import { judge, undelivered, windowCases } from './invariants.ts';
import { startLoad } from './load.ts';
import { createLog, isDecided, KINDS, type Log } from './log.ts';

export type X402Options = {
  stateDir: string;
  /** Purchases. Each is one payment, and one more for each failure. */
  payments: number;
  /** Names, or beginnings of names. Without names all faults. */
  faults: readonly string[];
  seed: number;
  slotMs?: number;
  /** Purchases that begin per second. */
  perSecond?: number;
  buyers?: number;
  /** The share of the payments without an answer that nobody asks about after the faults. */
  abandoned?: number;
  terminalMs?: number;
  /** A rule to switch off. The campaign must then find a break. */
  mutation?: Mutation;
  print: (line: string) => void;
};

export type X402Report = {
  breaks: Break[];
  purchases: number;
  payments: number;
  /** Answers to settle, by what a stock vendor understands. */
  answers: Record<(typeof KINDS)[number], number>;
  /** Failures and lost answers by reason. */
  failures: Record<string, number>;
  unknown: Record<string, number>;
  transfers: number;
  /** Payments whose vendor got a success. */
  delivered: number;
  undelivered: { issued: number; redeemed: number };
  /** Successes that were handed out again after their gateway had died. */
  window: number;
  /** Confirmed payments that a fork removed for good. */
  reversed: number;
  faults: Record<string, number>;
  deaths: Record<string, number>;
  forks: number;
  recoveredMs: number | null;
  seconds: number;
};

const VENDORS = 2;
/** Buyers whose wallet pays half of their purchases only. Their failures must stay failures. */
const POOR = 2;
/** More than all payments of a campaign accrue. */
const CREDIT_MICRO = 1_000_000_000_000n;
const REPEATERS = 16;
const VICTIMS = /^(gateway|settlement|chain-submitter)/;
const KILL_MS = [500, 7000] as const;

const countsOf = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

/** Kills a process of the payment path at random moments, beside the fault of the schedule. */
const killAtRandom = (harness: Harness, rng: Rng, isRunning: () => boolean): Promise<void> => {
  const victims = harness.names.filter((name) => VICTIMS.test(name));
  const loop = async () => {
    while (isRunning()) {
      await harness.kill(rng.pick(victims));
      await sleep(rng.int(...KILL_MS));
    }
  };
  return loop();
};

/**
 * The faults are off. Vendors settle each payment again until they know its state, except those
 * that nobody asks about. Then everything must end.
 * @returns how long it took; null: not in time
 */
const recover = async (
  openPayments: () => Promise<number>,
  { log, actors, deadline }: { log: Log; actors: Actors; deadline: number },
  isAbandoned: () => boolean,
): Promise<number | null> => {
  const begun = Date.now();
  const undecided = log.payments.filter((payment) => !isDecided(payment) && !isAbandoned());
  await inParallel(undecided, REPEATERS, async (payment) => {
    const vendor = actors.vendors.find(({ payTo }) => payTo === payment.purchase.payTo)!;
    await until(deadline, async () => {
      await vendor.settle(payment);
      return isDecided(payment);
    });
  });
  let endedAt: number | null = null;
  await until(deadline, async () => {
    const left = await openPayments().catch(() => Number.NaN);
    if (left === 0) endedAt = Date.now();
    return left === 0;
  });
  return endedAt === null ? null : endedAt - begun;
};

type Judged = {
  log: Log;
  finalState: Awaited<ReturnType<typeof readFinalState>>;
  forks: number;
  deaths: Death[];
};

const figuresOf = (of: Judged) => {
  const { log, finalState, deaths, forks } = of;
  const open = undelivered(of).map(({ hash }) => finalState.settlements.get(hash)?.status);
  const reasonsOf = (wanted: string) =>
    countsOf(log.answers.filter(({ kind }) => kind === wanted).map(({ reason }) => reason));
  return {
    purchases: log.purchases.length,
    payments: log.payments.length,
    answers: Object.fromEntries(
      KINDS.map((kind) => [kind, log.answers.filter((answer) => answer.kind === kind).length]),
    ) as X402Report['answers'],
    failures: reasonsOf('failure'),
    unknown: reasonsOf('unknown'),
    transfers: finalState.transfers.length,
    delivered: log.payments.filter(({ answers }) => answers.some(({ kind }) => kind === 'success')).length,
    undelivered: {
      issued: open.filter((status) => status === 'issued').length,
      redeemed: open.filter((status) => status === 'redeemed').length,
    },
    window: windowCases(of),
    reversed: [...finalState.settlements.values()].filter(
      ({ status, chain_status }) => status === 'redeemed' && chain_status === 'failed',
    ).length,
    deaths: countsOf(deaths.map(({ name }) => name)),
    forks,
  };
};

/** Runs one campaign of x402 payments over a separate stack and checks the invariants. */
export const runX402Campaign = async (options: X402Options): Promise<X402Report> => {
  const { stateDir, payments, seed, print, mutation, slotMs = 100, perSecond = 5, buyers = 16 } = options;
  const { abandoned = 0.3, terminalMs = TERMINAL_MS } = options;
  const rng = createRng(seed);
  const startedAt = Date.now();
  const say = (line: string) =>
    print(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  const credit = { firstCreditMicro: CREDIT_MICRO };
  const harness = await startHarness({ stateDir, slotMs, mutation, ...credit, print: () => {} });
  try {
    const log = createLog();
    const poorBalance = PRICE * BigInt(Math.ceil(payments / buyers / 2));
    const counts = { vendors: VENDORS, buyers, poor: POOR, poorBalance };
    const actors = await createActors(harness, log, counts);
    const redeemed = { count: () => log.delivered.length, newestHash: () => log.delivered.at(-1) ?? null };
    const faults = chooseFaults(x402Faults(harness, redeemed), options.faults);
    const monitor = startMonitor(harness);
    const { deaths, stop } = recordDeaths(harness);
    const load = startLoad({ actors, log, rng: rng.fork(-1), payments, perSecond });
    say(`the stack runs: ${buyers} buyers make ${payments} purchases, ${faults.length} faults`);

    const killing = killAtRandom(harness, rng.fork(-2), load.isRunning);
    const injected: string[] = [];
    for (const { fault, own } of schedule(faults, rng)) {
      if (!load.isRunning()) break;
      const heal = await fault.inject(own);
      if (heal !== null) {
        injected.push(fault.name);
        say(`${fault.name.padEnd(40)} ${log.purchases.length} purchases, ${log.delivered.length} successes`);
        await sleep(own.int(...fault.holdMs));
        await heal();
      }
      await sleep(own.int(0, 500));
    }
    await killing;
    await harness.healthy();
    await load.finished();
    say('recovery phase: no more faults and no new payments');
    const recoveredMs = await recover(
      () => openWork(harness),
      { log, actors, deadline: Date.now() + terminalMs },
      () => rng.chance(abandoned),
    );
    await stop();
    const seen = await monitor.stop();
    const of = { log, finalState: await readFinalState(harness, actors), forks: harness.forks, deaths };
    const breaks = [...seen.breaks, ...judge(of)];
    if (recoveredMs === null)
      breaks.push({ invariant: 'everything-ends', what: `not within ${terminalMs / 1000} s` });
    if (log.delivered.length === 0) breaks.push({ invariant: 'somebody-paid', what: 'no payment succeeded' });
    return {
      breaks,
      ...figuresOf(of),
      faults: countsOf(injected),
      recoveredMs,
      seconds: (Date.now() - startedAt) / 1000,
    };
  } finally {
    await harness.stop();
  }
};
