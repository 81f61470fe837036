import { LRUCache } from 'lru-cache';
import type { Pool } from '../../../shared/db/pool.ts';
import type { BalanceChanges } from '../chain/balance-changes.ts';
import type { Network } from '../chain/model/network.ts';
import { type Provider, type Rpc, RpcUnavailable } from '../chain/rpc-pool.ts';
import { findIntentIds } from '../transactions/store/transactions.ts';
import type { Order } from './model/order.ts';
import { type ClaimedIntent, hasFailedAttempt } from './store/intents.ts';

/** A blockhash lives for this many blocks: bytes of unknown age are dead when as many have passed. */
const BLOCKHASH_BLOCKS = 150;
/** A block's time is the validators' estimate; it may be so far from the clock that issued a quote. */
const BLOCK_TIME_ERROR_MS = 30 * 60_000;
/** A list of so many pages has no end: its provider makes it up. A million transactions cost more than 500 USD. */
const MAX_PAGES = 1000;
/** Transactions of others are read so many at a time, and remembered. */
const CONCURRENT_READS = 16;
const MAX_REMEMBERED = 100_000;

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

/** Whether a transaction succeeded and moved all of an order's money, the fee included. */
export const movedOrder = (changes: BalanceChanges, order: Order | null, network: Network): boolean =>
  changes.err === null &&
  (order === null ? [] : expectedDeltas(order, network)).every(
    ([account, delta]) => changes.deltaOf(account) === delta,
  );

/** Whether a transaction succeeded and paid vendor and platform what a quote says, from whichever wallet. */
export const paidQuote = (
  changes: BalanceChanges,
  { payoutAccount, grossMicro, feeMicro }: { payoutAccount: string; grossMicro: bigint; feeMicro: bigint },
  { feeAccount }: Pick<Network, 'feeAccount'>,
): boolean =>
  changes.err === null &&
  changes.deltaOf(payoutAccount) === grossMicro - feeMicro &&
  changes.deltaOf(feeAccount) === feeMicro;

/** What is searched for: nothing of it is older than `since`, epoch milliseconds. */
export type Search = { reference: string; since: number };

/** Every succeeded transaction under a reference that one provider lists, newest first. */
const listAt = async (provider: Provider, { reference, since }: Search): Promise<string[]> => {
  const found: string[] = [];
  let before: string | undefined;
  // To the empty page, not to a short one: how long a page is, each provider decides.
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await provider.listSignatures(reference, before);
    for (const { signature, succeeded } of page) if (succeeded) found.push(signature);
    const last = page.at(-1);
    if (last === undefined) return found;
    // Whoever knows the reference can put any number of transactions under it, before the quote's issue only its vendor.
    if (last.at !== null && last.at < since - BLOCK_TIME_ERROR_MS) return found;
    before = last.signature;
  }
  throw new RpcUnavailable(`provider ${provider.number}: a list of transactions without an end`);
};

/** Succeeded transactions under a reference. `everywhere`: every provider must have answered. */
export const listSignaturesUnder = async (
  rpc: Rpc,
  search: Search,
  { everywhere }: { everywhere: boolean },
): Promise<string[]> => {
  if (!everywhere) return rpc.first((provider) => listAt(provider, search));
  const all = await Promise.all(rpc.providers.map((provider) => listAt(provider, search)));
  return [...new Set(all.flat())];
};

/** What a transaction moved, from each provider that knows it, the first that answers alone unless all are asked. */
export const readBalanceChanges = async (rpc: Rpc, signature: string, all: boolean): Promise<BalanceChanges[]> => {
  const read = (provider: Provider) => provider.balances(signature, 'confirmed');
  if (!all) {
    const changes = await rpc.first(read).catch(() => null);
    // One that keeps no history must not make a payment look like none.
    return changes === null ? readBalanceChanges(rpc, signature, true) : [changes];
  }
  const known = (await Promise.allSettled(rpc.providers.map(read))).flatMap((answer) =>
    answer.status === 'fulfilled' && answer.value !== null ? [answer.value] : [],
  );
  if (known.length > 0) return known;
  throw new RpcUnavailable('no provider tells what a transaction under the reference moved');
};

/** Transactions of others that were read and are not the payment, by the reference that they name. */
const notPayments = new LRUCache<string, true>({ max: MAX_REMEMBERED });

type AdoptionDeps = { rpc: Rpc; pool: Pool; network: Network };
type SearchedOrder = Extract<Order, { reference: string }>;
type Kind = 'ours' | 'of others' | 'of another wallet' | null;

/**
 * Reads one transaction under the reference. Anybody may name it in a transaction of their own: only one that moved all
 * of the money is the payment. One provider's word is enough that a transaction is somebody else's, since the signature
 * proves it; whether one of ours paid is asked of all, so that none can deny it.
 */
const classify = async ({ rpc, network }: AdoptionDeps, signature: string, order: SearchedOrder): Promise<Kind> => {
  const key = `${order.reference}/${signature}`;
  if (notPayments.has(key)) return null;
  const [first] = await readBalanceChanges(rpc, signature, false);
  const payer = first!.feePayer();
  if (payer !== null && !network.feePayers.includes(payer)) {
    if (movedOrder(first!, order, network)) return 'of others';
    notPayments.set(key, true);
    return null;
  }
  const readings = await readBalanceChanges(rpc, signature, true);
  if (readings.some((changes) => movedOrder(changes, order, network))) return 'ours';
  // We sign one payment of a quote: this one was another attempt's, whose record is lost.
  const isPaid = order.kind === 'settle' && readings.some((changes) => paidQuote(changes, order, network));
  return isPaid ? 'of another wallet' : null;
};

/** The payment among transactions that no record names: one of ours, else one of others, else null. */
const findPaymentAmong = async (
  deps: AdoptionDeps,
  signatures: readonly string[],
  order: SearchedOrder,
): Promise<{ signature: string } | 'by another' | null> => {
  let ofOthers: string | null = null;
  for (let at = 0; at < signatures.length; at += CONCURRENT_READS) {
    const part = signatures.slice(at, at + CONCURRENT_READS);
    const kinds = await Promise.all(part.map((signature) => classify(deps, signature, order)));
    const ours = part[kinds.indexOf('ours')];
    if (ours !== undefined) return { signature: ours };
    if (kinds.includes('of another wallet')) return 'by another';
    ofOthers ??= part[kinds.indexOf('of others')] ?? null;
  }
  return ofOthers === null ? null : { signature: ofOthers };
};

/** A record that was written and lost again is older than this. */
const FRESH_MS = 5000;

/**
 * An intent that is new here and old at the service that asked for it may have been paid before its record was lost. One
 * that was accepted in the future says that a clock is wrong, and nothing about its age.
 */
const mayHaveLostRecord = ({ request, read_at }: Pick<ClaimedIntent, 'request' | 'read_at'>): boolean => {
  const { accepted_at } = request as { accepted_at?: string };
  return accepted_at !== undefined && Math.abs(read_at - Date.parse(accepted_at)) > FRESH_MS;
};

export type OnChainPayment = {
  signature: string;
  lastValidBlockHeight: number;
  /** The intent has signed it itself, and its record has it as dead. */
  own: boolean;
};
type SearchedIntent = Pick<ClaimedIntent, 'intent_id' | 'generation' | 'request' | 'read_at'>;

/**
 * Succeeded transactions under an intent's reference. One provider may lag behind or keep no history: where that could
 * pay twice, each has to say that it knows nothing. That is a later generation, a record that may have been lost, and a
 * quote of which another attempt has failed.
 */
const listCandidates = async (
  { rpc, pool }: AdoptionDeps,
  intent: SearchedIntent,
  { kind, reference, since }: SearchedOrder,
): Promise<string[]> => {
  const search = { reference, since };
  if (intent.generation > 0 || mayHaveLostRecord(intent))
    return listSignaturesUnder(rpc, search, { everywhere: true });
  const [found, failedBefore] = await Promise.all([
    listSignaturesUnder(rpc, search, { everywhere: false }),
    kind === 'settle' && rpc.providers.length > 1 ? hasFailedAttempt(pool, intent) : false,
  ]);
  return failedBefore ? listSignaturesUnder(rpc, search, { everywhere: true }) : found;
};

/**
 * Looks for a payment that the chain knows and this database does not (rule 12): before each signing, so that even
 * a database that was set back pays nothing twice.
 * @returns null when there is none; what to watch when it is this intent's; `by another` when another intent
 * carried out the same quote
 * @throws RpcUnavailable
 */
export const findOnChainPayment = async (
  deps: AdoptionDeps,
  intent: SearchedIntent,
  order: Order,
): Promise<OnChainPayment | 'by another' | null> => {
  if (!('reference' in order)) return null;
  const found = await listCandidates(deps, intent, order);
  if (found.length === 0) return null;
  const owners = await findIntentIds(deps.pool, found);
  if ([...owners.values()].some((owner) => owner !== intent.intent_id)) return 'by another';
  // What we have signed comes first. Of the rest the oldest: what hides a payment is mostly newer than it.
  const own = await findPaymentAmong(deps, [...owners.keys()], order);
  const chosen = own ?? (await findPaymentAmong(deps, found.filter((one) => !owners.has(one)).reverse(), order));
  if (chosen === null || chosen === 'by another') return chosen;
  const height = await deps.rpc.first((provider) => provider.blockHeight('confirmed'));
  return { ...chosen, lastValidBlockHeight: height + BLOCKHASH_BLOCKS, own: own !== null };
};
