import type { BalanceChanges } from '../ledger/model/balance-changes.ts';
import { RpcUnavailable } from './json-rpc.ts';
import type { Provider } from './provider.ts';
import type { RpcPool } from './rpc-pool.ts';

/**
 * A block's time is an estimate of the validators and may differ this much from the clock that
 * issued a quote.
 */
export const BLOCK_TIME_ERROR_MS = 30 * 60_000;
/**
 * A longer list is invented by its provider, because a million transactions would cost more than
 * 500 USD.
 */
const MAX_PAGES = 1000;

/** A search by reference. Nothing under the reference is older than `since`, epoch milliseconds. */
export type Search = { reference: string; since: number };
type Listed = Awaited<ReturnType<Provider['listSignatures']>>[number];

/**
 * Every transaction under a reference that one provider lists, newest first.
 * @throws RpcUnavailable
 */
export const listTransactionsAt = async (
  provider: Provider,
  { reference, since }: Search,
): Promise<Listed[]> => {
  const found: Listed[] = [];
  let before: string | undefined;
  // A short page is not the end, because each provider decides how long its pages are. An empty
  // page is.
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await provider.listSignatures(reference, before);
    found.push(...page);
    const last = page.at(-1);
    if (last === undefined) return found;
    // Anybody who knows the reference can add transactions under it. Before the quote is issued
    // only its vendor knows it.
    if (last.at !== null && last.at < since - BLOCK_TIME_ERROR_MS) return found;
    before = last.signature;
  }
  throw new RpcUnavailable(`provider ${provider.number}: a list of transactions without an end`);
};

const listAt = async (provider: Provider, search: Search): Promise<string[]> =>
  (await listTransactionsAt(provider, search))
    .filter(({ succeeded }) => succeeded)
    .map(({ signature }) => signature);

/**
 * Succeeded transactions under a reference. `everywhere`: every provider must have answered.
 * @throws RpcUnavailable
 */
export const listSignaturesUnder = async (
  rpc: RpcPool,
  search: Search,
  { everywhere }: { everywhere: boolean },
): Promise<string[]> => {
  if (!everywhere) return rpc.first((provider) => listAt(provider, search));
  const lists = await Promise.all(rpc.providers.map((provider) => listAt(provider, search)));
  return [...new Set(lists.flat())];
};

const readBalances = (signature: string) => (provider: Provider) => provider.balances(signature, 'confirmed');

/**
 * A transaction's balance changes from every provider that has it. @throws RpcUnavailable when none
 * has it
 */
export const readAllBalanceChanges = async (rpc: RpcPool, signature: string): Promise<BalanceChanges[]> => {
  const answers = await Promise.allSettled(rpc.providers.map(readBalances(signature)));
  const found = answers.flatMap((answer) =>
    answer.status === 'fulfilled' && answer.value !== null ? [answer.value] : [],
  );
  if (found.length > 0) return found;
  throw new RpcUnavailable('no provider returns the balance changes of a transaction under the reference');
};

/**
 * A transaction's balance changes from the first provider that has it. @throws RpcUnavailable when
 * none has it
 */
export const readBalanceChanges = async (rpc: RpcPool, signature: string): Promise<BalanceChanges> => {
  const changes = await rpc.first(readBalances(signature)).catch(() => null);
  // A provider without history must not make a payment look absent.
  return changes ?? (await readAllBalanceChanges(rpc, signature))[0]!;
};
