import { SpanKind } from '@opentelemetry/api';
import bs58 from 'bs58';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import { inSpan, inTraceOf } from '../../../shared/lib/trace.ts';
import { commitAndBroadcast, toInFlight, broadcast } from '../broadcast/broadcast.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import type { Network } from '../chain/model/network.ts';
import type { TokenAccount } from '../chain/model/token-account.ts';
import type { Blockhash, Rpc } from '../chain/rpc-pool.ts';
import type { ChainView } from '../chain/token-accounts.ts';
import { BudgetUsedUp } from '../limits/fee-budgets.ts';
import type { OwnTransaction, OwnBudgets } from '../limits/own-transactions.ts';
import { type Caps, reservePayment } from '../limits/spending-caps.ts';
import { assemble, compileMessage, findCreationIndex } from '../transactions/message.ts';
import { planTransaction } from '../transactions/plan.ts';
import { checkPolicy, PolicyError, signersOf } from '../transactions/policy.ts';
import { type Signers, signFor } from '../transactions/signer.ts';
import { reviveTransaction } from '../transactions/store/transactions.ts';
import { findOnChainPayment } from './adoption.ts';
import type { GroupCommit } from './group-commit.ts';
import {
  type ChainError,
  EXPIRED,
  errorKind,
  type Failure,
  otherFailure,
  RETIRED,
  settleFailure,
  TOO_LATE,
} from './model/failure.ts';
import { isUserSigned, type Order, type OwnOrder, type SettleOrder } from './model/order.ts';
import { OrderRefused, parseOrder } from './parse-order.ts';
import { type ClaimedIntent, claimIntents, releaseIntent } from './store/intents.ts';
import { transition } from './transition.ts';

const TRIES = 3;
/** Waits before an intent is taken up again: trouble with providers or our own purse, the pause, a used-up cap. */
const TROUBLE_MS = 1000;
const PAUSED_MS = 2000;
const CAPPED_MS = 15_000;
const CREATING_MS = 300;

export type ExecutorDeps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  logger: Logger;
  workerId: string;
  environment: string;
  keys: PublicKeys;
  network: Network;
  rpc: Rpc;
  chain: ChainView;
  signers: Signers;
  caps: Caps;
  ownBudgets: OwnBudgets;
  groupCommit: GroupCommit;
  inFlight: InFlightTransactions;
};

/** What becomes of an intent for now. */
type Outcome = { failure: Failure } | { waitMs: number } | 'launched' | 'over';
type AttemptResult = Outcome | { approved: SettleOrder } | 'again';

/** The order by the authority of ours that the payer has approved; null when it is the order's own, or none of ours. */
const byApproved = (
  { network }: Pick<ExecutorDeps, 'network'>,
  order: SettleOrder,
  source: TokenAccount,
): SettleOrder | null => {
  const authority = source.state === 'ready' ? source.delegate : null;
  return authority !== null &&
    authority !== order.authority &&
    network.delegateAuthorities.includes(authority)
    ? { ...order, authority }
    : null;
};

/** What a refused simulation means: nothing was signed, so a proven refusal ends the intent at once. */
const refused = async (
  deps: ExecutorDeps,
  order: OwnOrder,
  error: ChainError,
  message: Uint8Array,
): Promise<AttemptResult> => {
  const { chain, logger } = deps;
  const creation = findCreationIndex(message);
  const kind = errorKind(error, creation);
  if (kind === 'stale') {
    chain.forgetBlockhash();
    return 'again';
  }
  if (kind === 'ours') {
    logger.error({ simulation: error, kind: order.kind }, 'the fee payer or a provider is in trouble');
    return { waitMs: TROUBLE_MS };
  }
  if (order.kind !== 'settle') return { failure: otherFailure(order.kind, error) };
  const [source, payout] = await Promise.all([
    chain.tokenAccount(order.payer),
    chain.tokenAccount(order.payout),
  ]);
  // It was ready when it was last looked at, and is gone: plan again.
  if (creation === null && payout.account.state === 'missing') return 'again';
  // Approved anew a moment ago, and the job does not know it yet.
  const approved = byApproved(deps, order, source.account);
  return approved === null ? { failure: settleFailure(error, source.account, order) } : { approved };
};

/**
 * One that this intent has signed before and that was taken for dead, wrongly: it is made live again and watched.
 * Nothing else is signed for the intent while it lives.
 */
const reviveOwn = async (
  deps: ExecutorDeps,
  intent: ClaimedIntent,
  order: Order,
  signature: string,
): Promise<Outcome> => {
  count('quittance_anomalies_total', 1, { kind: 'expired_included' });
  deps.logger.error(
    { intent: intent.intent_id, tx: signature },
    'transaction was recorded as expired and is on the chain, watched again',
  );
  const revived = await reviveTransaction(deps.pool, intent, signature);
  // Bytes of another hand, or the end: whoever looks next sees which.
  if (revived === null) return { waitMs: TROUBLE_MS };
  const { wire, last_valid_block_height: lastValid } = revived;
  const bytes = { signature, wire, generation: intent.generation, lastValidBlockHeight: Number(lastValid) };
  // It may be older than a node's short memory: the history is searched at once.
  broadcast(deps, { ...toInFlight({ ...intent, status: 'signed' }, order, bytes), missedPolls: 1 });
  return 'launched';
};

/** The chain knows the payment already: it is watched as this intent's, or another's it is. */
const adopt = async (
  deps: ExecutorDeps,
  intent: ClaimedIntent,
  order: Order,
  paid: NonNullable<Awaited<ReturnType<typeof findOnChainPayment>>>,
): Promise<Outcome> => {
  if (paid === 'by another')
    return { failure: { code: 'payment_failed', message: 'the quote is paid already' } };
  const { own, ...found } = paid;
  if (own) return reviveOwn(deps, intent, order, found.signature);
  count('quittance_anomalies_total', 1, { kind: 'adopted' });
  deps.logger.error({ intent: intent.intent_id, tx: paid.signature }, 'found paid on chain, taken over');
  const adopted = { ...found, wire: new Uint8Array(), creates: null, signBefore: null };
  return toOutcome(await commitAndBroadcast(deps, intent, order, { signed: adopted, work: null }));
};

/** Where bytes were not committed, whoever looks next sees why: bytes of another hand, the end, or that it is too late. */
const toOutcome = (outcome: Awaited<ReturnType<typeof commitAndBroadcast>>): Outcome => {
  if (outcome === 'launched') return outcome;
  return { waitMs: outcome === 'over_budget' ? CAPPED_MS : TROUBLE_MS };
};

/** Nothing may be signed any more. What was paid and then forgotten here is no failure all the same. */
const failUnlessPaid = async (
  deps: ExecutorDeps,
  intent: ClaimedIntent,
  order: Order,
  failure: Failure,
): Promise<Outcome> => {
  const paid = await findOnChainPayment(deps, intent, order);
  return paid === null ? { failure } : adopt(deps, intent, order, paid);
};

/**
 * Signs the next generation of an order: plan, build, check, simulate unsigned, sign, commit, and only then send
 * (rules 7 to 13).
 */
const attempt = async (deps: ExecutorDeps, intent: ClaimedIntent, order: OwnOrder): Promise<AttemptResult> => {
  const { chain, network, rpc } = deps;
  const [plan, latest] = await Promise.all([planTransaction(deps, order), chain.blockhash()]);
  if ('failure' in plan) return failUnlessPaid(deps, intent, order, plan.failure);
  if ('creating' in plan) return { waitMs: CREATING_MS };
  if ('done' in plan) {
    const found = { intent, generation: intent.generation, txHash: null };
    await transition(deps, 'confirm', [found]);
    await transition(deps, 'finalize', [found]);
    return 'over';
  }
  const { feePayer } = network;
  const message = compileMessage(plan.instructions, { feePayer, blockhash: latest.blockhash });
  checkPolicy(message, order, network);

  const unsigned = assemble(
    message,
    signersOf(order, network).map(() => null),
  );
  const [error, paid] = await Promise.all([rpc.simulate(unsigned), findOnChainPayment(deps, intent, order)]);
  if (paid !== null) return adopt(deps, intent, order, paid);
  if (error !== null) return refused(deps, order, error, message);

  return signAndBroadcast(deps, intent, { order, message, creates: plan.creates, latest });
};

type Draft = { order: OwnOrder; message: Uint8Array; creates: string | null; latest: Blockhash };

/** Signs, commits and sends what was simulated, within the caps and budgets of the day. */
const signAndBroadcast = async (deps: ExecutorDeps, intent: ClaimedIntent, draft: Draft): Promise<Outcome> => {
  const { ownBudgets, logger } = deps;
  const { order, creates } = draft;
  const { intent_id: intentId, generation } = intent;
  const work: OwnTransaction = { order, intentId, generation, accountId: order.accountId, creates };
  if (!ownBudgets.beginCreation(creates)) return { waitMs: CREATING_MS };
  let isCommitted = false;
  try {
    const fees = await ownBudgets.beforeSigning(work);
    const outcome = await signWithinCaps(deps, intent, draft, work);
    isCommitted = outcome === 'launched';
    if (!isCommitted) fees.release();
    return outcome;
  } catch (error) {
    if (!(error instanceof BudgetUsedUp)) throw error;
    logger.error({ intent: intentId, budget: error.claim }, 'daily lamport budget used up, the work waits');
    return { waitMs: CAPPED_MS };
  } finally {
    ownBudgets.endCreation(creates, isCommitted);
  }
};

const signWithinCaps = async (
  deps: ExecutorDeps,
  intent: ClaimedIntent,
  { order, message, creates, latest }: Draft,
  work: OwnTransaction,
): Promise<Outcome> => {
  const reserved = order.kind === 'settle' ? await reservePayment(deps.caps, intent, order) : null;
  if (reserved !== null && 'reached' in reserved) {
    const { reached: cap } = reserved;
    count('quittance_cap_refusals_total', 1, { cap });
    deps.logger.error({ intent: intent.intent_id, cap }, 'hourly cap reached, the payment waits');
    return { waitMs: CAPPED_MS };
  }
  const signatures = await signFor(deps.signers, signersOf(order, deps.network), message);
  await failpoint('submitter.afterSign');
  const signed = {
    signature: bs58.encode(signatures[0]!),
    wire: assemble(message, signatures),
    lastValidBlockHeight: latest.lastValidBlockHeight,
    creates,
    signBefore: order.signBefore,
  };
  const outcome = toOutcome(await commitAndBroadcast(deps, intent, order, { signed, work }));
  if (outcome !== 'launched') reserved?.release();
  return outcome;
};

const decide = async (deps: ExecutorDeps, intent: ClaimedIntent): Promise<Outcome> => {
  const { signature, wire, last_valid_block_height: lastValid, generation } = intent;
  let order: Order | null = null;
  let refusal: Failure | null = null;
  try {
    order = parseOrder(intent, deps);
  } catch (error) {
    if (!(error instanceof OrderRefused)) throw error;
    refusal = error.failure;
  }
  // Bytes that may land come first, whatever has become of the order: the same ones again, never others.
  if (signature !== null && wire !== null && lastValid !== null) {
    const bytes = { signature, wire, generation, lastValidBlockHeight: Number(lastValid) };
    broadcast(deps, toInFlight(intent, order, bytes));
    return 'launched';
  }
  // A worker that confirmed it and one that proved it dead were both right, at two sides of a fork.
  if (intent.status === 'confirmed' && intent.tx_hash !== null) {
    await transition(deps, 'fork', [{ intent, generation, txHash: intent.tx_hash }]);
    return { waitMs: 0 };
  }
  if (order === null) return { failure: refusal! };
  // The owner signed one message; another generation would need another signature of theirs.
  if (isUserSigned(order)) return failUnlessPaid(deps, intent, order, EXPIRED);
  // It may have paid while its key was here, before this record was lost: the chain is asked all the same.
  if (order.kind === 'settle' && !deps.network.delegateAuthorities.includes(order.authority)) {
    const approved = byApproved(deps, order, (await deps.chain.tokenAccount(order.payer)).account);
    if (approved === null) return failUnlessPaid(deps, intent, order, RETIRED);
    order = approved;
  }
  for (let tries = 0; tries < TRIES; tries++) {
    if (intent.read_at > order.signBefore) return failUnlessPaid(deps, intent, order, TOO_LATE);
    if (intent.paused) return { waitMs: PAUSED_MS };
    const verdict = await attempt(deps, intent, order);
    if (typeof verdict === 'object' && 'approved' in verdict) order = verdict.approved;
    else if (verdict !== 'again') return verdict;
  }
  return { waitMs: TROUBLE_MS };
};

/**
 * The driver: takes leased intents and brings each to bytes in flight, to its end, or back to rest. It never
 * rejects; what goes wrong is logged and tried again by the sweeper.
 */
export const createExecutor = (deps: ExecutorDeps) => {
  const { inFlight, pool, logger, workerId } = deps;
  const running = new Set<Promise<void>>();

  const release = async (intentId: string, delayMs: number): Promise<void> => {
    await releaseIntent(pool, intentId, workerId, delayMs).catch((error: unknown) =>
      logger.warn({ err: error, intent: intentId }, 'could not be given back, its lease runs out'),
    );
    inFlight.end(intentId);
  };

  const run = async (intent: ClaimedIntent): Promise<void> => {
    const { intent_id: intentId } = intent;
    try {
      const verdict = await decide(deps, intent);
      if (verdict === 'launched') return;
      if (typeof verdict === 'object' && 'failure' in verdict) {
        const { generation, tx_hash: txHash } = intent;
        await transition(deps, 'fail', [{ intent, generation, txHash, failure: verdict.failure }]);
        logger.info({ intent: intentId, failure: verdict.failure }, 'failed, nothing moved');
        inFlight.end(intentId);
      } else if (typeof verdict === 'object') await release(intentId, verdict.waitMs);
      else inFlight.end(intentId);
    } catch (error) {
      if (error instanceof PolicyError) {
        count('quittance_anomalies_total', 1, { kind: 'policy_refused' });
        logger.fatal({ err: error, intent: intentId }, 'refused by policy');
      } else logger.warn({ err: error, intent: intentId }, 'driving failed, tried again');
      await release(intentId, error instanceof PolicyError ? CAPPED_MS : TROUBLE_MS);
    }
  };

  const execute = (intent: ClaimedIntent): void => {
    if (!inFlight.begin(intent.intent_id)) return;
    const { kind, generation, traceparent } = intent;
    const attributes = { 'quittance.generation': generation };
    const work = inTraceOf(traceparent, () =>
      inSpan(`drive ${kind}`, { kind: SpanKind.INTERNAL, attributes }, () => run(intent)),
    ).finally(() => running.delete(work));
    running.add(work);
  };

  return {
    drive: execute,
    /** Leases one intent now, if nobody else has it, and drives it. */
    executeNow: async (intentId: string): Promise<void> => {
      const claimed = await claimIntents(pool, {
        workerId,
        executing: inFlight.ids(),
        limit: 1,
        only: intentId,
      });
      for (const intent of claimed) execute(intent);
    },
    /** Gives an intent back and takes it up again, from what the tables say. */
    rest: release,
    /** Resolves when no intent is being built or signed any more. */
    idle: () => Promise.allSettled(running),
  };
};
export type Executor = ReturnType<typeof createExecutor>;
