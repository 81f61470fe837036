import type { Provider, Rpc } from '../chain/rpc-pool.ts';
import type { InFlightTransaction } from './in-flight.ts';
import type { View } from './model/agreement.ts';

type Deps = {
  rpc: Rpc;
};

/** What providers say of a flight. */
export type Observation = { transaction: InFlightTransaction; views: readonly View[] };

/**
 * Statuses of all given flights in as few calls as there are: from the first provider that answers, from those that do so
 * soon, or from every one; then one that is silent leaves nothing.
 */
export const readStatuses = async (
  { rpc }: Deps,
  inFlight: readonly InFlightTransaction[],
  from: 'first' | 'soon' | 'every',
): Promise<Observation[]> => {
  const signatures = inFlight.map(({ signature }) => signature);
  // One that landed may be older than a node's short memory, after a standstill of ours; the search is dear.
  const history = inFlight.some(({ missedPolls: missed }) => missed > 0);
  const ask = async (provider: Provider) => {
    const { statuses } = await provider.statuses(signatures, { history });
    return { provider: provider.number, statuses };
  };
  const ways = {
    first: async () => [await rpc.first(ask)],
    soon: () => rpc.soon(ask),
    every: () => Promise.all(rpc.providers.map(ask)),
  };
  const answers = await ways[from]();
  if (answers.length === 0) return [];
  return inFlight.map((transaction, index) => ({
    transaction,
    views: answers.map(({ provider, statuses }) => ({ provider, status: statuses[index] ?? null })),
  }));
};
