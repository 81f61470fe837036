import type { Pool } from '../../../shared/db/pool.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { adoptedBytes, broadcast, commitAndBroadcast } from '../broadcast/broadcast.ts';
import { type Expiry, proveExpiry, readChainAge } from '../broadcast/expiry-proof.ts';
import { toInFlight } from '../broadcast/in-flight.ts';
import { readLastValid } from '../chain/blockhashes.ts';
import { isProviderError } from '../chain/json-rpc.ts';
import type { Hints } from '../ledger/hints.ts';
import { EXPIRED_OUTGOING } from '../ledger/model/failure.ts';
import type { OutgoingOrder } from '../ledger/model/order.ts';
import { type ClaimedIntent, reviveTransaction } from '../ledger/store/intents.ts';
import { findMessage, type OutgoingMessage, updateLastValid } from '../ledger/store/messages.ts';
import { type AttemptDeps, type Outcome, RETRY_MS } from './attempt.ts';
import {
  findTransaction,
  findTransactionEverywhere,
  isTransactionOf,
  type Wanted,
} from './find-transaction.ts';

type Deps = AttemptDeps & { pool: Pool; hints: Hints };

/**
 * A vendor that submits does so within seconds. Later the history is read less often, until the
 * bytes have expired.
 */
const pauseMs = ({ read_at, created_at }: ClaimedIntent): number => {
  const ageMs = read_at - created_at;
  if (ageMs < 15_000) return 1000;
  return ageMs < 120_000 ? 2000 : 5000;
};

/**
 * Blocks after the last valid one, in which the index of a provider's transactions catches up with
 * its block height.
 */
const INDEX_BLOCKS = 32;

/** Bytes of this age have expired, unless the chain stood still or their last block is too high. */
const OLD_MS = 600_000;

/**
 * The message of old bytes with a last block that is true. One that a provider named far too high
 * would hold their amount for years. Their blockhash existed when they were signed, so that it is
 * not valid for longer than the newest one of now.
 * @throws RpcUnavailable when a provider does not answer
 */
const lowerLastBlock = async (
  { pool, rpc }: Deps,
  { intent_id, created_at, read_at }: ClaimedIntent,
  message: OutgoingMessage,
): Promise<OutgoingMessage> => {
  if (read_at - created_at < OLD_MS) return message;
  const last_valid_block_height = await readLastValid(rpc, { everywhere: true });
  if (last_valid_block_height >= message.last_valid_block_height) return message;
  await updateLastValid(pool, intent_id, last_valid_block_height);
  return { ...message, last_valid_block_height };
};

/**
 * Whether the bytes can never be included any more. Their signature is the vendor's, so their trace
 * is any transaction of the message under the source, a failed one too.
 * @throws RpcUnavailable when a provider does not answer, which proves nothing
 */
const proveUnused = async (
  deps: Deps,
  { wire, last_valid_block_height: lastValidBlockHeight }: OutgoingMessage,
  wanted: Wanted,
): Promise<Expiry<string>> =>
  proveExpiry(
    await readChainAge(deps),
    { wire, lastValidBlockHeight },
    () => findTransactionEverywhere(deps, wanted),
    { indexBlocks: INDEX_BLOCKS },
  );

/**
 * Adopts the transaction of the payment. Everything after it is as for own transactions:
 * confirmation, finality, forks and failures on chain. Its bytes are not sent again, because they
 * are the vendor's.
 */
const adopt = async (
  deps: Deps,
  intent: ClaimedIntent,
  order: OutgoingOrder,
  found: { signature: string; lastValidBlockHeight: number },
): Promise<Outcome> => {
  const signed = adoptedBytes(intent, found);
  // A fork dropped this transaction before, and it is on the chain again.
  if ((await reviveTransaction(deps.pool, intent, found.signature)) !== null) {
    broadcast(deps, toInFlight(intent, order, { ...signed, generation: intent.generation }));
    return 'broadcast';
  }
  const committed = await commitAndBroadcast(deps, intent, order, { signed, own: null });
  return committed === 'broadcast' ? 'broadcast' : { waitMs: RETRY_MS };
};

const findHinted = async (deps: Deps, intentId: string, wanted: Wanted): Promise<string | null> => {
  const hint = deps.hints.get(intentId);
  return hint !== undefined && (await isTransactionOf(deps, hint, wanted)) ? hint : null;
};

/**
 * Searches once for the transaction of an outgoing payment whose bytes are open. Only its message
 * decides. Without a transaction, the payment fails after the proof that there will never be one,
 * and waits otherwise.
 */
export const watchOutgoing = async (
  deps: Deps,
  intent: ClaimedIntent,
  order: OutgoingOrder,
): Promise<Outcome> => {
  const { intent_id: intentId } = intent;
  const message = await findMessage(deps.pool, intentId);
  if (message === null) throw new Error('An outgoing payment has no message.');
  const { message_hash: messageHash, last_valid_block_height: lastValidBlockHeight } = message;
  const wanted: Wanted = { messageHash, source: order.source, since: order.since };
  const found = (await findHinted(deps, intentId, wanted)) ?? (await findTransaction(deps, wanted));
  if (found !== null) return adopt(deps, intent, order, { signature: found, lastValidBlockHeight });
  try {
    const proof = await proveUnused(deps, await lowerLastBlock(deps, intent, message), wanted);
    if (proof === 'early' || proof === 'valid') return { waitMs: pauseMs(intent) };
    if (proof !== 'expired')
      return adopt(deps, intent, order, { signature: proof.known, lastValidBlockHeight });
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'proven' });
    return { failure: EXPIRED_OUTGOING };
  } catch (error) {
    if (!isProviderError(error)) throw error;
    count('quittance_chain_expiry_proofs_total', 1, { outcome: 'unanswered' });
    deps.logger.warn({ err: error, intent: intentId }, 'expiry not proven, trying again');
    return { waitMs: pauseMs(intent) };
  }
};
