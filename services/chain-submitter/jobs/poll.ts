import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { Periodic } from '../../../shared/lib/periodic.ts';
import { inSpan, inTraceOf, linksTo } from '../../../shared/lib/trace.ts';
import type { Deps } from '../deps.ts';
import { otherFailure, settleFailure } from '../domain/failure.ts';
import type { Flight } from '../flights.ts';
import { move, stepOf } from '../moves.ts';
import type { SignatureStatus } from '../rpc.ts';
import { finalize } from './finalize.ts';

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

const RANK = { processed: 1, confirmed: 2, finalized: 3 } as const;
const rank = (status: SignatureStatus): number =>
  status === null ? 0 : RANK[status.confirmationStatus ?? 'finalized'];

const onGrid = (ms: number): number =>
  Math.ceil((performance.now() + ms) / FINALITY_GRID_MS) * FINALITY_GRID_MS;

type Seen = { flight: Flight; status: SignatureStatus };

/** Statuses of all given flights in as few calls as there are. */
const look = async ({ rpc }: Deps, flights: readonly Flight[], all: boolean): Promise<Seen[]> => {
  const signatures = flights.map(({ signature }) => signature);
  // One that landed may be older than a node's short memory, after a standstill of ours; the search is dear.
  const history = flights.some(({ missed }) => missed > 0);
  if (!all || rpc.providers.length === 1) {
    const { statuses } = await rpc.first((provider) => provider.statuses(signatures, { history }));
    return flights.map((flight, index) => ({ flight, status: statuses[index] ?? null }));
  }
  const answers = await rpc.soon((provider) => provider.statuses(signatures, { history }));
  if (answers.length === 0) return [];
  return flights.map((flight, index) => ({
    flight,
    status: answers
      .map(({ statuses }) => statuses[index] ?? null)
      .reduce((furthest, status) => (rank(status) > rank(furthest) ? status : furthest), null),
  }));
};

/** True when no provider knows the transaction, not even in its history, and all have passed its slot. */
const isForkedAway = async ({ rpc }: Deps, { signature, slot }: Flight): Promise<boolean> => {
  const answers = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  return answers.every(({ slot: seen, statuses }) => statuses[0] === null && seen > (slot ?? 0));
};

const confirm = async (deps: Deps, seen: readonly Seen[]): Promise<void> => {
  for (const { status } of seen) deps.rpc.see(status!.slot);
  try {
    await move(
      deps,
      'confirm',
      seen.map(({ flight }) => stepOf(flight)),
    );
  } catch (error) {
    for (const { flight } of seen) flight.pollAt = performance.now() + TROUBLE_MS;
    throw error;
  }
  for (const { flight, status } of seen) {
    flight.phase = 'confirmed';
    flight.missed = 0;
    // Nobody waits for it: it is told with the others.
    flight.pollAt = onGrid(status!.confirmationStatus === 'finalized' ? 0 : FINALITY_POLL_MS);
  }
  await failpoint('submitter.afterConfirm');
};

/** A confirmed transaction that is proven to be gone: the same bytes again, on the same intent (rule 14). */
const reopenIfGone = async (deps: Deps, flight: Flight): Promise<void> => {
  if (!(await isForkedAway(deps, flight))) return;
  deps.logger.error({ intent: flight.intent.intent_id, tx: flight.signature }, 'forked away, driven again');
  // The flight changes after the record: while that is away it stays what the record says.
  await move(deps, 'fork', [stepOf({ ...flight, slot: null })]);
  count('settle.chain.forks', 1);
  Object.assign(flight, {
    phase: 'sent',
    slot: null,
    missed: 0,
    pollAt: 0,
    sendAt: 0,
    launchedAt: performance.now(),
  });
};

/** Failed on chain and finalized: proven, so it may be told (rules 14 and 15). */
const fail = async (deps: Deps, { flight, status }: Seen): Promise<void> => {
  const { order, phase, intent } = flight;
  const failure =
    order?.kind === 'settle'
      ? settleFailure(status!.err!, (await deps.chain.tokenAccount(order.payer)).account, order)
      : otherFailure(intent.kind, status!.err!);
  if (phase === 'confirmed') await move(deps, 'fork', [stepOf(flight)]);
  await move(deps, 'fail', [{ ...stepOf(flight), failure }]);
  deps.flights.end(intent.intent_id);
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

/** @param lookedAt when the look began: what was seen is at least as old */
const judge = async (
  deps: Deps,
  seen: readonly Seen[],
  { lookedAt, looks }: { lookedAt: number; looks: Looks },
): Promise<void> => {
  const now = performance.now();
  const current = seen.filter(({ flight }) => deps.flights.isCurrent(flight));
  const confirmed: Seen[] = [];
  const final: Flight[] = [];
  for (const { flight, status } of current) {
    const level = rank(status);
    flight.pollAt =
      flight.phase === 'sent' && !status?.err
        ? now + deps.flights.pace.pauseMs(now - flight.launchedAt)
        : onGrid(FINALITY_POLL_MS);
    if (status === null) {
      if (flight.phase === 'sent') continue;
      flight.missed += 1;
      flight.pollAt = now + MISSED_POLL_MS;
      if (flight.missed >= MISSES_BEFORE_FORK) looks.write(aside(flight, () => reopenIfGone(deps, flight)));
    } else if (status.err !== null) {
      if (level === RANK.finalized) looks.write(aside(flight, () => fail(deps, { flight, status })));
    } else if (level >= RANK.confirmed) {
      flight.missed = 0;
      // What was forked away and landed again, unnoticed between two looks, is in another slot now.
      flight.slot = status.slot;
      if (flight.phase === 'sent') confirmed.push({ flight, status });
      else if (level === RANK.finalized) final.push(flight);
    }
  }
  if (confirmed.length > 0) {
    for (const { flight } of confirmed) {
      if (flight.wire.length > 0) deps.flights.pace.learn(lookedAt - flight.launchedAt);
      flight.pollAt = WHILE_WRITTEN;
    }
    // The next look waits for no commit of this one.
    looks.write(confirm(deps, confirmed));
  }
  if (final.length > 0) await finalize(deps, final);
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
};

/** Looks once at what is due. */
export const pollDue = async (deps: Deps, looks: Looks): Promise<void> => {
  const now = performance.now();
  const inAir = deps.flights.inAir().filter(({ pollAt }) => pollAt !== WHILE_WRITTEN);
  const due = inAir.filter(({ pollAt }) => pollAt <= now);
  if (due.length === 0) return;
  // What is only unconfirmed costs nothing more in the same call, and hears of its luck earlier.
  const shared = due.some(({ phase }) => phase === 'sent')
    ? inAir.filter(({ phase, pollAt }) => phase === 'sent' || pollAt <= now)
    : due;
  looks.count += 1;
  await traced(shared, async () => {
    const seen = await look(deps, shared, looks.count % ASK_ALL_EVERY === 0);
    await judge(deps, seen, { lookedAt: now, looks });
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
  const looks: Looks = {
    count: 0,
    write: (work) => {
      const written = work
        .catch((error: unknown) => logger.warn({ err: error }, 'what was seen could not be written'))
        .finally(() => {
          writing.delete(written);
          // It has a next look again.
          wake.abort();
        });
      writing.add(written);
    },
  };
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
