import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { BalanceChanges } from '../ledger/model/balance-changes.ts';
import type { Network } from '../ledger/model/network.ts';
import type { Order } from '../ledger/model/order.ts';
import { expectedDeltas, movedOrder } from '../ledger/model/payment.ts';
import type { InFlightTransaction } from './in-flight.ts';
import { findConfirmedView } from './model/agreement.ts';
import type { Observation } from './signature-statuses.ts';

/** A provider may lag this long before a disagreement counts as a dispute. */
const DOUBT_MS = 10_000;

/**
 * Raises the alarm once per transaction. The payment waits until the providers agree or an operator
 * removes one.
 */
export const reportDispute = (
  deps: { logger: Logger },
  transaction: InFlightTransaction,
  views: readonly object[],
): void => {
  if (transaction.disputed) return;
  transaction.disputed = true;
  count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
  deps.logger.error(
    { intent: transaction.intent.intent_id, signature: transaction.signature, views },
    'providers disagree about a transaction, the payment waits',
  );
};

/**
 * Records that the providers do not agree. A lagging provider explains it for a moment; later it is
 * a dispute.
 */
export const recordDoubt = (
  deps: { logger: Logger },
  transaction: InFlightTransaction,
  views: readonly object[],
): void => {
  transaction.doubtedAt ??= performance.now();
  if (performance.now() - transaction.doubtedAt >= DOUBT_MS) reportDispute(deps, transaction, views);
};

/** The balance changes of a transaction, as another provider reports them. */
export type Witness = { provider: number; answer: BalanceChanges } | null;

/**
 * Reads a transaction's balance changes from another provider; null while no other has it as
 * confirmed.
 */
export const queryWitness = (
  { rpc }: { rpc: RpcPool },
  { signature }: InFlightTransaction,
  than: number,
): Promise<Witness> => rpc.another(than, (provider) => provider.balances(signature, 'confirmed'));

const isByOutcome = (order: Order | null): boolean => order?.kind === 'incoming' && order.byOutcome;

/**
 * Whether a payment whose bytes do not show its transfers has made them. If it has not, it waits
 * for an operator: it is not paid, and nobody may be told that no money moved.
 */
const hasMoved = async (
  { rpc, network, logger }: { rpc: RpcPool; network: Network; logger: Logger },
  transaction: InFlightTransaction,
  by: number,
): Promise<boolean> => {
  const { order, signature, intent } = transaction;
  const changes = await rpc.providers.find(({ number }) => number === by)!.balances(signature, 'confirmed');
  if (changes === null) return false;
  if (movedOrder(changes, order, network)) return true;
  if (!transaction.disputed) {
    transaction.disputed = true;
    count('quittance_anomalies_total', 1, { kind: 'balance_mismatch' });
    const log = { intent: intent.intent_id, signature, slot: changes.slot };
    logger.error(log, 'payment of a smart wallet included, balances differ from the order, it waits');
  }
  return false;
};

/**
 * Whether a witness corroborates that a transaction succeeded in the same slot with the amounts of
 * its order. If the provider that reported the transaction reads the same other amounts, they are
 * correct, and the check before finality raises its alarm.
 * @param by the provider that has it as confirmed, in this slot
 */
const corroborates = async (
  { rpc, network }: { rpc: RpcPool; network: Network },
  { order, signature }: InFlightTransaction,
  { by, slot, witness }: { by: number; slot: number; witness: NonNullable<Witness> },
): Promise<boolean> => {
  const { answer } = witness;
  // The slot decides whether a wallet's snapshot is older than the payment, so no provider may
  // invent it.
  if (answer.slot !== slot) return false;
  if (movedOrder(answer, order, network)) return true;
  if (answer.err !== null || order === null || isByOutcome(order)) return false;
  const first = await rpc.providers.find(({ number }) => number === by)!.balances(signature, 'confirmed');
  return (
    first !== null &&
    first.err === null &&
    expectedDeltas(order, network).every(([account]) => first.deltaOf(account) === answer.deltaOf(account))
  );
};

/**
 * Whether a transaction that one provider has as confirmed may count as confirmed, because another
 * provider reads the same amounts. Until then the payment waits. Otherwise one provider could
 * invent a confirmation, and a settlement would be issued for nothing.
 */
export const isCorroborated = async (
  deps: { rpc: RpcPool; network: Network; logger: Logger },
  { transaction, views }: Observation,
  queried?: Promise<Witness>,
): Promise<boolean> => {
  const { provider: by, status } = findConfirmedView(views)!;
  if (isByOutcome(transaction.order) && !(await hasMoved(deps, transaction, by))) return false;
  if (deps.rpc.providers.length === 1) return true;
  const early = await queried;
  const witness = early && early.provider !== by ? early : await queryWitness(deps, transaction, by);
  if (witness === null) {
    recordDoubt(deps, transaction, views);
    return false;
  }
  if (await corroborates(deps, transaction, { by, slot: status!.slot, witness })) {
    deps.rpc.recordSlot(witness.provider, witness.answer.slot);
    return true;
  }
  const { provider, answer } = witness;
  const read = { provider, slot: answer.slot, err: answer.err };
  // The two providers may have seen it on two sides of a fork. Other amounts in one slot are a
  // dispute.
  if (answer.err === null && answer.slot !== status!.slot) recordDoubt(deps, transaction, [...views, read]);
  else reportDispute(deps, transaction, [...views, read]);
  return false;
};
