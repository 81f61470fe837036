import { LRUCache } from 'lru-cache';
import type { Pool } from '../../../shared/db/pool.ts';
import { hashMessage } from '../../../shared/lib/chain/wire-transaction.ts';
import { RpcUnavailable } from '../chain/json-rpc.ts';
import type { Provider } from '../chain/provider.ts';
import { findIncluded } from '../chain/read-included.ts';
import { listTransactionsAt } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { listBuiltHere } from '../ledger/store/transactions.ts';

/** Transactions that are read concurrently. */
const CONCURRENT_READS = 16;
const MAX_CACHED = 100_000;
/** The messages of transactions of any sender, by signature. A signature has one message. */
const messageHashes = new LRUCache<string, string>({ max: MAX_CACHED });

type Deps = { rpc: RpcPool; pool: Pool };
/** A message in the history of a source. No transaction of it is older than `since`. */
export type Wanted = {
  messageHash: string;
  source: string;
  since: number;
  /** Whether a transaction that failed on chain is none. */
  succeeded?: boolean;
};

/** The hash of a transaction's message; null when no provider that answers has the transaction. */
const readMessageHash = async (deps: Pick<Deps, 'rpc'>, signature: string): Promise<string | null> => {
  const included = await findIncluded(deps, signature);
  if (included === null) return null;
  const hash = hashMessage(included.message);
  messageHashes.set(signature, hash);
  return hash;
};

/**
 * The transaction among the listed ones whose message is wanted. `unread`: a listed transaction
 * that no provider returns, so that it is unknown whether it is wanted.
 */
const findAmong = async (
  deps: Deps,
  signatures: readonly string[],
  { messageHash }: Wanted,
): Promise<{ found: string | null; unread: string | null }> => {
  const builtHere = new Set(await listBuiltHere(deps.pool, signatures));
  const others = signatures.filter((signature) => !builtHere.has(signature));
  let unread: string | null = null;
  for (let start = 0; start < others.length; start += CONCURRENT_READS) {
    const part = others.slice(start, start + CONCURRENT_READS);
    const hashes = await Promise.all(
      part.map(async (signature) => messageHashes.get(signature) ?? readMessageHash(deps, signature)),
    );
    const found = part[hashes.indexOf(messageHash)];
    if (found !== undefined) return { found, unread };
    unread ??= part[hashes.indexOf(null)] ?? null;
  }
  return { found: null, unread };
};

/**
 * Whether a provider has a transaction with the wanted message now. A fork may have dropped one
 * that was read before. A text that is no signature has none.
 */
export const isTransactionOf = async (
  deps: Pick<Deps, 'rpc'>,
  signature: string,
  { messageHash }: Wanted,
): Promise<boolean> => (await readMessageHash(deps, signature)) === messageHash;

const list = ({ source, since, succeeded: required = false }: Wanted) => {
  const search = { reference: source, since };
  return async (provider: Provider): Promise<string[]> =>
    (await listTransactionsAt(provider, search))
      .filter(({ succeeded }) => succeeded || !required)
      .map(({ signature }) => signature);
};

/**
 * The transaction of a message in the source's history, from the providers that answer soon; null
 * when they do not have it, which proves nothing.
 */
export const findTransaction = async (deps: Deps, wanted: Wanted): Promise<string | null> => {
  const lists = await deps.rpc.soon(list(wanted));
  return (await findAmong(deps, [...new Set(lists.flat())], wanted)).found;
};

/**
 * As `findTransaction`, from every provider. Null proves that no provider has a transaction of the
 * message, failed ones included.
 * @throws RpcUnavailable when a provider does not answer, or a listed transaction cannot be read
 */
export const findTransactionEverywhere = async (deps: Deps, wanted: Wanted): Promise<string | null> => {
  const lists = await Promise.all(deps.rpc.providers.map(list(wanted)));
  const { found, unread } = await findAmong(deps, [...new Set(lists.flat())], wanted);
  if (found === null && unread !== null)
    throw new RpcUnavailable(`no provider returns the listed transaction ${unread}`);
  return found;
};
