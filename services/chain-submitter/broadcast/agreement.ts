import type { Logger } from '../../../shared/lib/logger.ts';
import { count } from '../../../shared/lib/metrics.ts';
import type { BalanceChanges } from '../chain/balance-changes.ts';
import type { Network } from '../chain/model/network.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { expectedDeltas, movedOrder } from '../intents/adoption.ts';
import type { InFlightTransaction } from './in-flight.ts';
import { findConfirmedView, type View } from './model/agreement.ts';
import type { Observation } from './signature-statuses.ts';

/** One that lags is given this time before what another says without it counts as a dispute. */
const DOUBT_MS = 10_000;

type AskedDeps = { rpc: Rpc; network: Network };

/** Raises the alarm, once for these bytes: the payment waits until the providers agree or an operator takes one out. */
export const reportDispute = (deps: { logger: Logger }, transaction: InFlightTransaction, views: readonly object[]): void => {
  if (transaction.disputed) return;
  transaction.disputed = true;
  count('quittance_anomalies_total', 1, { kind: 'providers_disagree' });
  deps.logger.error(
    { intent: transaction.intent.intent_id, tx: transaction.signature, views },
    'providers disagree about a transaction, the payment waits',
  );
};

/** What one provider says is not borne out by the others: for a moment they may lag, later it is a dispute. */
export const recordDoubt = (deps: { logger: Logger }, transaction: InFlightTransaction, views: readonly object[]): void => {
  transaction.doubtedAt ??= performance.now();
  if (performance.now() - transaction.doubtedAt >= DOUBT_MS) reportDispute(deps, transaction, views);
};

/** What every provider says, in its history too. @throws RpcUnavailable when one of them is silent */
export const queryAllProviders = (
  { rpc }: { rpc: Rpc },
  { signature }: Pick<InFlightTransaction, 'signature'>,
): Promise<View[]> =>
  Promise.all(
    rpc.providers.map(async (provider) => {
      const { statuses } = await provider.statuses([signature], { history: true });
      return { provider: provider.number, status: statuses[0] ?? null };
    }),
  );

/** A provider's reading of a transaction's balances. */
export type Witness = { provider: number; answer: BalanceChanges } | null;

/** Reads the balances of a transaction from another provider than this one; null while none has it as confirmed. */
export const queryWitness = ({ rpc }: { rpc: Rpc }, { signature }: InFlightTransaction, than: number): Promise<Witness> =>
  rpc.another(than, (provider) => provider.balances(signature, 'confirmed'));

/**
 * Whether a witness bears out that a transaction succeeded with the amounts of its order, in the same slot. Other amounts are no lie of
 * one provider when the one that reported the transaction read them as well: then they are what happened, and the check
 * before finality raises its own alarm.
 * @param by the provider that has it as confirmed, in this slot
 */
const corroborates = async (
  { rpc, network }: AskedDeps,
  { order, signature }: InFlightTransaction,
  { by, slot, witness }: { by: number; slot: number; witness: NonNullable<Witness> },
): Promise<boolean> => {
  const { answer } = witness;
  // Whose sight of a wallet is older than the payment is decided by the slot: nobody may invent it.
  if (answer.slot !== slot) return false;
  if (movedOrder(answer, order, network)) return true;
  if (answer.err !== null || order === null) return false;
  const first = await rpc.providers.find(({ number }) => number === by)!.balances(signature, 'confirmed');
  return (
    first !== null &&
    first.err === null &&
    expectedDeltas(order, network).every(([account]) => first.deltaOf(account) === answer.deltaOf(account))
  );
};

/**
 * One that a provider has as confirmed, once another one has read the same amounts. While it has not, the payment waits:
 * what one provider invents would issue a settlement for nothing.
 * @returns whether the flight may be confirmed
 */
export const isCorroborated = async (
  deps: AskedDeps & { logger: Logger },
  { transaction, views }: Observation,
  asked?: Promise<Witness>,
): Promise<boolean> => {
  if (deps.rpc.providers.length === 1) return true;
  const { provider: by, status } = findConfirmedView(views)!;
  const early = await asked;
  const witness = early && early.provider !== by ? early : await queryWitness(deps, transaction, by);
  if (witness === null) {
    recordDoubt(deps, transaction, views);
    return false;
  }
  if (await corroborates(deps, transaction, { by, slot: status!.slot, witness })) {
    deps.rpc.see(witness.provider, witness.answer.slot);
    return true;
  }
  const { provider, answer } = witness;
  const read = { provider, slot: answer.slot, err: answer.err };
  // Each may have seen it on another side of a fork, or with other amounts.
  if (answer.err === null && answer.slot !== status!.slot) recordDoubt(deps, transaction, [...views, read]);
  else reportDispute(deps, transaction, [...views, read]);
  return false;
};
