import { setTimeout as sleep } from 'node:timers/promises';
import { replicas } from '../../deploy/local/stack/programs.ts';
import type { Break, TrafficName } from './break.ts';
import { type CheckedLoad, type Outcome, startCheckedLoad } from './checked-load.ts';
import { countsOf } from './checks/counts.ts';
import { openInbox } from './checks/sent-webhooks.ts';
import { recordDeaths } from './deaths.ts';
import type { Fault } from './fault.ts';
import { chooseFaults, faultsOf } from './faults/index.ts';
import { type Harness, startHarness } from './harness.ts';
import type { Mutation } from './mutations/mutation.ts';
import type { Terminal } from './recovery.ts';
import { createRng, type Rng } from './rng.ts';
import { schedule } from './schedule.ts';
import type { Traffic } from './traffic.ts';

export type Options = {
  stateDir: string;
  /** The payments that are made beside one another. */
  traffic: readonly Traffic[];
  /** Names, or beginnings of names. Without names all faults. */
  faults: readonly string[];
  /** The faults last at least so long. */
  seconds: number;
  /** The faults go on until each of them has happened once, however long that takes. */
  everyFault?: boolean;
  /**
   * The faults go on until so many payments of each kind have begun and half as many have
   * succeeded, or ten times as many were tried.
   */
  leastPayments?: Readonly<Record<TrafficName, number>>;
  seed: number;
  slotMs?: number;
  /** The longest pause between two faults. A restart costs more CPU than many payments. */
  pauseMs?: number;
  /** The number of processes of each service. The default is two for some of them. */
  replicas?: number;
  /** The share of the payments without an answer that nobody asks about after the faults. */
  abandoned?: number;
  /** How soon after the heal everything must be terminal. */
  terminalMs?: number;
  /** Each service can be restarted in another version (`two-versions`). */
  versions?: 'short' | 'whole' | undefined;
  /** A rule to switch off. The campaign must then find a break. */
  mutation?: Mutation;
  print: (line: string) => void;
};

/** One fault of the schedule as it happened. */
type Event = { fault: string; from: number; to: number };

export type Row = {
  fault: string;
  events: number;
  missed: number;
  payments: number;
  paid: number;
  breaks: number;
};
export type Report = {
  rows: Row[];
  breaks: Break[];
  outcomes: Outcome[];
  deaths: Record<string, number>;
  forks: number;
  terminal: Terminal;
  seconds: number;
};

/** How long the effects of a fault are attributed to it. */
const AFTERMATH_MS = 1500;
const KILL_MS = [500, 7000] as const;
const HEALS = 3;
const POLL_MS = 100;
const MOST_TIMES_LEAST = 10;

/** @returns a wait until another payment has succeeded, or `isOver` */
const createNextPayment = ({ kinds }: CheckedLoad) => {
  const paid = () => kinds.reduce((sum, { clients }) => sum + clients.counts().paid, 0);
  return async (isOver: () => boolean): Promise<void> => {
    const before = paid();
    while (paid() === before && !isOver()) await sleep(POLL_MS);
  };
};

/**
 * Kills a process of the payment path at random moments, beside the fault of the schedule. Every
 * other time, on average, a payment must have succeeded since the last one: on a busy machine a
 * process starts for longer than the moments are apart.
 */
const startKilling = (
  harness: Harness,
  {
    traffic,
    rng,
    nextPayment,
  }: { traffic: readonly Traffic[]; rng: Rng; nextPayment: ReturnType<typeof createNextPayment> },
) => {
  const names = harness.names.filter((name) => traffic.some(({ victims }) => victims?.test(name)));
  const state = { isOver: names.length === 0, isPaused: false };
  let kill: Promise<unknown> = Promise.resolve();
  const loop = async () => {
    while (!state.isOver) {
      if (!state.isPaused) {
        kill = harness.kill(rng.pick(names));
        await kill;
      }
      await sleep(rng.int(...KILL_MS));
      if (rng.chance(0.5)) await nextPayment(() => state.isOver);
    }
  };
  const killing = loop();
  return {
    /** No process is killed while a fault needs that. */
    pause: async (isPaused: boolean): Promise<void> => {
      state.isPaused = isPaused;
      await kill;
    },
    stop: async (): Promise<void> => {
      state.isOver = true;
      await killing;
    },
  };
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

const progressOf = ({ kinds }: CheckedLoad): string =>
  kinds
    .map(({ name, clients }) => {
      const { begun, paid } = clients.counts();
      return `${name} ${paid} of ${begun}`;
    })
    .join(', ');

/** Injects faults, one after the other, until the run has had its time, faults and payments. */
const injectFaults = async (
  faults: readonly Fault[],
  {
    load,
    rng,
    killing,
    nextPayment,
    say,
    seconds,
    everyFault = false,
    pauseMs = 500,
    leastPayments,
  }: Pick<Options, 'seconds' | 'everyFault' | 'leastPayments' | 'pauseMs'> & {
    load: CheckedLoad;
    rng: Rng;
    killing: ReturnType<typeof startKilling>;
    nextPayment: ReturnType<typeof createNextPayment>;
    say: (line: string) => void;
  },
): Promise<{ events: Event[]; missed: string[] }> => {
  const events: Event[] = [];
  const missed: string[] = [];
  const deadline = Date.now() + seconds * 1000;
  const hasHappened = ({ name }: Fault) => events.some(({ fault }) => fault === name);
  const hasPayments = () =>
    load.kinds.every(({ name, clients }) => {
      const { begun, paid, tried } = clients.counts();
      const least = leastPayments?.[name] ?? 0;
      return (begun >= least && paid > least / 2) || tried >= least * MOST_TIMES_LEAST;
    });
  for (const { fault, own } of schedule(faults, rng)) {
    const isLate = Date.now() >= deadline;
    const hasFaults = !everyFault || faults.every(hasHappened);
    if (isLate && hasFaults && hasPayments()) break;
    // Only what is missing extends the run.
    if (isLate && !hasFaults && hasHappened(fault)) continue;
    if (isLate && hasFaults) await nextPayment(hasPayments);
    if (fault.isAlone) await killing.pause(true);
    const from = Date.now();
    const heal = await fault.inject(own);
    if (heal === null) missed.push(fault.name);
    else {
      say(`${fault.name.padEnd(40)} ${progressOf(load)}`);
      await sleep(own.int(...fault.holdMs));
      await untilHealed(heal);
      events.push({ fault: fault.name, from, to: Date.now() + AFTERMATH_MS });
    }
    if (fault.isAlone) await killing.pause(false);
    await sleep(own.int(0, pauseMs));
  }
  return { events, missed };
};

/** What happened under each fault. */
const rowsOf = (
  faults: readonly Fault[],
  { events, missed, load, breaks }: { events: Event[]; missed: string[]; load: CheckedLoad; breaks: Break[] },
): Row[] => {
  const missedTimes = countsOf(missed);
  const spans = load.kinds.flatMap(({ clients }) => clients.spans());
  const broken = breaks.flatMap(({ span }) => (span ? [{ from: span[0], to: span[1] }] : []));
  return faults.map(({ name }): Row => {
    const own = events.filter(({ fault }) => fault === name);
    const count = (list: readonly { from: number; to: number }[]) =>
      list.filter(({ from, to }) => own.some((event) => from <= event.to && to >= event.from)).length;
    return {
      fault: name,
      events: own.length,
      missed: missedTimes[name] ?? 0,
      payments: count(spans),
      paid: count(spans.filter(({ isPaid }) => isPaid)),
      breaks: count(broken),
    };
  });
};

/** Runs one campaign over a separate stack and checks the invariants. */
export const runCampaign = async (options: Options): Promise<Report> => {
  const { stateDir, traffic, seed, print, slotMs = 100, replicas: count, mutation, versions } = options;
  const rng = createRng(seed);
  const startedAt = Date.now();
  const elapsed = () => (Date.now() - startedAt) / 1000;
  const say = (line: string) => print(`${elapsed().toFixed(1).padStart(6)} s  ${line}`);

  const instances = count === undefined ? undefined : replicas(count);
  const harness = await startHarness({ stateDir, slotMs, instances, mutation, versions, print: () => {} });
  const stops: (() => Promise<unknown>)[] = [];
  try {
    const { abandoned, terminalMs } = options;
    const load = await startCheckedLoad(harness, {
      ...{ traffic, rng, abandoned, terminalMs, inbox: openInbox, say },
    });
    stops.push(load.stop);
    const faults = chooseFaults(
      [
        ...faultsOf(
          harness,
          load.redeemed,
          traffic.map(({ name }) => name),
        ),
        ...load.kinds.flatMap(({ clients }) => clients.faults?.(harness) ?? []),
      ],
      options.faults,
    );
    const { deaths, stop } = recordDeaths(harness);
    const nextPayment = createNextPayment(load);
    const killing = startKilling(harness, { traffic, rng: rng.fork(-10), nextPayment });
    stops.push(stop, killing.stop);
    for (const { name, clients } of load.kinds) say(`${name}: ${clients.about}`);

    const injected = await injectFaults(faults, { ...options, load, rng, killing, nextPayment, say });
    await killing.stop();
    await harness.healthy();
    const { breaks, outcomes, terminal } = await load.conclude(() => ({ forks: harness.forks, deaths }));
    return {
      rows: rowsOf(faults, { ...injected, load, breaks }),
      breaks,
      outcomes,
      deaths: countsOf(deaths.map(({ name }) => name)),
      forks: harness.forks,
      terminal,
      seconds: elapsed(),
    };
  } finally {
    await Promise.all(stops.map((stop) => stop()));
    await harness.stop();
  }
};
