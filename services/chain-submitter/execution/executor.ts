import { SpanKind } from '@opentelemetry/api';
import type { Clock } from '../../../shared/lib/clock.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { inSpan, inTraceOf } from '../../../shared/lib/telemetry/trace.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { broadcast } from '../broadcast/broadcast.ts';
import { type InFlightTransaction, type InFlightTransactions, toInFlight } from '../broadcast/in-flight.ts';
import type { Hints } from '../ledger/hints.ts';
import { EXPIRED, EXPIRED_INCOMING, RETIRED, TOO_LATE } from '../ledger/model/failure.ts';
import { isSignedOnce, type Order, type OutgoingOrder } from '../ledger/model/order.ts';
import { type ClaimedIntent, claimIntents, releaseIntent } from '../ledger/store/intents.ts';
import { transition } from '../ledger/transition.ts';
import { OrderRefused, parseOrder } from '../transactions/parse-order.ts';
import { PolicyError } from '../transactions/policy.ts';
import {
  type AttemptDeps,
  attemptOrder,
  CAPPED_MS,
  failUnlessPaid,
  type Outcome,
  RETRY_MS,
  withApprovedAuthority,
} from './attempt.ts';
import { watchOutgoing } from './watch.ts';

/** Attempts in a row before the intent is released for a moment. */
const ATTEMPTS = 3;
/** Delay while the operator has paused all signing. */
const PAUSED_MS = 2000;

type ExecutorDeps = AttemptDeps & {
  environment: string;
  clock: Clock;
  keys: PublicKeys;
  hints: Hints;
};

const parse = (deps: ExecutorDeps, intent: ClaimedIntent): Order | OrderRefused => {
  try {
    return parseOrder(intent, deps);
  } catch (error) {
    if (!(error instanceof OrderRefused)) throw error;
    return error;
  }
};

/** The committed bytes of an intent that may be included; null without any. */
const resumed = (intent: ClaimedIntent, order: Order | null): InFlightTransaction | null => {
  const { generation, live_signature: signature, wire, last_valid_block_height: lastValid } = intent;
  if (signature === null || wire === null || lastValid === null) return null;
  const bytes = { generation, signature, wire, lastValidBlockHeight: Number(lastValid) };
  const transaction = toInFlight(intent, order, bytes);
  if (intent.status !== 'confirmed') return transaction;
  const slot = intent.slot === null ? null : Number(intent.slot);
  return { ...transaction, phase: 'confirmed', slot };
};

/** Attempts an order that the platform signs, until it is broadcast, fails or has to wait. */
const attemptOwn = async (
  deps: ExecutorDeps,
  intent: ClaimedIntent,
  parsed: Exclude<Order, OutgoingOrder>,
): Promise<Outcome> => {
  let order = parsed;
  // Somebody else signed one message. Another generation would need another signature.
  if (isSignedOnce(order))
    return failUnlessPaid(deps, intent, order, order.kind === 'incoming' ? EXPIRED_INCOMING : EXPIRED);
  // A retired authority may have paid before this record was lost, so the chain is searched first.
  if (order.kind === 'settle' && !deps.network.delegateAuthorities.includes(order.authority)) {
    const { account } = await deps.tokenAccounts.get(order.payer);
    const approved = withApprovedAuthority(deps, order, account);
    if (approved === null) return failUnlessPaid(deps, intent, order, RETIRED);
    order = approved;
  }
  for (let attempts = 0; attempts < ATTEMPTS; attempts++) {
    if (intent.read_at > order.signBefore) return failUnlessPaid(deps, intent, order, TOO_LATE);
    if (intent.paused) return { waitMs: PAUSED_MS };
    const result = await attemptOrder(deps, intent, order);
    if (typeof result === 'object' && 'approved' in result) order = result.approved;
    else if (result !== 'again') return result;
  }
  return { waitMs: RETRY_MS };
};

const executeOnce = async (deps: ExecutorDeps, intent: ClaimedIntent): Promise<Outcome> => {
  const { generation } = intent;
  const order = parse(deps, intent);
  const isRefused = order instanceof OrderRefused;
  // Bytes that may be included have precedence, even for a refused order: they are broadcast again,
  // and no others are signed.
  const live = resumed(intent, isRefused ? null : order);
  if (live !== null) {
    broadcast(deps, live);
    return 'broadcast';
  }
  // One worker confirmed the bytes and another proved them expired. Both proofs were valid, on two
  // sides of a fork.
  if (intent.status === 'confirmed' && intent.signature !== null) {
    await transition(deps, 'fork', [{ intent, generation, signature: intent.signature }]);
    return { waitMs: 0 };
  }
  if (isRefused) return { failure: order.failure };
  return order.kind === 'outgoing' ? watchOutgoing(deps, intent, order) : attemptOwn(deps, intent, order);
};

/** Reports why an execution failed. @returns after how many milliseconds it is tried again */
const delayAfter = ({ logger }: ExecutorDeps, intent: string, error: unknown): number => {
  if (!(error instanceof PolicyError)) {
    logger.warn({ err: error, intent }, 'execution failed, trying again');
    return RETRY_MS;
  }
  count('quittance_anomalies_total', 1, { kind: 'policy_refused' });
  logger.fatal({ err: error, intent }, 'transaction refused by the policy');
  return CAPPED_MS;
};

/** Whether an intent was recorded with its first bytes. */
const recordSigned =
  (deps: ExecutorDeps) =>
  async (intent: ClaimedIntent): Promise<boolean> => {
    const { inFlight, logger } = deps;
    const outcome = await executeOnce(deps, intent).catch((error: unknown) => {
      const log = { err: error, intent: intent.intent_id };
      logger.info(log, 'not signed at once, the intent is recorded first');
    });
    if (outcome === 'broadcast') return true;
    inFlight.end(intent.intent_id);
    return false;
  };

/** The executions of this process, each in the trace of its intent. */
const createRuns = (inFlight: InFlightTransactions) => {
  const running = new Set<Promise<unknown>>();
  return {
    /** Executes an intent, unless this process does already: then the result is undefined. */
    start: async <Result>(
      intent: ClaimedIntent,
      execution: (intent: ClaimedIntent) => Promise<Result>,
    ): Promise<Result | undefined> => {
      if (!inFlight.begin(intent.intent_id)) return undefined;
      const { kind, generation, traceparent } = intent;
      const attributes = { 'quittance.generation': generation };
      const work = inTraceOf(traceparent, () =>
        inSpan(`execute ${kind}`, { kind: SpanKind.INTERNAL, attributes }, () => execution(intent)),
      ).finally(() => running.delete(work));
      running.add(work);
      return work;
    },
    idle: () => Promise.allSettled(running),
  };
};

/**
 * The executor brings leased intents to in-flight bytes or to their final state, or releases them
 * for later. It never rejects: errors are logged, and the sweeper retries the intent.
 */
export const createExecutor = (deps: ExecutorDeps) => {
  const { inFlight, pool, logger, workerId } = deps;
  const { start, idle } = createRuns(inFlight);

  const release = async (intentId: string, delayMs: number): Promise<void> => {
    await releaseIntent(pool, intentId, workerId, delayMs).catch((error: unknown) =>
      logger.warn({ err: error, intent: intentId }, 'intent not released, its lease will lapse'),
    );
    inFlight.end(intentId);
  };

  const finish = async (intent: ClaimedIntent, outcome: Outcome): Promise<void> => {
    const { intent_id: intentId, generation, signature } = intent;
    if (outcome === 'broadcast') return;
    if (outcome === 'done') return inFlight.end(intentId);
    if ('waitMs' in outcome) return release(intentId, outcome.waitMs);
    const { failure } = outcome;
    await transition(deps, 'fail', [{ intent, generation, signature, failure }]);
    logger.info({ intent: intentId, failure }, 'intent failed, no money moved');
    inFlight.end(intentId);
  };

  const run = async (intent: ClaimedIntent): Promise<void> => {
    const { intent_id: intentId } = intent;
    try {
      await finish(intent, await executeOnce(deps, intent));
    } catch (error) {
      await release(intentId, delayAfter(deps, intentId, error));
    }
  };

  const execute = (intent: ClaimedIntent): void => void start(intent, run);
  const claimNow = (intentId: string) =>
    claimIntents(pool, { workerId, executing: inFlight.intentIds(), limit: 1, only: intentId });

  return {
    execute,
    /**
     * Signs the first bytes of a payment whose job has just come, and records its intent with them
     * in one commit.
     * @returns false when nothing was committed, or when it is unknown: the payment has to wait or
     *   may not be made. The caller then records the intent, and its execution decides
     */
    signAtOnce: async (intent: ClaimedIntent): Promise<boolean> =>
      (await start(intent, recordSigned(deps))) ?? false,
    /** Leases one intent now, unless another worker has it, and executes it. */
    executeNow: async (intentId: string): Promise<void> => {
      for (const intent of await claimNow(intentId)) execute(intent);
    },
    /** As `executeNow`. Resolves when the execution has ended for now. */
    executeAndWait: async (intentId: string): Promise<void> => {
      await Promise.all((await claimNow(intentId)).map((intent) => start(intent, run)));
    },
    /**
     * Releases an intent's lease. It is claimed again after the delay, and continues from the
     * tables.
     */
    release,
    /** Resolves when no intent is being built or signed any more. */
    idle,
  };
};
export type Executor = ReturnType<typeof createExecutor>;
