import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { hasErrorCode } from '../../../shared/lib/error-causes.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { signedEvent } from '../ledger/events.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { Order } from '../ledger/model/order.ts';
import {
  type CommitOutcome,
  commitSigned,
  type Generation,
  type SignedTransition,
} from '../ledger/store/commit-signed.ts';
import type { ClaimedIntent } from '../ledger/store/intents.ts';
import { isCommitted } from '../ledger/store/transactions.ts';
import { BudgetUsedUp } from '../limits/fee-budgets.ts';
import type { OwnBudgets, OwnTransaction } from '../limits/own-budgets.ts';
import { NotCreatable } from '../limits/token-account-rent.ts';
import { type InFlightTransaction, type InFlightTransactions, isSendable, toInFlight } from './in-flight.ts';

const UNIQUE_VIOLATION = /^23505$/;

/**
 * Registers a transaction for polling and sends it to every provider. Only the chain's state
 * counts, so no answer is awaited.
 */
export const broadcast = (
  { inFlight, rpc }: { inFlight: InFlightTransactions; rpc: RpcPool },
  transaction: InFlightTransaction,
): void => {
  const sends = transaction.phase === 'sent' && isSendable(transaction);
  inFlight.add(transaction, sends ? performance.now() + inFlight.pollInterval.firstPollMs() : 0);
  if (!sends) return;
  void rpc.broadcast(transaction.wire).then(() => failpoint('submitter.afterSend'));
};

/** The next generation of an intent whose transaction is on the chain without a record here. */
export const adoptedBytes = (
  { generation }: Pick<ClaimedIntent, 'generation'>,
  found: { signature: string; lastValidBlockHeight: number },
): Generation => ({
  generation: generation + 1,
  signature: found.signature,
  wire: new Uint8Array(),
  lastValidBlockHeight: found.lastValidBlockHeight,
  creates: null,
  signBefore: null,
});

/** Whether a unique index has refused a statement. */
export const isUniqueViolation = (error: unknown): boolean => hasErrorCode(error, UNIQUE_VIOLATION);

type Deps = {
  pool: Pool;
  workerId: string;
  relay: Outbox;
  logger: Logger;
  rpc: RpcPool;
  ownBudgets: OwnBudgets;
  groupCommit: GroupCommit;
  inFlight: InFlightTransactions;
};

/** Rolls back the reservations for bytes that are not committed. */
class NotCommitted extends Error {
  readonly reason: Extract<CommitOutcome, string>;
  constructor(reason: Extract<CommitOutcome, string>) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * Commits bytes and reservations in one transaction. Settles that create no token account share a
 * statement instead.
 */
const commitAlone = async (
  { pool, ownBudgets, workerId }: Deps,
  own: OwnTransaction,
  transition: SignedTransition,
): Promise<CommitOutcome> => {
  try {
    return await pool.transaction(async (tx) => {
      await ownBudgets.reserve(tx, own);
      const outcome = (await commitSigned(tx, [transition], workerId))[0]!;
      if (typeof outcome === 'string') throw new NotCommitted(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof NotCommitted) return error.reason;
    if (error instanceof BudgetUsedUp) return 'over_budget';
    if (error instanceof NotCreatable) return 'overtaken';
    throw error;
  }
};

/**
 * Commits signed bytes as the intent's next generation, with the intent if it is new, then sends
 * them (rule 8).
 * @param own what the bytes cost; null for an adopted transaction
 * @returns `overtaken` when the bytes were not committed, because another worker has changed the
 *   intent or has live bytes of it, or because the signing deadline has passed; `over_budget` when
 *   the platform's budget for such transactions is used up. Bytes that are not committed are
 *   discarded, and bytes that were never sent cannot be included
 * @throws when it is unknown whether the bytes are committed
 */
export const commitAndBroadcast = async (
  deps: Deps,
  intent: ClaimedIntent,
  order: Order,
  { signed, own }: { signed: Generation; own: OwnTransaction | null },
): Promise<'broadcast' | 'overtaken' | 'over_budget'> => {
  const { generation, signature } = signed;
  const signedTransition: SignedTransition = {
    intent,
    isNew: !intent.isRecorded,
    signed,
    // The caller of a settle waits for its end. That its bytes are signed is published when this
    // takes long (rebroadcast.ts).
    message: intent.kind === 'settle' ? null : signedEvent(intent, signed),
    claim: own === null ? null : deps.ownBudgets.claimOf(own),
  };
  try {
    const isAlone = own !== null && (own.creates !== null || own.order.kind !== 'settle');
    const outcome = await (isAlone
      ? commitAlone(deps, own, signedTransition)
      : deps.groupCommit.signed(signedTransition));
    if (typeof outcome === 'string') {
      if (outcome === 'over_budget' && !isAlone)
        count('quittance_budget_refusals_total', 1, { budget: 'fees_settle', dimension: 'account' });
      return outcome;
    }
    deps.relay.dispatch(outcome);
  } catch (error) {
    if (isUniqueViolation(error)) return 'overtaken';
    // The answer to the commit was lost. If the row exists, these bytes are the generation.
    deps.logger.warn(
      { err: error, intent: intent.intent_id },
      'commit of signed bytes unclear, reading the row',
    );
    // It may still appear, when the commit waits for a standby. The sweep sends its bytes then, so
    // what was reserved for them is not released.
    if (!(await isCommitted(deps.pool, { intentId: intent.intent_id, signature }))) throw error;
  }
  const label = signed.wire.length === 0 ? 'adopted' : generation === 1 ? 'first' : 'again';
  count('quittance_chain_generations_total', 1, { generation: label });
  await failpoint('submitter.afterCommit');
  broadcast(deps, toInFlight(intent, order, signed));
  return 'broadcast';
};
