import type { Deps } from './deps.ts';
import type { Network, Order, OwnOrder } from './domain/order.ts';
import type { Rpc } from './rpc.ts';
import type { IntentRow } from './store/intents.ts';
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
 * Looks for a payment that the chain knows and this database does not (rule 12): before each signing, so that even
 * a database that was set back pays nothing twice.
 * @returns null when there is none; what to watch when it is this intent's; `by another` when another intent
 * carried out the same quote
 * @throws RpcUnavailable
 */
export const findPaid = async (
  { rpc, pool, network }: Pick<Deps, 'rpc' | 'pool' | 'network'>,
  intent: Pick<IntentRow, 'intent_id' | 'generation'>,
  order: OwnOrder,
): Promise<{ signature: string; lastValidBlockHeight: number } | 'by another' | null> => {
  if (order.kind === 'createTokenAccount') return null;
  const found = await signaturesUnder(rpc, order.reference, { everywhere: intent.generation > 0 });
  for (const signature of found) {
    const owner = await intentOf(pool, signature);
    if (owner !== null && owner !== intent.intent_id) return 'by another';
    const landed = await rpc.first((provider) => provider.balances(signature, 'confirmed'));
    // Anybody may name the reference in a transaction of their own: only one that moved all of the money,
    // the fee included, is the payment.
    const matches =
      landed !== null &&
      landed.err === null &&
      expectedDeltas(order, network).every(([account, delta]) => landed.deltaOf(account) === delta);
    if (!matches || owner !== null) continue;
    const height = await rpc.first((provider) => provider.blockHeight('confirmed'));
    return { signature, lastValidBlockHeight: height + BLOCKHASH_BLOCKS };
  }
  return null;
};
