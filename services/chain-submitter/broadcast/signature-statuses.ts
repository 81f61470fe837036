import type { Provider } from '../chain/provider.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { InFlightTransaction } from './in-flight.ts';
import type { View } from './model/agreement.ts';

/** The providers' views of a transaction at one poll. */
export type Observation = { transaction: InFlightTransaction; views: readonly View[] };

/**
 * Reads the statuses of all given transactions in as few calls as possible.
 * @param from `first`: the first provider that answers; `soon`: those that answer within a moment;
 *   `every`: all of them, so that the read fails when one does not answer
 */
export const readStatuses = async (
  { rpc }: { rpc: RpcPool },
  transactions: readonly InFlightTransaction[],
  from: 'first' | 'soon' | 'every',
): Promise<Observation[]> => {
  const signatures = transactions.map(({ signature }) => signature);
  // After this process was suspended, an included transaction may be older than a provider's status
  // cache. The history is searched only then, because that is expensive.
  const history = transactions.some(({ missedPolls }) => missedPolls > 0);
  const read = async (provider: Provider) => {
    const { statuses } = await provider.statuses(signatures, { history });
    return { provider: provider.number, statuses };
  };
  const queries = {
    first: async () => [await rpc.first(read)],
    soon: () => rpc.soon(read),
    every: () => Promise.all(rpc.providers.map(read)),
  };
  const answers = await queries[from]();
  if (answers.length === 0) return [];
  return transactions.map((transaction, index) => ({
    transaction,
    views: answers.map(({ provider, statuses }) => ({ provider, status: statuses[index] ?? null })),
  }));
};

/**
 * Every provider's view of a signature, its history included. @throws RpcUnavailable when one does
 * not answer
 */
export const readEveryView = (
  { rpc }: { rpc: RpcPool },
  { signature }: Pick<InFlightTransaction, 'signature'>,
): Promise<View[]> =>
  Promise.all(
    rpc.providers.map(async (provider) => {
      const { statuses } = await provider.statuses([signature], { history: true });
      return { provider: provider.number, status: statuses[0] ?? null };
    }),
  );
