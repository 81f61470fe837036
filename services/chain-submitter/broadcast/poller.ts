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
import { toChange, transition } from '../intents/transition.ts';
import { queryAllProviders, queryWitness, recordDoubt, isCorroborated, type Witness } from './agreement.ts';
import { finalize } from './finality.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';
import { findConfirmedView, isConfirmed, compareViews, type View } from './model/agreement.ts';
import { failIfAgreed } from './on-chain-failure.ts';
import { readStatuses, type Observation } from './signature-statuses.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  network: Network;
  rpc: Rpc;
  chain: ChainView;
  inFlight: InFlightTransactions;
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
const isDroppedByFork = async ({ rpc }: Deps, { signature, slot }: InFlightTransaction): Promise<boolean> => {
  const answers = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  return answers.every(({ slot: seen, statuses }) => statuses[0] === null && seen > (slot ?? 0));
};

const confirm = async (deps: Deps, confirmed: readonly Observation[]): Promise<void> => {
  if (confirmed.length === 0) return;
  try {
    await transition(
      deps,
      'confirm',
      confirmed.map(({ transaction }) => toChange(transaction)),
    );
  } catch (error) {
    for (const { transaction } of confirmed) transaction.pollAt = performance.now() + TROUBLE_MS;
    throw error;
  }
  for (const { transaction, views } of confirmed) {
    Object.assign(transaction, { phase: 'confirmed', missed: 0, doubtedAt: null });
    // Nobody waits for it: it is looked at with the others.
    transaction.pollAt = onGrid(compareViews(views) === 'finalized' ? 0 : FINALITY_POLL_MS);
  }
  await failpoint('submitter.afterConfirm');
};

/** Pause until a flight that is not confirmed yet is looked at again. */
const nextPollAt = ({ inFlight }: Deps, { broadcastAt: launchedAt }: InFlightTransaction): number => {
  const now = performance.now();
  return now + inFlight.pollInterval.pauseMs(now - launchedAt);
};

/** Confirms what another provider bears out, together with all that is borne out in the same turn. */
const confirmIfCorroborated = async (
  deps: Deps,
  one: Observation,
  { asked, polledAt, polls }: { asked: Promise<Witness> | undefined; polledAt: number; polls: Polls },
): Promise<void> => {
  const { transaction } = one;
  let agreed = false;
  try {
    agreed = await isCorroborated(deps, one, asked);
  } finally {
    if (!agreed) transaction.pollAt = nextPollAt(deps, transaction);
  }
  if (!agreed || !deps.inFlight.isCurrent(transaction) || transaction.phase !== 'sent') return;
  if (transaction.wire.length > 0) deps.inFlight.pollInterval.record(polledAt - transaction.broadcastAt);
  // The slot that was borne out, whatever else a view says.
  transaction.slot = findConfirmedView(one.views)!.status!.slot;
  polls.corroborated.push(one);
  if (polls.corroborated.length > 1) return;
  await Promise.resolve();
  await confirm(deps, polls.corroborated.splice(0));
};

/** A confirmed transaction that is proven to be gone: the same bytes again, on the same intent (rule 14). */
const reopenIfDropped = async (deps: Deps, transaction: InFlightTransaction): Promise<void> => {
  if (!(await isDroppedByFork(deps, transaction))) return;
  deps.logger.error({ intent: transaction.intent.intent_id, tx: transaction.signature }, 'forked away, driven again');
  // The flight changes after the record: while that is away it stays what the record says.
  await transition(deps, 'fork', [toChange({ ...transaction, slot: null })]);
  count('quittance_chain_forks_total', 1);
  Object.assign(transaction, {
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
const inBackground = async (transaction: InFlightTransaction, work: () => Promise<void>): Promise<void> => {
  transaction.pollAt = WHILE_WRITTEN;
  try {
    await work();
  } finally {
    if (transaction.pollAt === WHILE_WRITTEN) transaction.pollAt = performance.now() + MISSED_POLL_MS;
  }
};

/** Takes note of where a transaction is confirmed, as far as those agree who say so. */
const recordConfirmedSlot = ({ rpc }: Deps, transaction: InFlightTransaction, views: readonly View[]): void => {
  const confirmed = views.filter(isConfirmed);
  for (const { provider, status } of confirmed) rpc.see(provider, status!.slot);
  const [slot, ...others] = new Set(confirmed.map(({ status }) => status!.slot));
  // What was forked away and landed again, unnoticed between two looks, is in another slot now.
  if (slot !== undefined && others.length === 0) transaction.slot = slot;
};

/** What was seen of what waits for its confirmation. */
const evaluateSent = (
  deps: Deps,
  seen: readonly Observation[],
  {
    polledAt,
    polls,
    witnesses,
  }: { polledAt: number; polls: Polls; witnesses: ReadonlyMap<InFlightTransaction, Promise<Witness>> },
): void => {
  for (const one of seen) {
    const { transaction, views } = one;
    const opinion = compareViews(views);
    transaction.pollAt = nextPollAt(deps, transaction);
    if (opinion === 'confirmed' || opinion === 'finalized') {
      recordConfirmedSlot(deps, transaction, views);
      transaction.pollAt = WHILE_WRITTEN;
      // The next look waits for no commit of this one.
      polls.write(confirmIfCorroborated(deps, one, { asked: witnesses.get(transaction), polledAt, polls }));
    } else if (opinion === 'processed') {
      transaction.processed = true;
      if (views.some(({ status }) => status?.err)) transaction.pollAt = onGrid(FINALITY_POLL_MS);
    } else if (opinion === 'failed' || opinion === 'contradiction') {
      transaction.pollAt = onGrid(FINALITY_POLL_MS);
      const all = () =>
        deps.rpc.providers.length === 1 ? Promise.resolve([...views]) : queryAllProviders(deps, transaction);
      polls.write(inBackground(transaction, async () => failIfAgreed(deps, transaction, await all(), onGrid(FINALITY_POLL_MS))));
    }
  }
};

/** What every provider says of what is confirmed and not final. */
const evaluateConfirmed = async (deps: Deps, seen: readonly Observation[], polls: Polls): Promise<void> => {
  const final: InFlightTransaction[] = [];
  for (const { transaction, views } of seen) {
    const opinion = compareViews(views);
    transaction.pollAt = onGrid(FINALITY_POLL_MS);
    if (opinion === 'unknown') {
      transaction.missedPolls += 1;
      transaction.pollAt = performance.now() + MISSED_POLL_MS;
      if (transaction.missedPolls >= MISSES_BEFORE_FORK) polls.write(inBackground(transaction, () => reopenIfDropped(deps, transaction)));
    } else if (opinion === 'failed' || opinion === 'contradiction') {
      polls.write(inBackground(transaction, () => failIfAgreed(deps, transaction, views, onGrid(FINALITY_POLL_MS))));
    } else if (opinion !== 'processed') {
      transaction.missedPolls = 0;
      recordConfirmedSlot(deps, transaction, views);
      if (opinion === 'finalized') final.push(transaction);
      else if (views.some(({ status }) => status?.confirmationStatus === 'finalized'))
        recordDoubt(deps, transaction, views);
      else transaction.doubtedAt = null;
    }
  }
  if (final.length > 0) await finalize(deps, final);
};

/** Those of them that are still what they were when the look began. */
const current = ({ inFlight }: Deps, seen: readonly Observation[], phase: InFlightTransaction['phase']): Observation[] =>
  seen.filter(({ transaction }) => inFlight.isCurrent(transaction) && transaction.phase === phase);

/** Looks at what is confirmed: every provider has to say that it is final, and nobody waits for one that hangs. */
const pollEveryProvider = async (deps: Deps, inFlight: readonly InFlightTransaction[], polls: Polls): Promise<void> => {
  for (const transaction of inFlight) transaction.pollAt = WHILE_WRITTEN;
  try {
    const seen = await readStatuses(deps, inFlight, 'every');
    await evaluateConfirmed(deps, current(deps, seen, 'confirmed'), polls);
  } finally {
    for (const transaction of inFlight)
      if (transaction.pollAt === WHILE_WRITTEN) transaction.pollAt = onGrid(FINALITY_POLL_MS);
  }
};

const MAX_LINKS = 32;

/**
 * A look for many payments stands in the trace of the first that waits for it, with links to those of the others.
 * Waiting for finality, after the payer has its answer, is in none.
 */
const traced = <T>(inFlight: readonly InFlightTransaction[], work: () => Promise<T>): Promise<T> => {
  const waiting = inFlight.flatMap(({ phase, intent }) =>
    phase === 'sent' && intent.traceparent !== null ? [intent.traceparent] : [],
  );
  const [first, ...others] = waiting;
  if (first === undefined) return work();
  const links = linksTo(others.slice(0, MAX_LINKS));
  const attributes = { 'quittance.transactions': inFlight.length };
  return inTraceOf(first, () =>
    inSpan('look at the chain', { kind: SpanKind.INTERNAL, links, attributes }, work),
  );
};

/** The looks of one process. */
export type Polls = {
  /** Those that found something to look at. */
  count: number;
  /** Takes what a look writes while the next one may begin. */
  write: (work: Promise<void>) => void;
  /** What is confirmed with the present turn. */
  corroborated: Observation[];
};

/** @param write takes what a look writes */
export const createPolls = (write: Polls['write']): Polls => ({ count: 0, write, corroborated: [] });

/** At most so many transactions are read beside one look. */
const MAX_WITNESSES = 32;

/**
 * Asks for what a confirmation needs besides the status in the same moment as the status: of those that have been
 * processed, which a moment later are confirmed.
 */
const queryWitnesses = (deps: Deps, inFlight: readonly InFlightTransaction[]): Map<InFlightTransaction, Promise<Witness>> => {
  const { providers } = deps.rpc;
  const soon = providers.length === 1 ? [] : inFlight.filter(({ processed }) => processed);
  const asked = soon.slice(0, MAX_WITNESSES).map((transaction) => {
    const witness = queryWitness(deps, transaction, providers[0]!.number);
    // Asked for once more where it is needed.
    return [transaction, witness.catch(() => null)] as const;
  });
  return new Map(asked);
};

/** Looks once at what is due. */
export const pollDue = async (deps: Deps, polls: Polls): Promise<void> => {
  const now = performance.now();
  const inAir = deps.inFlight.list().filter(({ pollAt }) => pollAt !== WHILE_WRITTEN);
  const due = inAir.filter(({ pollAt }) => pollAt <= now);
  if (due.length === 0) return;
  polls.count += 1;
  const alone = deps.rpc.providers.length === 1;
  const dueConfirmed = due.filter(({ phase }) => phase === 'confirmed');
  if (!alone && dueConfirmed.length > 0) polls.write(pollEveryProvider(deps, dueConfirmed, polls));
  // What is only unconfirmed costs nothing more in the same call, and hears of its luck earlier.
  const sent = due.some(({ phase }) => phase === 'sent') ? inAir.filter(({ phase }) => phase === 'sent') : [];
  const shared = alone ? [...sent, ...dueConfirmed] : sent;
  if (shared.length === 0) return;
  await traced(shared, async () => {
    const witnesses = queryWitnesses(deps, sent);
    const seen = await readStatuses(deps, shared, !alone && polls.count % ASK_ALL_EVERY === 0 ? 'soon' : 'first');
    evaluateSent(deps, current(deps, seen, 'sent'), { polledAt: now, polls, witnesses });
    if (alone) await evaluateConfirmed(deps, current(deps, seen, 'confirmed'), polls);
  });
};

/**
 * Watches everything in flight: one batched status call for all of it, as soon as something is due.
 * @param leastPauseMs between two looks, so that a burst shares one call, and a provider's rate limit is kept
 */
export const startPolling = (deps: Deps, leastPauseMs: number): Periodic => {
  const { inFlight, logger } = deps;
  let stopping = false;
  let polledAt = 0;
  let nextAt = 0;
  let wake = new AbortController();
  const writing = new Set<Promise<void>>();
  const polls = createPolls((work) => {
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
  const notBefore = (at: number): number => Math.max(at, polledAt + inFlight.pollInterval.leastPauseMs(leastPauseMs));
  inFlight.onWake((pollAt) => {
    if (notBefore(pollAt) < nextAt) wake.abort();
  });

  const round = async () => {
    wake = new AbortController();
    const now = performance.now();
    nextAt = notBefore(Math.min(...inFlight.list().map(({ pollAt }) => pollAt), now + 60_000));
    // Woken means new bytes: how long to pause is worked out anew.
    if (nextAt > now && !(await sleep(nextAt - now, true, { signal: wake.signal }).catch(() => false)))
      return;
    polledAt = performance.now();
    await pollDue(deps, polls);
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
