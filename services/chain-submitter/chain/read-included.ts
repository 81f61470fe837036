import type { IncludedTransaction } from './included-transaction.ts';
import { isProviderError, RpcUnavailable } from './json-rpc.ts';
import type { Provider } from './provider.ts';
import type { RpcPool } from './rpc-pool.ts';

type Deps = { rpc: RpcPool };

/**
 * The fee payer's signature proves that the message belongs to the transaction, so one provider's
 * answer is enough.
 * @throws RpcUnavailable when the answer proves nothing
 */
const readAt =
  (signature: string) =>
  async (provider: Provider): Promise<IncludedTransaction | null> => {
    const included = await provider.included(signature);
    if (included !== null && included.feePayer() === null)
      throw new RpcUnavailable(`provider ${provider.number}: a transaction with a false signature`);
    return included;
  };

/** A transaction of any sender; null when no provider that answers has it. */
export const findIncluded = async ({ rpc }: Deps, signature: string): Promise<IncludedTransaction | null> => {
  const first = await rpc.first(readAt(signature)).catch((error: unknown) => {
    if (!isProviderError(error)) throw error;
    return null;
  });
  if (first !== null) return first;
  const answers = await Promise.allSettled(rpc.providers.map(readAt(signature)));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  return found.find((included) => included !== null) ?? null;
};

/** A transaction that a provider lists. @throws RpcUnavailable when no provider returns it */
export const getIncluded = async (deps: Deps, signature: string): Promise<IncludedTransaction> => {
  const included = await findIncluded(deps, signature);
  if (included !== null) return included;
  throw new RpcUnavailable(`no provider returns the listed transaction ${signature}`);
};
