import { setTimeout as sleep } from 'node:timers/promises';
import { countsOf } from './counts.ts';
import { type Death, recordDeaths } from './deaths.ts';
import type { Fault } from './fault.ts';
import { chooseFaults } from './faults/index.ts';
import { type Harness, startHarness } from './harness.ts';
import type { Break } from './invariants.ts';
import { startMonitor } from './monitor.ts';
import type { Mutation } from './mutations.ts';
import { openWork, TERMINAL_MS, until } from './recovery.ts';
import { createRng, type Rng } from './rng.ts';
import { schedule } from './schedule.ts';

/** What the campaigns of x402 and of outgoing payments have in common. */

export type PaymentsOptions = {
  stateDir: string;
  /** How many payments, as the campaign defines them. */
  payments: number;
  /** Names, or beginnings of names. Without names all faults. */
  faults: readonly string[];
  seed: number;
  slotMs?: number;
  /** Payments that begin per second. */
  perSecond?: number;
  buyers?: number;
  /** The share of the payments without an answer that nobody asks about after the faults. */
  abandoned?: number;
  terminalMs?: number;
  /** A rule to switch off. The campaign must then find a break. */
  mutation?: Mutation;
  print: (line: string) => void;
};

/** What every report has. */
export type PaymentsReport = {
  breaks: Break[];
  faults: Record<string, number>;
  deaths: Record<string, number>;
  forks: number;
  /** How long after the faults everything had ended; null: not in time. */
  recoveredMs: number | null;
  seconds: number;
};

/** What happened to the processes and the chain. */
export type Disturbances = { forks: number; deaths: readonly Death[] };

/** A campaign that has signed its clients up. */
type Campaign<Figures> = {
  faults: Fault[];
  /** A line that describes the clients. */
  about: string;
  startLoad: (rng: Rng) => { isRunning: () => boolean; finished: () => Promise<void> };
  /** The counts so far, for a line of progress. */
  progress: () => string;
  /** The faults are off: clients learn the state of their payments. */
  recover: (deadline: number, isAbandoned: () => boolean) => Promise<void>;
  /** Reads the final state and checks the invariants. */
  evaluate: (disturbances: Disturbances) => Promise<{ breaks: Break[]; figures: Figures }>;
  /** Stops what the campaign has started. */
  stop?: () => Promise<void>;
};

const KILL_MS = [500, 7000] as const;
const HEALS = 3;

/** Kills a process of the payment path at random moments, beside the fault of the schedule. */
const killAtRandom = async (
  harness: Harness,
  { victims, rng, isRunning }: { victims: RegExp; rng: Rng; isRunning: () => boolean },
): Promise<void> => {
  const names = harness.names.filter((name) => victims.test(name));
  while (isRunning()) {
    await harness.kill(rng.pick(names));
    await sleep(rng.int(...KILL_MS));
  }
};

/** @returns when nothing was open any more; null: not before the deadline */
const endOfWork = async (harness: Harness, deadline: number): Promise<number | null> => {
  let endedAt: number | null = null;
  await until(deadline, async () => {
    const left = await openWork(harness).catch(() => Number.NaN);
    if (left === 0) endedAt = Date.now();
    return left === 0;
  });
  return endedAt;
};

/** A busy machine may not answer the first time. */
const untilHealed = async (heal: () => Promise<void>): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await heal();
    } catch (error) {
      if (tries === HEALS) throw error;
    }
  }
};

/** Injects faults, one after the other, while the load runs. @returns their names */
const injectFaults = async (
  faults: readonly Fault[],
  rng: Rng,
  { isRunning, say }: { isRunning: () => boolean; say: (fault: string) => void },
): Promise<string[]> => {
  const injected: string[] = [];
  for (const { fault, own } of schedule(faults, rng)) {
    if (!isRunning()) break;
    const heal = await fault.inject(own);
    if (heal !== null) {
      injected.push(fault.name);
      say(fault.name);
      await sleep(own.int(...fault.holdMs));
      await untilHealed(heal);
    }
    await sleep(own.int(0, 500));
  }
  return injected;
};

/**
 * Runs one campaign over a separate stack and checks the invariants.
 * @param of `victims`: the processes that are killed at random; `firstCreditMicro` as in the
 *   stack's options; `begin` signs the clients up
 */
export const runPaymentsCampaign = async <Figures extends object>(
  options: PaymentsOptions,
  of: {
    victims: RegExp;
    firstCreditMicro?: bigint;
    begin: (harness: Harness) => Promise<Campaign<Figures>>;
  },
): Promise<PaymentsReport & Figures> => {
  const { stateDir, seed, print, mutation, slotMs = 100, abandoned = 0.3 } = options;
  const { terminalMs = TERMINAL_MS } = options;
  const { victims, begin, ...stackOptions } = of;
  const rng = createRng(seed);
  const startedAt = Date.now();
  const say = (line: string) =>
    print(`${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${line}`);
  const harness = await startHarness({ stateDir, slotMs, mutation, ...stackOptions, print: () => {} });
  let isOver = false;
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const campaign = await begin(harness);
    if (campaign.stop) stops.push(campaign.stop);
    const { recover, evaluate, progress, about } = campaign;
    const faults = chooseFaults(campaign.faults, options.faults);
    const monitor = startMonitor(harness);
    const { deaths, stop } = recordDeaths(harness);
    stops.push(stop, monitor.stop);
    const load = campaign.startLoad(rng.fork(-1));
    say(`the stack runs: ${about}, ${faults.length} faults`);

    const isRunning = () => !isOver && load.isRunning();
    const killing = killAtRandom(harness, { victims, rng: rng.fork(-2), isRunning });
    stops.push(() => killing);
    const injected = await injectFaults(faults, rng, {
      isRunning,
      say: (fault) => say(`${fault.padEnd(40)} ${progress()}`),
    });
    await killing;
    await harness.healthy();
    await load.finished();
    say('recovery phase: no more faults and no new payments');
    const begun = Date.now();
    await recover(begun + terminalMs, () => rng.chance(abandoned));
    const endedAt = await endOfWork(harness, begun + terminalMs);
    await stop();
    const seen = await monitor.stop();
    const { breaks, figures } = await evaluate({ forks: harness.forks, deaths });
    breaks.unshift(...seen.breaks);
    if (endedAt === null)
      breaks.push({ invariant: 'everything-ends', what: `not within ${terminalMs / 1000} s` });
    return {
      breaks,
      ...figures,
      faults: countsOf(injected),
      deaths: countsOf(deaths.map(({ name }) => name)),
      forks: harness.forks,
      recoveredMs: endedAt === null ? null : endedAt - begun,
      seconds: (Date.now() - startedAt) / 1000,
    };
  } finally {
    isOver = true;
    await Promise.all(stops.map((stop) => stop()));
    await harness.stop();
  }
};
