import type { Network } from '../ledger/model/network.ts';
import { type BuiltOrder, isUserSigned } from '../ledger/model/order.ts';
import { signersOf } from '../transactions/policy.ts';

/** Solana's fee for each signature. */
const SIGNATURE_LAMPORTS = 5_000n;
/** Rent of a token account of 165 bytes. */
export const TOKEN_ACCOUNT_LAMPORTS = 2_039_280n;
/** A refund has the fee payer's and the vendor's signature. */
const REFUND_LAMPORTS = 2n * SIGNATURE_LAMPORTS;
const MICRO_LAMPORTS = 1_000_000n;
const LAMPORTS_PER_SOL = 1_000_000_000n;

/**
 * Only settles have compute budget instructions. The price is due for all requested units. Where it
 * follows recent fees, the highest one is reserved.
 */
const priorityLamports = (order: BuiltOrder, { computeBudget }: Network): bigint => {
  if (order.kind !== 'settle' || computeBudget === null) return 0n;
  const micro = BigInt(computeBudget.units) * computeBudget.microLamports;
  return (micro + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
};

/** The fee of an order's transaction, whether or not it succeeds on chain. Rent comes on top. */
export const feeLamports = (order: BuiltOrder, network: Network): bigint =>
  BigInt(signersOf(order, network).length) * SIGNATURE_LAMPORTS + priorityLamports(order, network);

/**
 * The amount that a settle reserves: its fee, and with its first transaction the fee of one refund.
 */
export const settleLamports = (order: BuiltOrder, network: Network, generation: number): bigint =>
  feeLamports(order, network) + (generation === 0 ? REFUND_LAMPORTS : 0n);

/** What a fee in micro-units of USDC is worth, in lamports. */
export const worthLamports = (feeMicro: bigint, solPriceMicro: bigint): bigint =>
  (feeMicro * LAMPORTS_PER_SOL) / solPriceMicro;

/** The fee of a transaction that another client built, with the buyer's and our signature. */
export const incomingFeeLamports = (priorityFeeLamports: bigint): bigint =>
  2n * SIGNATURE_LAMPORTS + priorityFeeLamports;

/** The amount that a payment of another client reserves: its fee, and the fee of one refund. */
export const incomingLamports = (priorityFeeLamports: bigint): bigint =>
  incomingFeeLamports(priorityFeeLamports) + REFUND_LAMPORTS;

/** Whether an order revokes a delegation. Revocations have separate budgets. */
export const isRevoke = (order: BuiltOrder): boolean =>
  isUserSigned(order) && order.kind === 'delegation' && order.allowanceMicro === null;
