import type { Deps } from './deps.ts';
import type { Network, Order } from './domain/order.ts';
import { type LandedBalances, type Rpc, RpcUnavailable } from './rpc.ts';
import type { ClaimedIntent } from './store/intents.ts';
import { intentOf } from './store/transactions.ts';

/** A blockhash lives for this many blocks: bytes of unknown age are dead when as many have passed. */
const BLOCKHASH_BLOCKS = 150;

/** All token balance changes that an order makes, by account; none for work that moves no tokens. */
export const expectedDeltas = (order: Order, { feeAccount }: Network): [account: string, delta: bigint][] => {
  if (order.kind === 'settle') {
    return [
      [order.source, -order.grossMicro],
      [order.payoutAccount, order.grossMicro - order.feeMicro],
      [feeAccount, order.feeMicro],
    ];
  }
  if (order.kind === 'withdrawal' || order.kind === 'refund') {
    return [
      [order.source, -order.amountMicro],
      [order.destination, order.amountMicro],
    ];
  }
  return order.kind === 'fund' ? [[order.destination, order.amountMicro]] : [];
};

/** Succeeded transactions under a reference. `everywhere`: every provider must have answered. */
export const signaturesUnder = async (
  rpc: Rpc,
  reference: string,
  { everywhere }: { everywhere: boolean },
): Promise<string[]> => {
  if (!everywhere) return rpc.first((provider) => provider.succeededWith(reference));
  const all = await Promise.all(rpc.providers.map((provider) => provider.succeededWith(reference)));
  return [...new Set(all.flat())];
};

/**
 * What a transaction moved, from the first provider that knows it.
 * @throws RpcUnavailable when none does: one that keeps no history must not make a payment look like none
 */
const balancesOf = async (rpc: Rpc, signature: string): Promise<LandedBalances> => {
  const looks = rpc.providers.map((provider) => provider.balances(signature, 'confirmed'));
  for (const answer of await Promise.allSettled(looks))
    if (answer.status === 'fulfilled' && answer.value !== null) return answer.value;
  throw new RpcUnavailable('no provider tells what a transaction under the reference moved');
};

/** A record that was written and lost again is older than this. */
const FRESH_MS = 5000;

/**
 * An intent that is new here and old at the service that asked for it may have been paid before its record was lost. One
 * that was accepted in the future says that a clock is wrong, and nothing about its age.
 */
const mayBeForgotten = ({ request, read_at }: Pick<ClaimedIntent, 'request' | 'read_at'>): boolean => {
  const { accepted_at } = request as { accepted_at?: string };
  return accepted_at !== undefined && Math.abs(read_at - Date.parse(accepted_at)) > FRESH_MS;
};

/**
 * Looks for a payment that the chain knows and this database does not (rule 12): before each signing, so that even
 * a database that was set back pays nothing twice.
 * @returns null when there is none; what to watch when it is this intent's; `by another` when another intent
 * carried out the same quote
 * @throws RpcUnavailable
 */
export const findPaid = async (
  { rpc, pool, network }: Pick<Deps, 'rpc' | 'pool' | 'network'>,
  intent: Pick<ClaimedIntent, 'intent_id' | 'generation' | 'request' | 'read_at'>,
  order: Order,
): Promise<{ signature: string; lastValidBlockHeight: number } | 'by another' | null> => {
  if (!('reference' in order)) return null;
  // One provider may lag behind or keep no history. Where that could pay twice, each has to say that it knows nothing.
  const everywhere = intent.generation > 0 || mayBeForgotten(intent);
  const found = await signaturesUnder(rpc, order.reference, { everywhere });
  for (const signature of found) {
    const owner = await intentOf(pool, signature);
    if (owner !== null && owner !== intent.intent_id) return 'by another';
    const landed = await balancesOf(rpc, signature);
    // Anybody may name the reference in a transaction of their own: only one that moved all of the money,
    // the fee included, is the payment.
    const matches =
      landed.err === null &&
      expectedDeltas(order, network).every(([account, delta]) => landed.deltaOf(account) === delta);
    if (!matches || owner !== null) continue;
    const height = await rpc.first((provider) => provider.blockHeight('confirmed'));
    return { signature, lastValidBlockHeight: height + BLOCKHASH_BLOCKS };
  }
  return null;
};
