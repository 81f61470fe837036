import { setTimeout as sleep } from 'node:timers/promises';
import { replicas } from '../../deploy/local/stack/programs.ts';
import { startCheckedLoad } from './checked-load.ts';
import { type ClientLog, spanOf } from './client-log.ts';
import { allFaults, chooseFaults } from './faults/index.ts';
import { startHarness } from './harness.ts';
import type { Break } from './invariants.ts';
import type { Mutation } from './mutations.ts';
import type { Terminal } from './recovery.ts';
import { createRng } from './rng.ts';
import { schedule } from './schedule.ts';

export type Options = {
  stateDir: string;
  seconds: number;
  /** The run goes on until it has had this many faults. A busy machine has fewer in a second. */
  leastFaults?: number;
  /** Names, or beginnings of names. Without names all faults. */
  faults: readonly string[];
  seed: number;
  slotMs?: number;
  /** The number of processes of each service. The default is two for some of them. */
  replicas?: number;
  /** Payments that begin per second. */
  perSecond?: number;
  payers?: number;
  vendors?: number;
  /** How soon after the heal everything must be terminal. */
  terminalMs?: number;
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
  attempts: number;
  paid: number;
  answers: number;
  redeemed: number;
  /**
   * What clients were refused: how many refusals there were, how many denied that money moved, and
   * how many named a settlement.
   */
  refusals: { all: number; no: number; named: number };
  hedged: ClientLog['hedged'];
  terminal: Terminal;
};

/** How long the effects of a fault are attributed to it. */
const AFTERMATH_MS = 1500;

/** Runs one campaign over a separate stack and checks the invariants. */
export const runCampaign = async (options: Options): Promise<Report> => {
  const {
    stateDir,
    seconds,
    leastFaults = 0,
    seed,
    print,
    slotMs = 100,
    replicas: count,
    perSecond = 15,
    payers = 8,
    vendors = 3,
    terminalMs,
  } = options;
  const rng = createRng(seed);
  const startedAt = Date.now();
  const at = () => `${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s`;
  const say = (line: string) => print(`${at()}  ${line}`);

  const harness = await startHarness({
    stateDir,
    slotMs,
    instances: count === undefined ? undefined : replicas(count),
    mutation: options.mutation,
    print: () => {},
  });
  try {
    const noticed: Break[] = [];
    const load = await startCheckedLoad(harness, { payers, vendors, perSecond, rng, terminalMs, say });
    const { clientLog, client, actors } = load;
    const fixture = { harness, clientLog, client, actors, breaks: noticed };
    const faults = chooseFaults(allFaults(fixture), options.faults);
    say(`the stack runs: ${payers} payers pay ${vendors} vendors, ${faults.length} faults for ${seconds} s`);

    const events: Event[] = [];
    const missed: string[] = [];
    const deadline = Date.now() + seconds * 1000;
    for (const { fault, own } of schedule(faults, rng)) {
      if (Date.now() >= deadline && events.length >= leastFaults) break;
      const from = Date.now();
      const heal = await fault.inject(own);
      if (heal === null) missed.push(fault.name);
      else {
        const { attempts, paid } = clientLog.counts();
        say(`${fault.name.padEnd(40)} ${attempts} attempts, ${paid} paid`);
        await sleep(own.int(...fault.holdMs));
        await heal();
        events.push({ fault: fault.name, from, to: Date.now() + AFTERMATH_MS });
      }
      await sleep(own.int(0, 500));
    }

    const { breaks: found, terminal } = await load.conclude({
      forks: () => harness.forks,
      healed: () => harness.healthy(),
    });
    const breaks = [...noticed, ...found];
    const within = ({ from, to }: Event, [first, last]: [number, number]) => first <= to && last >= from;
    const spans = clientLog.attempts.map(spanOf);
    const paidSpans = clientLog.attempts.filter(({ outcome }) => outcome === 'paid').map(spanOf);
    const broken = breaks.flatMap(({ attempt }) => (attempt ? [spanOf(attempt)] : []));
    const rows = faults.map(({ name }): Row => {
      const own = events.filter(({ fault }) => fault === name);
      const count = (list: [number, number][]) =>
        list.filter((span) => own.some((event) => within(event, span))).length;
      return {
        fault: name,
        events: own.length,
        missed: missed.filter((one) => one === name).length,
        payments: count(spans),
        paid: count(paidSpans),
        breaks: count(broken),
      };
    });
    return {
      rows,
      breaks,
      ...clientLog.counts(),
      redeemed: clientLog.redeemed.length,
      refusals: {
        all: clientLog.refusals.length,
        no: clientLog.refusals.filter(({ moneyMoved }) => moneyMoved === 'no').length,
        named: clientLog.refusals.filter(({ settlementId }) => settlementId !== undefined).length,
      },
      hedged: clientLog.hedged,
      terminal,
    };
  } finally {
    await harness.stop();
  }
};
