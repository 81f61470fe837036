import { LRUCache } from 'lru-cache';
import type { Pool } from '../../../shared/db/pool.ts';
import { readLastValid } from '../chain/blockhashes.ts';
import { listSignaturesUnder, readAllBalanceChanges, readBalanceChanges } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import type { Network } from '../ledger/model/network.ts';
import type { Order } from '../ledger/model/order.ts';
import { movedOrder, paidQuote } from '../ledger/model/payment.ts';
import { type ClaimedIntent, FRESH_MS, hasFailedAttempt } from '../ledger/store/intents.ts';
import { findIntentIds } from '../ledger/store/transactions.ts';

/** Transactions of other senders that are read concurrently. */
const CONCURRENT_READS = 16;
const MAX_CACHED = 100_000;

/** Transactions of other senders that were read and are no payment, by their reference. */
const notPayments = new LRUCache<string, true>({ max: MAX_CACHED });

type Deps = { rpc: RpcPool; pool: Pool; network: Network };
type SearchedOrder = Extract<Order, { reference: string }>;
type SearchedIntent = Pick<ClaimedIntent, 'intent_id' | 'generation' | 'request' | 'read_at'>;
/** Null: the transaction is no payment of the order. */
type Sender = 'platform' | 'other' | 'another wallet' | null;

type OnChainPayment = {
  signature: string;
  lastValidBlockHeight: number;
  /** Whether the intent signed it itself, and its record has it as expired. */
  own: boolean;
};

/**
 * Classifies one transaction under the reference. Anybody may name the reference in a transaction,
 * and only one that moved all of the money is the payment. One provider's answer proves that
 * somebody else signed a transaction, because of the signature. Whether a transaction of this
 * service paid is read from all providers, so that no single provider can deny it.
 */
const classify = async ({ rpc, network }: Deps, signature: string, order: SearchedOrder): Promise<Sender> => {
  const key = `${order.reference}/${signature}`;
  if (notPayments.has(key)) return null;
  const first = await readBalanceChanges(rpc, signature);
  const feePayer = first.feePayer();
  if (feePayer !== null && !network.feePayers.includes(feePayer)) {
    if (movedOrder(first, order, network)) return 'other';
    notPayments.set(key, true);
    return null;
  }
  const all = await readAllBalanceChanges(rpc, signature);
  if (all.some((changes) => movedOrder(changes, order, network))) return 'platform';
  // The platform signs one payment of a quote. This one belongs to another attempt, whose record is
  // lost.
  const isPaid = order.kind === 'settle' && all.some((changes) => paidQuote(changes, order, network));
  return isPaid ? 'another wallet' : null;
};

/**
 * The payment among transactions: first one of this service, then one of another sender, else null.
 * The result says nothing about whose record a transaction has.
 */
const findPaymentAmong = async (
  deps: Deps,
  signatures: readonly string[],
  order: SearchedOrder,
): Promise<{ signature: string } | 'by another' | null> => {
  let ofOther: string | null = null;
  for (let start = 0; start < signatures.length; start += CONCURRENT_READS) {
    const part = signatures.slice(start, start + CONCURRENT_READS);
    const senders = await Promise.all(part.map((signature) => classify(deps, signature, order)));
    const ours = part[senders.indexOf('platform')];
    if (ours !== undefined) return { signature: ours };
    if (senders.includes('another wallet')) return 'by another';
    ofOther ??= part[senders.indexOf('other')] ?? null;
  }
  return ofOther === null ? null : { signature: ofOther };
};

/**
 * Whether an intent that is new here may have been paid before its record was lost, because the
 * requesting service accepted it a while ago. An acceptance time in the future shows that a clock
 * is wrong, and counts as well.
 */
export const mayHaveLostRecord = ({
  request,
  read_at,
}: Pick<ClaimedIntent, 'request' | 'read_at'>): boolean => {
  const { accepted_at } = request as { accepted_at?: string };
  return accepted_at !== undefined && Math.abs(read_at - Date.parse(accepted_at)) > FRESH_MS;
};

/**
 * Succeeded transactions under an intent's reference. One provider may lag or have no history.
 * Every provider must answer where a missed transaction could lead to a second payment: for a later
 * generation, for a record that may have been lost, and for a quote of which another attempt has
 * failed.
 */
const listCandidates = async (
  { rpc, pool }: Deps,
  intent: SearchedIntent,
  { kind, reference, since }: SearchedOrder,
): Promise<string[]> => {
  const search = { reference, since };
  if (intent.generation > 0 || mayHaveLostRecord(intent))
    return listSignaturesUnder(rpc, search, { everywhere: true });
  const [found, hasFailed] = await Promise.all([
    listSignaturesUnder(rpc, search, { everywhere: false }),
    kind === 'settle' && rpc.providers.length > 1 ? hasFailedAttempt(pool, intent) : false,
  ]);
  return hasFailed ? listSignaturesUnder(rpc, search, { everywhere: true }) : found;
};

/**
 * Finds a payment that the chain has and this database does not (rule 12). It is searched before
 * each signing, so that even a database that was restored from a backup pays nothing twice.
 * @returns the payment to adopt, when it is this intent's; `by another` when another intent paid
 *   the same quote; null when there is none
 * @throws RpcUnavailable
 */
export const findOnChainPayment = async (
  deps: Deps,
  intent: SearchedIntent,
  order: Order,
): Promise<OnChainPayment | 'by another' | null> => {
  if (!('reference' in order)) return null;
  const found = await listCandidates(deps, intent, order);
  if (found.length === 0) return null;
  const intentIds = await findIntentIds(deps.pool, found);
  const recorded = [...intentIds.keys()];
  const isOwn = (signature: string) => intentIds.get(signature) === intent.intent_id;
  // A transaction of another intent counts only if it paid, too. A payout address, for example, may
  // be equal to the reference, and whatever creates its token account names it.
  const ofOthers = recorded.filter((signature) => !isOwn(signature));
  if ((await findPaymentAmong(deps, ofOthers, order)) !== null) return 'by another';
  const own = await findPaymentAmong(deps, recorded.filter(isOwn), order);
  // The oldest of the others is read first, because transactions that hide a payment are mostly
  // newer.
  const others = found.filter((signature) => !intentIds.has(signature)).reverse();
  const payment = own ?? (await findPaymentAmong(deps, others, order));
  if (payment === null || payment === 'by another') return payment;
  // A fork may drop them, and without their blockhash only this number protects them.
  const lastValidBlockHeight = await readLastValid(deps.rpc, { everywhere: true });
  return { ...payment, lastValidBlockHeight, own: own !== null };
};
