import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { TokenDeltas } from '../ledger/model/balance-changes.ts';
import type { Network } from '../ledger/model/network.ts';
import { costOf } from '../ledger/model/network-cost.ts';
import { expectedDeltas } from '../ledger/model/payment.ts';
import { transition } from '../ledger/transition.ts';
import type { OwnBudgets } from '../limits/own-budgets.ts';
import type { InFlightTransaction, InFlightTransactions } from './in-flight.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  logger: Logger;
  network: Network;
  rpc: RpcPool;
  inFlight: InFlightTransactions;
  ownBudgets: Pick<OwnBudgets, 'earned'>;
};

/**
 * After so many unanswered reads of its balances a final transaction counts as final without the
 * check.
 */
const MAX_UNANSWERED = 30;

const expectedOf = ({ network }: Deps, { order }: InFlightTransaction) =>
  order === null ? [] : expectedDeltas(order, network);

/** The cost is not known. The job reads it (`./unread-costs.ts`). */
const UNREAD = { cost: null } as const;

/**
 * Compares a transaction's balance changes with its order.
 * @param read the changes, if they were read with those of its block
 * @returns the changes, or `UNREAD` when they need no check or were asked for too often; null when
 *   no provider returns them yet
 */
const checkBalances = async (
  deps: Deps,
  transaction: InFlightTransaction,
  read: TokenDeltas | undefined,
): Promise<Pick<TokenDeltas, 'cost'> | null> => {
  const { rpc, logger } = deps;
  const { signature, intent } = transaction;
  const expected = expectedOf(deps, transaction);
  if (expected.length === 0) return UNREAD;
  const changes =
    read ?? (await rpc.first((provider) => provider.balances(signature, 'finalized')).catch(() => null));
  if (changes === null) {
    transaction.unansweredReads += 1;
    if (transaction.unansweredReads < MAX_UNANSWERED) return null;
    logger.error({ intent: intent.intent_id, signature }, 'transaction finalized, balances not read');
    return UNREAD;
  }
  const wrong = expected.filter(([account, delta]) => changes.deltaOf(account) !== delta);
  if (wrong.length > 0) {
    // This raises an alarm and fails nothing: a final transaction has happened, and the record must
    // show it.
    const accounts = wrong.map(([account]) => account);
    count('quittance_anomalies_total', 1, { kind: 'balance_mismatch' });
    logger.error(
      { intent: intent.intent_id, signature, accounts },
      'transaction finalized, balances differ from the order',
    );
  }
  return changes;
};

/**
 * Finalizes confirmed intents whose transaction is final, after the check of its balance changes
 * (rule 14).
 */
export const finalize = async (deps: Deps, transactions: readonly InFlightTransaction[]): Promise<void> => {
  const toCheck = transactions.filter((transaction) => expectedOf(deps, transaction).length > 0);
  const read = await deps.rpc.readFinalizedBlocks(toCheck);
  const results = await Promise.all(
    transactions.map(async (transaction) => ({
      transaction,
      changes: await checkBalances(deps, transaction, read.get(transaction.signature)),
    })),
  );
  const checked = results.flatMap(({ transaction, changes }) =>
    changes === null ? [] : [{ ...transaction, paid: costOf(transaction, changes.cost, deps.network) }],
  );
  if (checked.length === 0) return;
  const changed = await transition(deps, 'finalize', checked);
  // Where another worker has finalized one of them, nobody can tell which ones it has counted.
  if (changed === checked.length) for (const { order } of checked) deps.ownBudgets.earned(order);
  for (const { intent } of checked) deps.inFlight.end(intent.intent_id);
};
