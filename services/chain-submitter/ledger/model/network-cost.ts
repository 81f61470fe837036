import type { Network } from './network.ts';
import type { Order } from './order.ts';

/**
 * What a transaction took from its fee payer, in lamports. `rentLamports` is what is left of the
 * change of its balance without the fee: the rent of accounts that the transaction created.
 */
export type NetworkCost = { feePayer: string; feeLamports: bigint; rentLamports: bigint };

/** For whom a transaction was paid, and its cost; null: no provider has told it yet. */
export type TransactionCost = { accountId: string; cost: NetworkCost | null };

/** The account of work whose order can no longer be read. */
const UNKNOWN = 'unknown';

/**
 * The account that a transaction was paid for: the vendor of a payment, whose budget it uses, else
 * the account that asked for it. Null: the platform pays nothing, because the vendor of an outgoing
 * payment has its own fee payer.
 */
const accountOf = (kind: string, order: Order | null): string | null => {
  if (kind === 'outgoing') return null;
  if (order === null) return UNKNOWN;
  return order.kind === 'settle' ? order.vendorAccountId : order.accountId;
};

/** The cost that is recorded of a transaction; undefined: none is ours. */
export const costOf = (
  { intent, order }: { intent: { kind: string }; order: Order | null },
  cost: NetworkCost | null,
  { feePayers }: Pick<Network, 'feePayers'>,
): TransactionCost | undefined => {
  const accountId = accountOf(intent.kind, order);
  if (accountId === null || (cost !== null && !feePayers.includes(cost.feePayer))) return undefined;
  return { accountId, cost };
};
