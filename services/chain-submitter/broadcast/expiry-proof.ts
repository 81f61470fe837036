import { disassemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { listSignaturesUnder, type Search } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { readEnvelope } from '../transactions/message.ts';
import type { SignatureStatus } from './model/agreement.ts';

/**
 * The proof that signed bytes can never be included (docs/design/settle.md, rule 11), of every kind
 * of payment. Every provider must answer, and the reads follow this order:
 *
 * 1. The finalized block height of each is past the last block in which the bytes are valid.
 * 2. None regards their blockhash as valid. The height of step 1 was named by providers when the
 *    bytes were signed, and one that is too low would end a payment that can still be made.
 * 3. None has a trace of them in its history.
 *
 * The order matters: bytes that are expired at step 2 cannot be included between the steps. A
 * provider that does not answer proves nothing.
 */

/** Adopted bytes are not known (`wire` empty), so their blockhash is not either. */
type SignedBytes = { wire: Uint8Array; lastValidBlockHeight: number };

/**
 * `early`: the last block is not past; `valid`: it is, and a provider regards the blockhash as
 * valid; `known`: what a provider has of the bytes.
 */
export type Expiry<Trace> = 'early' | 'valid' | 'expired' | { known: Trace };

/**
 * The chain's age at one moment. The proofs that are made with it share the reads of steps 1 and 2,
 * so each provider is asked once about a blockhash.
 */
export type ChainAge = {
  /** The lowest and the highest finalized block height of all providers. */
  height: number;
  highest: number;
  /** Whether any provider regards a blockhash as valid. @throws RpcUnavailable */
  isValid: (blockhash: string) => Promise<boolean>;
};

/** Step 1. @throws RpcUnavailable */
export const readChainAge = async ({ rpc }: { rpc: RpcPool }): Promise<ChainAge> => {
  const heights = await Promise.all(rpc.providers.map((provider) => provider.blockHeight('finalized')));
  const answers = new Map<string, Promise<boolean>>();
  const ask = async (blockhash: string): Promise<boolean> =>
    (await Promise.all(rpc.providers.map((provider) => provider.isBlockhashValid(blockhash)))).some(Boolean);
  return {
    height: Math.min(...heights),
    highest: Math.max(...heights),
    isValid: (blockhash) => {
      const answer = answers.get(blockhash) ?? ask(blockhash);
      answers.set(blockhash, answer);
      return answer;
    },
  };
};

const blockhashOf = (wire: Uint8Array): string => readEnvelope(disassemble(wire).message).blockhash;

/**
 * The only proof of expiry. Bytes that are not near it cost no call.
 * @param readTrace step 3: a trace that any provider has of the bytes, or null when every provider
 *   has answered and none has one
 * @param indexBlocks blocks after the last valid one, in which the index that step 3 reads catches
 *   up with its provider's block height
 * @throws RpcUnavailable when a provider does not answer
 */
export const proveExpiry = async <Trace>(
  age: ChainAge,
  { wire, lastValidBlockHeight }: SignedBytes,
  readTrace: () => Promise<Trace | null>,
  { indexBlocks = 0 }: { indexBlocks?: number } = {},
): Promise<Expiry<Trace>> => {
  if (age.height <= lastValidBlockHeight + indexBlocks) return 'early';
  if (wire.length > 0 && (await age.isValid(blockhashOf(wire)))) return 'valid';
  const known = await readTrace();
  return known === null ? 'expired' : { known };
};

/** What the providers have of a signature. */
type SignatureTrace = { statuses: readonly SignatureStatus[]; isListed: boolean };

/**
 * Step 3 for bytes whose signature is known: their status at every provider, also in its history,
 * then every list of their reference, or of their token account when they have none.
 * @param search null for an intent that has nothing to search
 * @throws RpcUnavailable
 */
export const readSignatureTrace = async (
  { rpc }: { rpc: RpcPool },
  signature: string,
  search: Search | null,
): Promise<SignatureTrace | null> => {
  const answers = await Promise.all(
    rpc.providers.map((provider) => provider.statuses([signature], { history: true })),
  );
  const listed = search === null ? [] : await listSignaturesUnder(rpc, search, { everywhere: true });
  const statuses = answers.flatMap((answer) => answer.statuses[0] ?? []);
  const isListed = listed.includes(signature);
  return statuses.length > 0 || isListed ? { statuses, isListed } : null;
};
