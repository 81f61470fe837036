import { listSignaturesUnder, type Search } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { hasFailedFinally, type SignatureStatus } from './model/agreement.ts';

/**
 * The proof that signed bytes can never be included (docs/design/settle.md, rule 11). Every
 * provider must answer, and the reads follow this order:
 *
 * 1. The finalized block height is past the last block in which the bytes are valid.
 * 2. No provider has a status of the signature, not even in its history.
 * 3. No provider lists the signature under the reference. What has none is searched under its
 *    token account.
 *
 * The order matters: bytes that are expired at step 1 cannot be included between the steps. A
 * provider that does not answer proves nothing.
 */

type SignedBytes = { signature: string; lastValidBlockHeight: number };

/**
 * `valid`: not past the last block; `failed`: failed and final on chain; `known`: a provider has a
 * trace of it.
 */
export type ExpiryResult = 'expired' | 'valid' | 'failed' | 'known';

/** Step 1: the lowest finalized block height of all providers. @throws RpcUnavailable */
export const readFinalizedHeight = async ({ rpc }: { rpc: RpcPool }): Promise<number> =>
  Math.min(...(await Promise.all(rpc.providers.map((provider) => provider.blockHeight('finalized')))));

const evaluate = (
  { signature, lastValidBlockHeight }: SignedBytes,
  {
    height,
    statuses,
    listed,
  }: { height: number; statuses: readonly SignatureStatus[]; listed: readonly string[] },
): ExpiryResult => {
  if (lastValidBlockHeight >= height) return 'valid';
  const known = statuses.filter((status) => status !== null);
  if (known.some((status) => !hasFailedFinally(status)) || listed.includes(signature)) return 'known';
  return known.length > 0 ? 'failed' : 'expired';
};

/**
 * Steps 2 and 3 for several signed bytes of one intent.
 * @param height of step 1
 * @param search null for an intent that has nothing to search
 * @returns the results in the order of the bytes, each with one status per provider, and all
 *   signatures under the reference
 * @throws RpcUnavailable
 */
export const proveExpiry = async (
  { rpc }: { rpc: RpcPool },
  bytes: readonly SignedBytes[],
  { height, search }: { height: number; search: Search | null },
): Promise<{
  results: { result: ExpiryResult; statuses: readonly SignatureStatus[] }[];
  listed: readonly string[];
}> => {
  const signatures = bytes.map(({ signature }) => signature);
  const answers =
    signatures.length === 0
      ? []
      : await Promise.all(rpc.providers.map((provider) => provider.statuses(signatures, { history: true })));
  const listed = search === null ? [] : await listSignaturesUnder(rpc, search, { everywhere: true });
  const results = bytes.map((each, index) => {
    const statuses = answers.map((answer) => answer.statuses[index] ?? null);
    return { statuses, result: evaluate(each, { height, statuses, listed }) };
  });
  return { results, listed };
};
