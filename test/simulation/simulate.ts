import { createBus } from './bus.ts';
import { createChain, readPayment } from './chain.ts';
import { chooseBy } from './choose-by.ts';
import { createClients, createQuote } from './clients.ts';
import { createDatabase } from './database.ts';
import { type FundingReplica, startFunding } from './funding.ts';
import { createFundingTables } from './funding-tables.ts';
import { Broken, createHarness, type Faults, type Process, type Rule } from './harness.ts';
import { createIncoming } from './incoming.ts';
import { incomingIntentModels } from './incoming-intents.ts';
import { createIncomingTables } from './incoming-tables.ts';
import { checkEnd, checkStep, isAtRest, isFinal, type Judged } from './invariants.ts';
import {
  createWaiters,
  type SettlementReplica,
  type Submitter,
  startSettlement,
  startSubmitter,
} from './processes.ts';
import { createVendor } from './refunds.ts';
import { restore } from './restore.ts';
import { createSettlementTables } from './settlement-tables.ts';
import { openShadows } from './sql/shadow.ts';
import { fundingViews, settlementViews, submitterViews } from './sql/views.ts';
import { createSubmitterTables } from './submitter-tables.ts';
import { drain, openAccounts, profilesOf } from './surroundings.ts';
import { chooseTraffic, createTraffic } from './traffic.ts';

const QUIET: Faults = {
  loss: 0,
  repeat: 0,
  slow: 0,
  crash: 0,
  sleep: 0,
  lostAnswer: 0,
  rpcError: 0,
  rpcLie: 0,
  dropped: 0,
  late: 0,
  skew: 0,
};
/**
 * Faults last this long, some of them so long that blockhashes expire. Afterwards everything has
 * this long to become final.
 */
const FAULTS_MS = 60_000;
const LONG_FAULTS_MS = 180_000;
const HEAL_MS = 400_000;

export type Outcome = {
  seed: number;
  broken: { invariant: string; message: string } | null;
  trace: readonly string[];
  payments: number;
  /** The refusals that clients got, each compared with the final ledger. */
  refusals: number;
  refunds: number;
  /** The statements that were compared with Postgres. */
  statements: number;
  virtualMs: number;
};

/**
 * One run. Everything that happens follows from the seed. `off`: the rule that a mutation switches
 * off.
 */
export const simulate = async (
  seed: number,
  { off = null, traced = false, sql = false }: { off?: Rule | null; traced?: boolean; sql?: boolean } = {},
): Promise<Outcome> => {
  const faults: Faults = { ...QUIET };
  const harness = createHarness(seed, { off, faults });
  const { random } = harness;
  const mild = (most: number) => (random.chance(0.6) ? random.between(0, most) : 0);
  Object.assign(faults, {
    loss: mild(0.5),
    repeat: mild(0.5),
    slow: mild(0.5),
    crash: mild(0.02),
    // These rules matter only when a process pauses for a minute right before a commit or a call,
    // which is too rare to happen by chance.
    sleep: mild(off === 'signing deadline' || off === 'incoming: tombstone' ? 0.06 : 0.01),
    lostAnswer: mild(0.05),
    rpcError: mild(0.2),
    rpcLie: mild(0.3),
    dropped: mild(0.5),
    late: mild(0.5),
    skew: random.chance(0.25) ? 0.5 : 0,
  } satisfies Faults);

  const chain = createChain(harness);
  const bus = createBus(harness);
  const submitterTables = createSubmitterTables(harness, {
    sendEarly: (wire) => chain.accept(readPayment(wire)),
  });
  const settlementTables = createSettlementTables(harness);
  const incomingTables = createIncomingTables(harness, settlementTables);
  const fundingTables = createFundingTables(harness);
  const shadows = sql ? await openShadows(harness) : null;
  if (shadows !== null) harness.replayWith(shadows.replay);
  const databases = {
    funding: createDatabase(harness, 'funding', {
      models: fundingTables.models,
      shadow: await shadows?.open('funding', fundingViews(fundingTables)),
    }),
    submitter: createDatabase(harness, 'submitter', {
      models: [...submitterTables.models, ...incomingIntentModels(harness, submitterTables)],
      shadow: await shadows?.open('chain-submitter', submitterViews(submitterTables)),
    }),
    settlement: createDatabase(harness, 'settlement', {
      models: [...settlementTables.models, ...incomingTables.models],
      shadow: await shadows?.open('settlement', settlementViews(settlementTables)),
    }),
  };
  const faultsMs = random.chance(0.2) ? LONG_FAULTS_MS : FAULTS_MS;
  const profiles = profilesOf(random.int(0, 6), random.chance(0.5), random.int(2, 60), faultsMs);
  let undisturbed = true;
  let hasForks = false;
  const incoming = createIncoming(harness, {
    ...{ seed, faultsMs, chain, tables: incomingTables, submitter: submitterTables },
    ...{ settlement: settlementTables, database: databases.settlement, hasForks: () => hasForks },
  });
  const submitters: Submitter[] = [];
  const replicas: SettlementReplica[] = [];
  const fundings: FundingReplica[] = [];
  const waiters = createWaiters(harness);
  let born = 0;
  const processOf = (kind: string): Process => ({
    name: `${kind}-${++born}`,
    alive: true,
    pausedUntil: 0,
    startedAt: harness.now(),
    skewMs: random.chance(harness.faults.skew) ? random.between(-120_000, 120_000) : 0,
  });
  const starts = {
    submitter: (process: Process) => {
      const database = databases.submitter;
      const own = { process, database, tables: submitterTables, profiles };
      const started = startSubmitter({ harness, bus, chain }, own);
      submitters.push(started);
      incoming.onSubmitter(started);
    },
    settlement: (process: Process) => {
      const { outbox } = settlementTables;
      const database = databases.settlement;
      const waiting = waiters(process);
      const started = startSettlement(
        { harness, bus },
        { process, database, outbox, waiting, submitters: () => submitters, choices },
      );
      replicas.push(started);
      incoming.onSettlement(started);
    },
    funding: (process: Process) => {
      const { outbox } = fundingTables;
      const database = databases.funding;
      const others = { submitters: () => submitters, settlements: () => replicas };
      fundings.push(
        startFunding({ harness, bus }, { process, database, outbox, waiting: waiters(process), ...others }),
      );
    },
  };
  const start = (kind: keyof typeof starts) => starts[kind](processOf(kind));
  harness.onCrash((process) => {
    const kind = process.name.split('-')[0] as keyof typeof starts;
    harness.schedule(random.between(300, 4000), () => start(kind));
  });

  const vendor = createVendor(harness, () => fundings);
  const clients = createClients(harness, {
    replicas: () => replicas,
    onPaid: (paid, attempt) => {
      const { quote } = attempt;
      if (random.chance(0.35) && !quote.hasCeiling)
        vendor.refund(paid.settlement_id, (quote.grossMicro * 99n) / 100n);
      traffic.onPaid(paid, attempt);
    },
  });
  const choices = chooseTraffic(seed, off);
  const traffic = createTraffic(harness, {
    ...{ choices, chain, bus, replicas: () => replicas, clients: () => clients },
    ...{ settlement: settlementTables, submitter: submitterTables },
  });
  openAccounts(chain.accounts, random.int(4, 9));
  traffic.begin();
  for (let quotes = incoming.quotes() ?? random.int(2, 5), number = 0; number < quotes; number++) {
    const begin = random.between(0, 20_000);
    harness.schedule(begin, () => {
      const quote = createQuote(harness, {
        number,
        payer: random.int(0, 2),
        grossMicro: BigInt(random.int(1, 4)) * 1_000_000n,
        livesMs: random.between(3000, 60_000),
        units: choices.units(),
        windowSeconds: choices.windowSeconds(),
      });
      const rivals = random.chance(0.4) ? random.int(2, 4) : 1;
      for (let rival = 0; rival < rivals; rival++) {
        const delayMs = random.chance(0.6) ? random.between(0, 15) : random.between(0, 20_000);
        const { delegates } = settlementTables;
        const { approvalAbove } = choices;
        const by = chooseBy(harness, quote, { delegates, number, isFirst: rival === 0, approvalAbove });
        clients.begin(`a${number}.${rival}`, quote, { delayMs, by });
      }
    });
  }

  // This rule matters only when a record is lost after a fork, which is too rare to happen by
  // chance.
  const losesMore = off === 'generation in the job';
  const forks = random.chance(losesMore ? 1 : 0.4) ? random.int(1, 3) : 0;
  for (let fork = 0; fork < forks; fork++) {
    undisturbed = false;
    hasForks = true;
    harness.schedule(random.between(3000, faultsMs), () => chain.fork(random.int(2, 28)));
  }
  if (random.chance(losesMore ? 1 : 0.3)) {
    const lose = () =>
      restore(harness, {
        ...{ submitters, replicas, chain, incoming: incomingTables },
        ...{ submitter: submitterTables, settlement: settlementTables, onLost: traffic.onLost },
      });
    harness.schedule(random.between(5000, faultsMs), lose);
  }
  // Work that waits for the end of a pause meets its deadline at any of its steps.
  if (random.chance(0.15)) {
    const pausedMs = random.between(20_000, 140_000);
    harness.schedule(random.between(0, 20_000), () => submitterTables.pause(pausedMs));
  }
  if (random.chance(0.2)) {
    const database = random.pick([databases.submitter, databases.settlement, databases.funding]);
    harness.schedule(random.between(1000, faultsMs), () => database.kill(random.between(100, 20_000)));
  }
  if (random.chance(0.3)) {
    const wiped = random.chance(0.6);
    harness.schedule(random.between(1000, faultsMs), () => bus.kill(random.between(100, 10_000), wiped));
  }
  if (random.chance(0.25)) {
    undisturbed = false;
    harness.schedule(random.between(0, 40_000), () =>
      drain(chain, random.int(0, 2), random.pick(['spends', 'revokes', 'overwrites'])),
    );
  }

  const judged: Judged = {
    chain,
    clients,
    submitter: submitterTables,
    settlement: settlementTables,
    funding: fundingTables,
    vendor,
    paidOut: traffic.paidOut,
    undisturbed,
    awake: () => {
      const since = databases.submitter.upSince();
      return submitters.some(({ process }) => isAwake(process, since, harness.now()));
    },
    now: harness.now,
  };
  const realNow = performance.now;
  performance.now = harness.now;
  let broken: Outcome['broken'] = null;
  try {
    for (let count = 0; count < 2; count++) {
      start('submitter');
      start('settlement');
      start('funding');
    }
    const check = () => {
      checkStep(judged);
      incoming.checkStep();
      traffic.checkStep();
    };
    await harness.run(faultsMs, check);
    Object.assign(faults, QUIET);
    harness.trace('harness', 'faults are over');
    const settled = () =>
      (incoming.isOn || clients.attempts.length > 0) &&
      [clients, vendor, traffic, incoming].every((programs) => programs.isIdle()) &&
      isQuiet(judged) &&
      bus.isEmpty();
    await harness.run(faultsMs + HEAL_MS, check, settled);
    // Time for late events: an inclusion of old bytes, a sweep of final payments.
    await harness.run(harness.now() + 62_000, check, () => chain.isIdle());
    await harness.run(harness.now() + 2000, check);
    for (const attempt of clients.attempts) {
      if (attempt.paid === null) continue;
      let answered = false;
      void clients.ask(attempt).then(() => {
        answered = true;
      });
      await harness.run(harness.now() + 30_000, check, () => answered);
    }
    // A process that resumes only now publishes again what it received before the pause.
    await harness.run(harness.now() + 60_000, check, settled);
    checkEnd(judged);
    incoming.checkEnd();
    traffic.checkEnd();
  } catch (error) {
    const invariant = error instanceof Broken ? error.invariant : 'the code runs';
    broken = { invariant, message: error instanceof Broken ? error.message : String((error as Error).stack) };
    harness.trace('harness', `BROKEN ${broken.message}`);
  } finally {
    performance.now = realNow;
    await shadows?.close();
  }
  const payments = settlementTables.settlements.size;
  return {
    seed,
    broken,
    refusals: clients.refusals.length + incoming.refusals.length,
    refunds: fundingTables.refunds.size,
    trace: broken === null && !traced ? [] : harness.readable(),
    payments,
    statements: shadows?.statements() ?? 0,
    virtualMs: harness.now(),
  };
};

/** A worker has had time to sweep since it and its database started. */
const SWEEP_MS = 15_000;
const isAwake = ({ alive, startedAt, pausedUntil }: Process, since: number, now: number): boolean =>
  alive && Math.max(startedAt, pausedUntil, since) + SWEEP_MS < now;

const isQuiet = ({ submitter, settlement, funding }: Judged): boolean =>
  [...settlement.settlements.values()].every(isFinal) &&
  [...submitter.intents.values()].every(({ status }) => status === 'finalized' || status === 'failed') &&
  [...funding.refunds.values()].every(isAtRest) &&
  submitter.outbox.rows.size + settlement.outbox.rows.size + funding.outbox.rows.size === 0;
