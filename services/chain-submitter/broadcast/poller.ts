import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind } from '@opentelemetry/api';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Periodic } from '../../../shared/lib/periodic.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { inSpan, inTraceOf, linksTo } from '../../../shared/lib/telemetry/trace.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import type { OwnBudgets } from '../limits/own-budgets.ts';
import { queryWitness, recordDoubt, type Witness } from './agreement.ts';
import { type ConfirmationBatch, confirmIfCorroborated, createBatch, nextPollAt } from './confirmation.ts';
import { finalize } from './finality.ts';
import { reopenIfDropped } from './fork.ts';
import { type InFlightTransaction, type InFlightTransactions, planPoll, writing } from './in-flight.ts';
import { compareViews, isConfirmed, type View } from './model/agreement.ts';
import { failIfAgreed } from './on-chain-failure.ts';
import { FINALITY_POLL_MS, onFinalityGrid, RETRY_POLL_MS } from './poll-interval.ts';
import { type Observation, readEveryView, readStatuses } from './signature-statuses.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  logger: Logger;
  network: Network;
  rpc: RpcPool;
  tokenAccounts: TokenAccounts;
  inFlight: InFlightTransactions;
  ownBudgets: Pick<OwnBudgets, 'earned'>;
};

/**
 * Pause while a confirmed transaction is not found, so that dropped bytes are sent again while they
 * are valid.
 */
const MISSED_POLL_MS = 250;
/**
 * Polls in a row that miss a confirmed transaction, before every provider is queried about a fork.
 */
const MISSES_BEFORE_FORK = 3;
/**
 * Every so many polls query all providers, and the most advanced answer counts, so that a lagging
 * one delays nothing.
 */
const QUERY_ALL_EVERY = 5;
/** At most so many transactions are read beside one poll. */
const MAX_WITNESSES = 32;
/** Other traces that a poll's span links to. */
const MAX_LINKS = 32;

/** The polls of one process. */
type Polls = {
  /** Polls that had a transaction to read. */
  count: number;
  /** Takes what a poll writes while the next one may begin. */
  write: (work: Promise<void>) => void;
  confirmations: ConfirmationBatch;
};

const missedPoll = (): number => performance.now() + MISSED_POLL_MS;
const finalityPoll = (): number => onFinalityGrid(FINALITY_POLL_MS);

export const createPolls = (write: Polls['write']): Polls => ({
  count: 0,
  write,
  confirmations: createBatch(),
});

/** Records the slot of a confirmed transaction, if all views that confirm it agree on the slot. */
const recordConfirmedSlot = (
  { rpc }: Deps,
  transaction: InFlightTransaction,
  views: readonly View[],
): void => {
  const confirmed = views.filter(isConfirmed);
  for (const { provider, status } of confirmed) rpc.recordSlot(provider, status!.slot);
  const [slot, ...others] = new Set(confirmed.map(({ status }) => status!.slot));
  // A transaction that was dropped and included again between two polls has another slot now.
  if (slot !== undefined && others.length === 0) transaction.slot = slot;
};

/** Evaluates the observations of transactions that wait for their confirmation. */
const evaluateSent = (
  deps: Deps,
  observations: readonly Observation[],
  {
    polledAt,
    polls,
    witnesses,
  }: { polledAt: number; polls: Polls; witnesses: ReadonlyMap<InFlightTransaction, Promise<Witness>> },
): void => {
  for (const observation of observations) {
    const { transaction, views } = observation;
    const result = compareViews(views);
    if (result === 'confirmed' || result === 'finalized') {
      recordConfirmedSlot(deps, transaction, views);
      const witness = witnesses.get(transaction);
      // The next poll does not wait for this commit.
      polls.write(
        confirmIfCorroborated(deps, observation, { witness, polledAt, batch: polls.confirmations }),
      );
    } else if (result === 'failed' || result === 'contradiction') {
      const readViews = () =>
        deps.rpc.providers.length === 1 ? Promise.resolve([...views]) : readEveryView(deps, transaction);
      const fail = async () => failIfAgreed(deps, transaction, await readViews());
      polls.write(writing([transaction], fail, finalityPoll));
    } else {
      if (result === 'processed') transaction.processed = true;
      const hasFailed = views.some(({ status }) => status?.err);
      planPoll(transaction, hasFailed ? finalityPoll() : nextPollAt(deps, transaction));
    }
  }
};

/** Evaluates the observations of confirmed transactions, which hold the view of every provider. */
const evaluateConfirmed = async (
  deps: Deps,
  observations: readonly Observation[],
  polls: Polls,
): Promise<void> => {
  const final: InFlightTransaction[] = [];
  for (const { transaction, views } of observations) {
    const result = compareViews(views);
    planPoll(transaction, result === 'unknown' ? missedPoll() : finalityPoll());
    if (result === 'unknown') {
      transaction.missedPolls += 1;
      if (transaction.missedPolls < MISSES_BEFORE_FORK) continue;
      // The bytes that a fork dropped are polled at once, because they are sent again.
      const next = () => (transaction.phase === 'sent' ? 0 : missedPoll());
      polls.write(writing([transaction], () => reopenIfDropped(deps, transaction), next));
    } else if (result === 'failed' || result === 'contradiction') {
      polls.write(writing([transaction], () => failIfAgreed(deps, transaction, views), finalityPoll));
    } else if (result !== 'processed') {
      transaction.missedPolls = 0;
      recordConfirmedSlot(deps, transaction, views);
      if (result === 'finalized') final.push(transaction);
      else if (views.some(({ status }) => status?.confirmationStatus === 'finalized'))
        recordDoubt(deps, transaction, views);
      else transaction.doubtedAt = null;
    }
  }
  await writing(final, (begun) => finalize(deps, begun), finalityPoll);
};

/** The observations whose transactions have not changed since the poll began. */
const onlyCurrent = (
  { inFlight }: Deps,
  observations: readonly Observation[],
  phase: InFlightTransaction['phase'],
): Observation[] =>
  observations.filter(({ transaction }) => inFlight.isCurrent(transaction) && transaction.phase === phase);

/**
 * Polls confirmed transactions at every provider, outside of the other polls: one that hangs delays
 * nothing else.
 */
const pollEveryProvider = async (
  deps: Deps,
  transactions: readonly InFlightTransaction[],
  polls: Polls,
): Promise<void> => {
  let observations: readonly Observation[] = [];
  const read = async () => {
    observations = await readStatuses(deps, transactions, 'every');
  };
  await writing(transactions, read, finalityPoll);
  await evaluateConfirmed(deps, onlyCurrent(deps, observations, 'confirmed'), polls);
};

/**
 * Runs a poll of many payments in the trace of the first that waits for it, with links to the other
 * traces. The wait for finality belongs to no trace, because the payer has its answer by then.
 */
const traced = <T>(transactions: readonly InFlightTransaction[], work: () => Promise<T>): Promise<T> => {
  const waiting = transactions.flatMap(({ phase, intent }) =>
    phase === 'sent' && intent.traceparent !== null ? [intent.traceparent] : [],
  );
  const [first, ...others] = waiting;
  if (first === undefined) return work();
  const links = linksTo(others.slice(0, MAX_LINKS));
  const attributes = { 'quittance.transactions': transactions.length };
  return inTraceOf(first, () =>
    inSpan('poll signature statuses', { kind: SpanKind.INTERNAL, links, attributes }, work),
  );
};

/**
 * Queries the witnesses of processed transactions together with their statuses, because they are
 * likely to be confirmed by this poll.
 */
const queryWitnesses = (
  deps: Deps,
  transactions: readonly InFlightTransaction[],
): Map<InFlightTransaction, Promise<Witness>> => {
  const { providers } = deps.rpc;
  const candidates = providers.length === 1 ? [] : transactions.filter(({ processed }) => processed);
  const queries = candidates.slice(0, MAX_WITNESSES).map((transaction) => {
    const witness = queryWitness(deps, transaction, providers[0]!.number);
    // A failed query is repeated where the witness is needed.
    return [transaction, witness.catch(() => null)] as const;
  });
  return new Map(queries);
};

/** Polls once what is due. */
export const pollDue = async (deps: Deps, polls: Polls): Promise<void> => {
  const now = performance.now();
  const transactions = deps.inFlight.listPollable();
  const due = transactions.filter(({ schedule }) => schedule.at <= now);
  if (due.length === 0) return;
  polls.count += 1;
  const isAlone = deps.rpc.providers.length === 1;
  const dueConfirmed = due.filter(({ phase }) => phase === 'confirmed');
  if (!isAlone && dueConfirmed.length > 0) polls.write(pollEveryProvider(deps, dueConfirmed, polls));
  // All unconfirmed transactions share the call at no further cost, and are confirmed earlier.
  const sent = due.some(({ phase }) => phase === 'sent')
    ? transactions.filter(({ phase }) => phase === 'sent')
    : [];
  const shared = isAlone ? [...sent, ...dueConfirmed] : sent;
  if (shared.length === 0) return;
  await traced(shared, async () => {
    const witnesses = queryWitnesses(deps, sent);
    const from = !isAlone && polls.count % QUERY_ALL_EVERY === 0 ? 'soon' : 'first';
    const observations = await readStatuses(deps, shared, from);
    evaluateSent(deps, onlyCurrent(deps, observations, 'sent'), { polledAt: now, polls, witnesses });
    if (isAlone) await evaluateConfirmed(deps, onlyCurrent(deps, observations, 'confirmed'), polls);
  });
};

/**
 * Polls every in-flight transaction: one batched status call as soon as one of them is due.
 * @param leastPauseMs between two polls, so that a burst shares one call and a provider's rate
 *   limit is respected
 */
export const startPoller = (deps: Deps, leastPauseMs: number): Periodic => {
  const { inFlight, logger } = deps;
  let stopping = false;
  let polledAt = 0;
  let nextAt = 0;
  let wake = new AbortController();
  const writing = new Set<Promise<void>>();
  const polls = createPolls((work) => {
    const written = work
      .catch((error: unknown) => logger.warn({ err: error }, 'observation not written, polling again'))
      .finally(() => {
        writing.delete(written);
        // Its transactions have a next poll now. The writes of one poll end together, and one of
        // them wakes the loop, because each abort creates an error with its stack.
        if (!wake.signal.aborted) wake.abort();
      });
    writing.add(written);
  });
  const notBefore = (at: number): number => Math.max(at, polledAt + leastPauseMs);
  inFlight.onWake((pollAt) => {
    if (notBefore(pollAt) < nextAt) wake.abort();
  });

  const round = async () => {
    wake = new AbortController();
    const now = performance.now();
    const times = inFlight.listPollable().map(({ schedule }) => schedule.at);
    nextAt = notBefore(Math.min(...times, now + 60_000));
    // The loop is woken by new bytes, which change the pause.
    if (nextAt > now && !(await sleep(nextAt - now, true, { signal: wake.signal }).catch(() => false)))
      return;
    polledAt = performance.now();
    await pollDue(deps, polls);
  };

  const loop = async () => {
    while (!stopping) {
      await round().catch(async (error: unknown) => {
        logger.warn({ err: error }, 'signature statuses not read, polling again');
        await sleep(RETRY_POLL_MS);
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
