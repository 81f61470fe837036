import type { Network } from '../chain/model/network.ts';
import { isUserSigned, type Order } from '../intents/model/order.ts';
import { signersOf } from '../transactions/policy.ts';

/** What Solana takes for each signature. */
const SIGNATURE_LAMPORTS = 5_000n;
/** Rent of a token account of 165 bytes. */
export const TOKEN_ACCOUNT_LAMPORTS = 2_039_280n;
/** The fee payer's and the vendor's signature. */
const REFUND_LAMPORTS = 2n * SIGNATURE_LAMPORTS;
const MICRO_LAMPORTS = 1_000_000n;

/** Only settles carry compute budget instructions; the price is for all units that are asked for. */
const priorityLamports = (order: Order, { computeBudget }: Network): bigint => {
  if (order.kind !== 'settle' || computeBudget === null) return 0n;
  const micro = BigInt(computeBudget.units) * computeBudget.microLamports;
  return (micro + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
};

/** What the fee payer pays for a transaction of the order, whether or not it succeeds on chain; rent comes on top. */
export const feeLamports = (order: Order, network: Network): bigint =>
  BigInt(signersOf(order, network).length) * SIGNATURE_LAMPORTS + priorityLamports(order, network);

/** What a settle reserves: its fee, and with its first transaction the co-signature of one refund. */
export const settleLamports = (order: Order, network: Network, generation: number): bigint =>
  feeLamports(order, network) + (generation === 0 ? REFUND_LAMPORTS : 0n);

/** Whether an order takes away what was allowed before: it has budgets of its own. */
export const isRevoke = (order: Order): boolean =>
  isUserSigned(order) && order.kind === 'delegation' && order.allowanceMicro === null;
