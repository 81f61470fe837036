import bs58 from 'bs58';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { laneOf } from '../../../shared/lib/lane.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { adoptedBytes, broadcast, commitAndBroadcast } from '../broadcast/broadcast.ts';
import { type InFlightTransactions, toInFlight } from '../broadcast/in-flight.ts';
import type { Blockhashes } from '../chain/blockhashes.ts';
import type { PriorityFees } from '../chain/priority-fees.ts';
import type { Blockhash, RpcPool } from '../chain/rpc-pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { ChainError } from '../ledger/model/chain-error.ts';
import { errorKind, type Failure, otherFailure, settleFailure } from '../ledger/model/failure.ts';
import { type Network, networkOfLane } from '../ledger/model/network.ts';
import type { Order, OwnOrder, SettleOrder } from '../ledger/model/order.ts';
import type { TokenAccount } from '../ledger/model/token-account.ts';
import { type ClaimedIntent, reviveTransaction } from '../ledger/store/intents.ts';
import { transition } from '../ledger/transition.ts';
import { BudgetUsedUp } from '../limits/fee-budgets.ts';
import type { OwnBudgets, OwnTransaction } from '../limits/own-budgets.ts';
import { type Caps, reservePayment } from '../limits/spending-caps.ts';
import { type Signers, SignerUnavailable, signFor } from '../signing/signer.ts';
import { compileMessage } from '../transactions/compile-message.ts';
import { findCreationIndex } from '../transactions/message.ts';
import { checkPolicy, signersOf } from '../transactions/policy.ts';
import { findOnChainPayment } from './adoption.ts';
import { planTransaction } from './plan.ts';

/** Delay after a failure of the providers, of the fee payer or of the signer. */
export const RETRY_MS = 1000;
/** Delay after a used-up cap or budget, and after a refusal by the policy. */
export const CAPPED_MS = 15_000;
/** Delay while another transaction creates the token account. */
const CREATING_MS = 300;

export type AttemptDeps = {
  pool: Pool;
  workerId: string;
  relay: Outbox;
  logger: Logger;
  network: Network;
  rpc: RpcPool;
  tokenAccounts: TokenAccounts;
  blockhashes: Blockhashes;
  priorityFees: PriorityFees;
  signers: Signers;
  caps: Caps;
  ownBudgets: OwnBudgets;
  groupCommit: GroupCommit;
  inFlight: InFlightTransactions;
};

/**
 * The result of executing an intent for now. `broadcast`: its bytes are in flight; `done`: it is
 * final.
 */
export type Outcome = { failure: Failure } | { waitMs: number } | 'broadcast' | 'done';
/**
 * The result of one attempt. `approved`: the order by another authority; `again`: the attempt is
 * repeated at once.
 */
type AttemptResult = Outcome | { approved: SettleOrder } | 'again';
/** A transaction that is built and not signed. */
type Draft = OwnTransaction & { intent: ClaimedIntent; message: Uint8Array; latest: Blockhash };

/**
 * The order by the configured authority that the payer has approved. Null when that is the order's
 * authority already, or when the payer has approved none.
 */
export const withApprovedAuthority = (
  { network }: Pick<AttemptDeps, 'network'>,
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

/**
 * Evaluates a refused simulation. Nothing was signed, so a proven refusal fails the intent at once.
 */
const evaluateRefusal = async (
  deps: AttemptDeps,
  order: OwnOrder,
  error: ChainError,
  message: Uint8Array,
): Promise<AttemptResult> => {
  const { tokenAccounts, blockhashes, logger } = deps;
  const creation = findCreationIndex(message);
  const kind = errorKind(error, creation);
  if (kind === 'stale') {
    blockhashes.invalidate();
    return 'again';
  }
  if (kind === 'ours') {
    logger.error(
      { simulation: error, kind: order.kind },
      'simulation failed because of the fee payer or a provider, trying again',
    );
    return { waitMs: RETRY_MS };
  }
  if (order.kind !== 'settle') return { failure: otherFailure(order.kind, error) };
  const [source, payout] = await Promise.all([
    tokenAccounts.get(order.payer),
    tokenAccounts.get(order.payout),
  ]);
  // The plan used a cached state, and the account was closed since.
  if (creation === null && payout.account.state === 'missing') return 'again';
  // The payer may have approved another authority after the job was written.
  const approved = withApprovedAuthority(deps, order, source.account);
  return approved === null ? { failure: settleFailure(error, source.account, order) } : { approved };
};

/** When bytes were not committed, the next execution finds the reason. */
const toOutcome = (committed: Awaited<ReturnType<typeof commitAndBroadcast>>): Outcome => {
  if (committed === 'broadcast') return committed;
  return { waitMs: committed === 'over_budget' ? CAPPED_MS : RETRY_MS };
};

/**
 * Makes a transaction of this intent live again that was wrongly recorded as expired. It is polled,
 * and no other transaction is signed for the intent while it is live.
 */
const reviveOwn = async (
  deps: AttemptDeps,
  intent: ClaimedIntent,
  order: Order,
  signature: string,
): Promise<Outcome> => {
  count('quittance_anomalies_total', 1, { kind: 'expired_included' });
  deps.logger.error(
    { intent: intent.intent_id, signature },
    'transaction recorded as expired is on the chain, polling it again',
  );
  const revived = await reviveTransaction(deps.pool, intent, signature);
  // The intent has changed. The next execution reads its new state.
  if (revived === null) return { waitMs: RETRY_MS };
  const { wire, last_valid_block_height: lastValid } = revived;
  const { generation } = intent;
  const bytes = { generation, signature, wire, lastValidBlockHeight: Number(lastValid) };
  // The transaction may be older than a provider's status cache, so its first poll searches the
  // history.
  broadcast(deps, { ...toInFlight(intent, order, bytes), missedPolls: 1 });
  return 'broadcast';
};

/**
 * Adopts a payment that the chain has and the record has not, or fails when it is another intent's.
 */
const adopt = async (
  deps: AttemptDeps,
  intent: ClaimedIntent,
  order: Order,
  payment: NonNullable<Awaited<ReturnType<typeof findOnChainPayment>>>,
): Promise<Outcome> => {
  if (payment === 'by another')
    return { failure: { code: 'payment_failed', message: 'the quote is paid already' } };
  const { own, signature, lastValidBlockHeight } = payment;
  if (own) return reviveOwn(deps, intent, order, signature);
  count('quittance_anomalies_total', 1, { kind: 'adopted' });
  deps.logger.error(
    { intent: intent.intent_id, signature },
    'payment without a record found on the chain, adopting it',
  );
  const signed = adoptedBytes(intent, { signature, lastValidBlockHeight });
  return toOutcome(await commitAndBroadcast(deps, intent, order, { signed, own: null }));
};

/** Fails an intent for which nothing may be signed any more, unless the chain has its payment. */
export const failUnlessPaid = async (
  deps: AttemptDeps,
  intent: ClaimedIntent,
  order: Order,
  failure: Failure,
): Promise<Outcome> => {
  const payment = await findOnChainPayment(deps, intent, order);
  return payment === null ? { failure } : adopt(deps, intent, order, payment);
};

/**
 * Signs the next generation of an order: plan, build, check, simulate unsigned, sign, commit, and
 * only then send (rules 7 to 13).
 */
export const attemptOrder = async (
  parts: AttemptDeps,
  intent: ClaimedIntent,
  order: OwnOrder,
): Promise<AttemptResult> => {
  const network = networkOfLane(parts.network, laneOf(order.accountId));
  const deps = { ...parts, network };
  const { blockhashes, rpc } = deps;
  const [plan, latest] = await Promise.all([
    planTransaction(deps, order, intent.generation),
    blockhashes.get(),
  ]);
  if ('failure' in plan) return failUnlessPaid(deps, intent, order, plan.failure);
  if ('creating' in plan) return { waitMs: CREATING_MS };
  if ('done' in plan) {
    const done = { intent, generation: intent.generation, signature: null };
    await transition(deps, 'confirm', [done]);
    await transition(deps, 'finalize', [done]);
    return 'done';
  }
  const { feePayer } = network;
  const message = compileMessage(plan.instructions, { feePayer, blockhash: latest.blockhash });
  checkPolicy(message, order, network);

  const unsigned = assemble(
    message,
    signersOf(order, network).map(() => null),
  );
  const [error, payment] = await Promise.all([
    rpc.simulate(unsigned),
    findOnChainPayment(deps, intent, order),
  ]);
  if (payment !== null) return adopt(deps, intent, order, payment);
  if (error !== null) return evaluateRefusal(deps, order, error, message);

  return signAndBroadcast(deps, { intent, order, creates: plan.creates, message, latest });
};

/** Signs, commits and sends a simulated transaction, within the caps and budgets of the day. */
const signAndBroadcast = async (deps: AttemptDeps, draft: Draft): Promise<Outcome> => {
  const { ownBudgets, logger } = deps;
  const { intent, creates } = draft;
  if (!ownBudgets.beginCreation(creates)) return { waitMs: CREATING_MS };
  let isCommitted = false;
  try {
    const fees = await ownBudgets.beforeSigning(draft);
    const outcome = await signWithinCaps(deps, draft);
    isCommitted = outcome === 'broadcast';
    if (!isCommitted) fees.release();
    return outcome;
  } catch (error) {
    if (!(error instanceof BudgetUsedUp)) throw error;
    const log = { intent: intent.intent_id, budget: error.claim };
    logger.error(log, 'daily lamport budget used up, intent waits');
    return { waitMs: CAPPED_MS };
  } finally {
    ownBudgets.endCreation(creates, isCommitted);
  }
};

/** Null while a key cannot be used. Nothing has been signed, so the intent waits. */
const signOrWait = async (
  { signers, network, logger }: AttemptDeps,
  { intent, order, message }: Draft,
): Promise<Uint8Array[] | null> => {
  try {
    return await signFor(signers, signersOf(order, network), message);
  } catch (error) {
    if (!(error instanceof SignerUnavailable)) throw error;
    logger.error({ err: error, intent: intent.intent_id }, 'signer unavailable, intent waits');
    return null;
  }
};

const signWithinCaps = async (deps: AttemptDeps, draft: Draft): Promise<Outcome> => {
  const { intent, order, creates, message, latest } = draft;
  const reserved = order.kind === 'settle' ? await reservePayment(deps.caps, intent, order) : null;
  if (reserved !== null && 'reached' in reserved) {
    const { reached: cap } = reserved;
    count('quittance_cap_refusals_total', 1, { cap });
    deps.logger.error({ intent: intent.intent_id, cap }, 'hourly cap reached, payment waits');
    return { waitMs: CAPPED_MS };
  }
  const signatures = await signOrWait(deps, draft);
  if (signatures === null) {
    reserved?.release();
    return { waitMs: RETRY_MS };
  }
  await failpoint('submitter.afterSign');
  const signed = {
    generation: intent.generation + 1,
    signature: bs58.encode(signatures[0]!),
    wire: assemble(message, signatures),
    lastValidBlockHeight: latest.lastValidBlockHeight,
    creates,
    signBefore: order.signBefore,
  };
  const outcome = toOutcome(await commitAndBroadcast(deps, intent, order, { signed, own: draft }));
  if (outcome !== 'broadcast') reserved?.release();
  return outcome;
};
