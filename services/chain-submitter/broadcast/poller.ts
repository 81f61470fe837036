import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Periodic } from '../../../shared/lib/periodic.ts';
import { inSpan, inTraceOf, linksTo } from '../../../shared/lib/trace.ts';
import type { Network } from '../chain/model/network.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import type { ChainView } from '../chain/token-accounts.ts';
import { changeOf, transition } from '../intents/transition.ts';
import { askEverybody, askWitness, doubt, isBorneOut, type Witness } from './agreement.ts';
import { finalize } from './finality.ts';
import type { Flight, Flights } from './in-flight.ts';
import { confirmedView, isConfirmed, opinionOf, type View } from './model/agreement.ts';
import { fail } from './on-chain-failure.ts';
import { look, type Seen } from './signature-statuses.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  network: Network;
  rpc: Rpc;
  chain: ChainView;
  flights: Flights;
};

/** Pause between looks at what is confirmed and not final, or failed and not final. */
const FINALITY_POLL_MS = 1000;
/** What is watched for finality is looked at together, at these moments: what is final is told in few statements. */
const FINALITY_GRID_MS = 250;
/** Pause while a confirmed transaction is not found: what was forked away should be sent again while it is valid. */
const MISSED_POLL_MS = 250;
/** Looks in a row without a trace of a confirmed transaction, before every provider is asked about a fork. */
const MISSES_BEFORE_FORK = 3;
/** Pause after a look that nobody answered. */
const TROUBLE_MS = 200;
/** Every so many looks all providers are asked and the furthest answer counts: one that lags holds nobody up. */
const ASK_ALL_EVERY = 5;

/** Nothing is looked at while what was seen of it is being written. */
const WHILE_WRITTEN = Number.POSITIVE_INFINITY;

const onGrid = (ms: number): number =>
  Math.ceil((performance.now() + ms) / FINALITY_GRID_MS) * FINALITY_GRID_MS;

/** True when no provider knows the transaction, not even in its history, and all have passed its slot. */
const isForkedAway = async ({ rpc }: Deps, { signature, slot }: Flight): Promise<boolean> => {
  const answers = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  return answers.every(({ slot: seen, statuses }) => statuses[0] === null && seen > (slot ?? 0));
};

const confirm = async (deps: Deps, confirmed: readonly Seen[]): Promise<void> => {
  if (confirmed.length === 0) return;
  try {
    await transition(
      deps,
      'confirm',
      confirmed.map(({ flight }) => changeOf(flight)),
    );
  } catch (error) {
    for (const { flight } of confirmed) flight.pollAt = performance.now() + TROUBLE_MS;
    throw error;
  }
  for (const { flight, views } of confirmed) {
    Object.assign(flight, { phase: 'confirmed', missed: 0, doubtedAt: null });
    // Nobody waits for it: it is looked at with the others.
    flight.pollAt = onGrid(opinionOf(views) === 'finalized' ? 0 : FINALITY_POLL_MS);
  }
  await failpoint('submitter.afterConfirm');
};

/** Pause until a flight that is not confirmed yet is looked at again. */
const again = ({ flights }: Deps, { launchedAt }: Flight): number => {
  const now = performance.now();
  return now + flights.pace.pauseMs(now - launchedAt);
};

/** Confirms what another provider bears out, together with all that is borne out in the same turn. */
const confirmIfBorneOut = async (
  deps: Deps,
  one: Seen,
  { asked, lookedAt, looks }: { asked: Promise<Witness> | undefined; lookedAt: number; looks: Looks },
): Promise<void> => {
  const { flight } = one;
  let agreed = false;
  try {
    agreed = await isBorneOut(deps, one, asked);
  } finally {
    if (!agreed) flight.pollAt = again(deps, flight);
  }
  if (!agreed || !deps.flights.isCurrent(flight) || flight.phase !== 'sent') return;
  if (flight.wire.length > 0) deps.flights.pace.learn(lookedAt - flight.launchedAt);
  // The slot that was borne out, whatever else a view says.
  flight.slot = confirmedView(one.views)!.status!.slot;
  looks.borneOut.push(one);
  if (looks.borneOut.length > 1) return;
  await Promise.resolve();
  await confirm(deps, looks.borneOut.splice(0));
};

/** A confirmed transaction that is proven to be gone: the same bytes again, on the same intent (rule 14). */
const reopenIfGone = async (deps: Deps, flight: Flight): Promise<void> => {
  if (!(await isForkedAway(deps, flight))) return;
  deps.logger.error({ intent: flight.intent.intent_id, tx: flight.signature }, 'forked away, driven again');
  // The flight changes after the record: while that is away it stays what the record says.
  await transition(deps, 'fork', [changeOf({ ...flight, slot: null })]);
  count('settle.chain.forks', 1);
  Object.assign(flight, {
    phase: 'sent',
    slot: null,
    missed: 0,
    processed: false,
    doubtedAt: null,
    pollAt: 0,
    sendAt: 0,
    launchedAt: performance.now(),
  });
};

/**
 * Takes up one payment beside the looks. It asks providers on its own, and one that hangs, or does not answer, must hold up
 * nobody else's confirmation.
 */
const aside = async (flight: Flight, work: () => Promise<void>): Promise<void> => {
  flight.pollAt = WHILE_WRITTEN;
  try {
    await work();
  } finally {
    if (flight.pollAt === WHILE_WRITTEN) flight.pollAt = performance.now() + MISSED_POLL_MS;
  }
};

/** Takes note of where a transaction is confirmed, as far as those agree who say so. */
const seeConfirmed = ({ rpc }: Deps, flight: Flight, views: readonly View[]): void => {
  const confirmed = views.filter(isConfirmed);
  for (const { provider, status } of confirmed) rpc.see(provider, status!.slot);
  const [slot, ...others] = new Set(confirmed.map(({ status }) => status!.slot));
  // What was forked away and landed again, unnoticed between two looks, is in another slot now.
  if (slot !== undefined && others.length === 0) flight.slot = slot;
};

/** What was seen of what waits for its confirmation. */
const judgeSent = (
  deps: Deps,
  seen: readonly Seen[],
  {
    lookedAt,
    looks,
    witnesses,
  }: { lookedAt: number; looks: Looks; witnesses: ReadonlyMap<Flight, Promise<Witness>> },
): void => {
  for (const one of seen) {
    const { flight, views } = one;
    const opinion = opinionOf(views);
    flight.pollAt = again(deps, flight);
    if (opinion === 'confirmed' || opinion === 'finalized') {
      seeConfirmed(deps, flight, views);
      flight.pollAt = WHILE_WRITTEN;
      // The next look waits for no commit of this one.
      looks.write(confirmIfBorneOut(deps, one, { asked: witnesses.get(flight), lookedAt, looks }));
    } else if (opinion === 'processed') {
      flight.processed = true;
      if (views.some(({ status }) => status?.err)) flight.pollAt = onGrid(FINALITY_POLL_MS);
    } else if (opinion === 'failed' || opinion === 'contradiction') {
      flight.pollAt = onGrid(FINALITY_POLL_MS);
      const all = () =>
        deps.rpc.providers.length === 1 ? Promise.resolve([...views]) : askEverybody(deps, flight);
      looks.write(aside(flight, async () => fail(deps, flight, await all(), onGrid(FINALITY_POLL_MS))));
    }
  }
};

/** What every provider says of what is confirmed and not final. */
const judgeConfirmed = async (deps: Deps, seen: readonly Seen[], looks: Looks): Promise<void> => {
  const final: Flight[] = [];
  for (const { flight, views } of seen) {
    const opinion = opinionOf(views);
    flight.pollAt = onGrid(FINALITY_POLL_MS);
    if (opinion === 'unknown') {
      flight.missed += 1;
      flight.pollAt = performance.now() + MISSED_POLL_MS;
      if (flight.missed >= MISSES_BEFORE_FORK) looks.write(aside(flight, () => reopenIfGone(deps, flight)));
    } else if (opinion === 'failed' || opinion === 'contradiction') {
      looks.write(aside(flight, () => fail(deps, flight, views, onGrid(FINALITY_POLL_MS))));
    } else if (opinion !== 'processed') {
      flight.missed = 0;
      seeConfirmed(deps, flight, views);
      if (opinion === 'finalized') final.push(flight);
      else if (views.some(({ status }) => status?.confirmationStatus === 'finalized'))
        doubt(deps, flight, views);
      else flight.doubtedAt = null;
    }
  }
  if (final.length > 0) await finalize(deps, final);
};

/** Those of them that are still what they were when the look began. */
const current = ({ flights }: Deps, seen: readonly Seen[], phase: Flight['phase']): Seen[] =>
  seen.filter(({ flight }) => flights.isCurrent(flight) && flight.phase === phase);

/** Looks at what is confirmed: every provider has to say that it is final, and nobody waits for one that hangs. */
const lookEverywhere = async (deps: Deps, flights: readonly Flight[], looks: Looks): Promise<void> => {
  for (const flight of flights) flight.pollAt = WHILE_WRITTEN;
  try {
    const seen = await look(deps, flights, 'every');
    await judgeConfirmed(deps, current(deps, seen, 'confirmed'), looks);
  } finally {
    for (const flight of flights)
      if (flight.pollAt === WHILE_WRITTEN) flight.pollAt = onGrid(FINALITY_POLL_MS);
  }
};

const MAX_LINKS = 32;

/**
 * A look for many payments stands in the trace of the first that waits for it, with links to those of the others.
 * Waiting for finality, after the payer has its answer, is in none.
 */
const traced = <T>(flights: readonly Flight[], work: () => Promise<T>): Promise<T> => {
  const waiting = flights.flatMap(({ phase, intent }) =>
    phase === 'sent' && intent.traceparent !== null ? [intent.traceparent] : [],
  );
  const [first, ...others] = waiting;
  if (first === undefined) return work();
  const links = linksTo(others.slice(0, MAX_LINKS));
  const attributes = { 'quittance.transactions': flights.length };
  return inTraceOf(first, () =>
    inSpan('look at the chain', { kind: SpanKind.INTERNAL, links, attributes }, work),
  );
};

/** The looks of one process. */
export type Looks = {
  /** Those that found something to look at. */
  count: number;
  /** Takes what a look writes while the next one may begin. */
  write: (work: Promise<void>) => void;
  /** What is confirmed with the present turn. */
  borneOut: Seen[];
};

/** @param write takes what a look writes */
export const createLooks = (write: Looks['write']): Looks => ({ count: 0, write, borneOut: [] });

/** At most so many transactions are read beside one look. */
const MAX_WITNESSES = 32;

/**
 * Asks for what a confirmation needs besides the status in the same moment as the status: of those that have been
 * processed, which a moment later are confirmed.
 */
const askWitnesses = (deps: Deps, flights: readonly Flight[]): Map<Flight, Promise<Witness>> => {
  const { providers } = deps.rpc;
  const soon = providers.length === 1 ? [] : flights.filter(({ processed }) => processed);
  const asked = soon.slice(0, MAX_WITNESSES).map((flight) => {
    const witness = askWitness(deps, flight, providers[0]!.number);
    // Asked for once more where it is needed.
    return [flight, witness.catch(() => null)] as const;
  });
  return new Map(asked);
};

/** Looks once at what is due. */
export const pollDue = async (deps: Deps, looks: Looks): Promise<void> => {
  const now = performance.now();
  const inAir = deps.flights.inAir().filter(({ pollAt }) => pollAt !== WHILE_WRITTEN);
  const due = inAir.filter(({ pollAt }) => pollAt <= now);
  if (due.length === 0) return;
  looks.count += 1;
  const alone = deps.rpc.providers.length === 1;
  const dueConfirmed = due.filter(({ phase }) => phase === 'confirmed');
  if (!alone && dueConfirmed.length > 0) looks.write(lookEverywhere(deps, dueConfirmed, looks));
  // What is only unconfirmed costs nothing more in the same call, and hears of its luck earlier.
  const sent = due.some(({ phase }) => phase === 'sent') ? inAir.filter(({ phase }) => phase === 'sent') : [];
  const shared = alone ? [...sent, ...dueConfirmed] : sent;
  if (shared.length === 0) return;
  await traced(shared, async () => {
    const witnesses = askWitnesses(deps, sent);
    const seen = await look(deps, shared, !alone && looks.count % ASK_ALL_EVERY === 0 ? 'soon' : 'first');
    judgeSent(deps, current(deps, seen, 'sent'), { lookedAt: now, looks, witnesses });
    if (alone) await judgeConfirmed(deps, current(deps, seen, 'confirmed'), looks);
  });
};

/**
 * Watches everything in flight: one batched status call for all of it, as soon as something is due.
 * @param leastPauseMs between two looks, so that a burst shares one call, and a provider's rate limit is kept
 */
export const startPolling = (deps: Deps, leastPauseMs: number): Periodic => {
  const { flights, logger } = deps;
  let stopping = false;
  let lookedAt = 0;
  let nextAt = 0;
  let wake = new AbortController();
  const writing = new Set<Promise<void>>();
  const looks = createLooks((work) => {
    const written = work
      .catch((error: unknown) => logger.warn({ err: error }, 'what was seen could not be written'))
      .finally(() => {
        writing.delete(written);
        // It has a next look again. Writes of one look end together: one of them wakes, since each
        // abort makes an error with its stack.
        if (!wake.signal.aborted) wake.abort();
      });
    writing.add(written);
  });
  const notBefore = (at: number): number => Math.max(at, lookedAt + flights.pace.leastPauseMs(leastPauseMs));
  flights.onWake((pollAt) => {
    if (notBefore(pollAt) < nextAt) wake.abort();
  });

  const round = async () => {
    wake = new AbortController();
    const now = performance.now();
    nextAt = notBefore(Math.min(...flights.inAir().map(({ pollAt }) => pollAt), now + 60_000));
    // Woken means new bytes: how long to pause is worked out anew.
    if (nextAt > now && !(await sleep(nextAt - now, true, { signal: wake.signal }).catch(() => false)))
      return;
    lookedAt = performance.now();
    await pollDue(deps, looks);
  };

  const loop = async () => {
    while (!stopping) {
      await round().catch(async (error: unknown) => {
        logger.warn({ err: error }, 'statuses could not be read');
        await sleep(TROUBLE_MS);
      });
    }
  };
  const running = loop();
  return {
    stop: async () => {
      stopping = true;
      wake.abort();
      await running;
      await Promise.all(writing);
    },
  };
};
