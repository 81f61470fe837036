import { isRefusal, isUsedUp, type Refusal, type StoredAnswer } from './answers.ts';
import type { BuyerLeft, End, Finish } from './ends.ts';
import { createLeases, type Lock } from './leases.ts';
import type { Metering } from './meter.ts';
import type { PaywallStore, Taken } from './store.ts';

/**
 * One delivery per payment, over crashes, replicas and repeats (docs/adr/0021). A record per
 * payment names the request that it pays for and the id for the redeem. A lock lets one replica at
 * a time work on it. The record is written before the redeem, so that a process that continues
 * after a crash redeems with the same id and succeeds.
 */
type RecordedPayment = {
  /** The hash of the request that the payment is for. */
  hash: string;
  /** The id for redeem or consume. */
  id: string;
  /** What the payment pays, if its dialect needs it for a repeat. */
  order?: Order;
  /**
   * Epoch milliseconds of the first request, later of the redeem. The window counts from there.
   */
  since: number;
  /**
   * Redeemed: from here on the payment belongs to this request. Until then no handler has run.
   */
  opened?: true;
  /** A buyer disconnected from a run that did not end. The next such run is the last one. */
  left?: true;
  /** What the redeem has returned for the buyer. */
  receipt?: Receipt;
  /** Delivered: the stored answer, or null if it was not stored. */
  done?: StoredAnswer | null;
};

/** What a payment pays, in the words of its dialect. */
export type Order = { readonly [name: string]: string };
export type Taking = {
  /** The paywall's own. The same id succeeds again, so that a repeat after a crash does. */
  id: string;
  /** The order of the record. */
  order: Order | undefined;
  /** An earlier request with this payment got no decision. */
  isRepeat: boolean;
};

/** A payment with its own confirmation for the buyer, which each answer of the delivery carries. */
export type Receipt = { paymentId: string; payer: string; headers: Record<string, string> };

export type Begun =
  | {
      kind: 'deliver';
      id: string;
      receipt: Receipt | null;
      finish: Finish;
      left: BuyerLeft;
      /** The request may run again, so its answer is not stored, and a repeat counts again. */
      isRepeatable?: true;
      /** What the delivery costs, if its route is metered. */
      metering?: Metering;
    }
  | { kind: 'replay'; answer: StoredAnswer }
  | {
      kind: 'spent';
      /** The store knows nothing of the payment. */
      isUnknown?: boolean;
    }
  | { kind: 'busy' }
  | Refusal;
/** The result of redeem or consume. `spent` is final; a refusal consumed nothing. */
export type Opening = 'open' | 'spent' | Receipt | Refusal;

/** A request whose payment is taken once for it. */
type PaidRequest = {
  key: string;
  hash: string;
  order?: Order | undefined;
  /** Why the request gets no delivery, or null. Asked unless the payment's record names it. */
  refusal: () => Promise<Refusal | null>;
  open: (taking: Taking) => Promise<Opening>;
};

/** How long the same request gets its delivery without a new payment. */
const WINDOW_MS = 600_000;

/** True if it is certain that nothing was redeemed. Any other refusal may follow a lost answer. */
const tookNothing = ({ status, reason }: Refusal): boolean => status === 402 || reason === 'rate_limited';

const lockOf = (key: string): string => `${key}:lock`;

/** The outcome that needs no further work, or null. */
const settled = (record: RecordedPayment, hash: string): Begun | null => {
  if (record.hash !== hash) return record.opened === undefined ? null : { kind: 'spent' };
  if (record.done === undefined) return null;
  return record.done === null ? { kind: 'spent' } : { kind: 'replay', answer: record.done };
};

/** The record of one payment, with the text that this process has read or written. */
const recordOf = (store: PaywallStore, key: string, read: string | null) => {
  let text = read;
  return {
    found: text === null ? null : (JSON.parse(text) as RecordedPayment),
    /** Returns false if the record has changed or its window has ended. */
    write: async (next: RecordedPayment): Promise<boolean> => {
      const ttlMs = next.since + WINDOW_MS - Date.now();
      const json = JSON.stringify(next);
      // Compared with the text that was read, because a process that paused beyond its lease must
      // not overwrite newer work.
      if (json !== text && (ttlMs <= 0 || !(await store.compareAndSet(key, text, json, ttlMs)))) return false;
      text = json;
      return true;
    },
    remove: async () => store.compareAndSet(key, text, null, 0),
  };
};
type StoredRecord = ReturnType<typeof recordOf>;

/**
 * Redeems the payment, unless its record says that this was done.
 * @returns the record to deliver for, or why nothing is delivered
 */
const redeemOnce = async (stored: StoredRecord, request: PaidRequest): Promise<Begun | RecordedPayment> => {
  const { found, write } = stored;
  const { hash, order, open } = request;
  let record = found;
  if (record?.hash !== hash) {
    const refusal = await request.refusal();
    // While the payment is undecided for another request, a refusal could make its buyer pay again.
    if (refusal !== null) return found === null ? refusal : { kind: 'busy' };
    // A record that was never redeemed keeps its id also for another request, because no handler
    // has run for it.
    record = { id: crypto.randomUUID(), since: Date.now(), ...found, hash, ...(order && { order }) };
  }
  if (!(await write(record))) return { kind: 'busy' };
  if (record.opened !== undefined) return record;
  const opening = await open({ id: record.id, order: record.order, isRepeat: found !== null });
  if (opening === 'spent') {
    // So that repeated requests cost no call.
    await write({ ...record, hash: '', opened: true });
    return { kind: 'spent', isUnknown: found === null };
  }
  if (typeof opening === 'object' && isRefusal(opening)) {
    // The id was created for this call. If it were stored for invalid payments, anybody could fill
    // the store for free. An id to which the API says that nothing is left has never succeeded.
    if (found === null ? tookNothing(opening) : isUsedUp(opening)) await stored.remove();
    return opening;
  }
  const receipt = opening === 'open' ? {} : { receipt: opening };
  const opened: RecordedPayment = { ...record, ...receipt, opened: true, since: Date.now() };
  return (await write(opened)) ? opened : { kind: 'busy' };
};

/** A delivery for a redeemed payment, which this process alone makes while it has the lock. */
const deliverFor = (
  record: RecordedPayment,
  { stored, lock, onError }: { stored: StoredRecord; lock: Lock; onError: (error: unknown) => void },
): Begun => {
  let over = false;
  let known = record;
  let leaving = Promise.resolve();
  /** Only once: after that the end of a run alone ends the payment. */
  const leave = async (): Promise<void> => {
    if (known.left === true) return;
    known = { ...known, left: true };
    if (await stored.write(known)) await lock.unlock();
  };
  const left: BuyerLeft = async () => {
    if (over) return;
    leaving = leave().catch(onError);
    return leaving;
  };
  /** @returns true if the record answers each repeat from now on */
  const conclude = async (end: End): Promise<boolean> => {
    switch (end.kind) {
      case 'delivered':
        return stored.write({ ...known, done: end.answer });
      case 'gone':
        if (known.left === true) return stored.write({ ...known, done: null });
        await stored.write({ ...known, left: true });
        break;
      case 'undone':
        await stored.remove();
        break;
      default:
    }
    return false;
  };
  const finish: Finish = async (end) => {
    if (over) return;
    over = true;
    await leaving;
    try {
      // Who finds the record of a delivery that was made does not ask for the lock.
      if (await conclude(end)) return lock.leave();
    } catch (error) {
      onError(error);
    }
    await lock.unlock();
  };
  return { kind: 'deliver', id: record.id, receipt: record.receipt ?? null, finish, left };
};

type CountedDelivery = { begun: Begun; left: bigint } | Exclude<Taken, bigint>;

const nothing = async (): Promise<void> => {};

/**
 * Deliveries of requests that may run again. They leave no record, so a repeat is another call and
 * counts again, whatever the first one has answered.
 */
const createUnrecorded = (store: PaywallStore) => ({
  /** As `counted`, without record and lock. The meter gives back what was not used. */
  countedOnce: async (counter: string, amount: bigint): Promise<CountedDelivery> => {
    const left = await store.take!(counter, amount, []);
    if (typeof left !== 'bigint') return left;
    const delivery = { id: crypto.randomUUID(), receipt: null, finish: nothing, left: nothing };
    return { begun: { kind: 'deliver', isRepeatable: true, ...delivery }, left };
  },
});

/** The deliveries of one paywall, shared with its replicas through the store. */
export const createDeliveries = (store: PaywallStore, onError: (error: unknown) => void) => {
  // After the window the record is gone, so a lock beyond it protects nothing.
  const locks = createLeases(store, onError, WINDOW_MS);
  const read = async (key: string): Promise<StoredRecord> => recordOf(store, key, await store.get(key));

  const begin = async (request: PaidRequest, lock: Lock): Promise<Begun> => {
    const stored = await read(request.key);
    const known = stored.found === null ? null : settled(stored.found, request.hash);
    const record = known ?? (await redeemOnce(stored, request));
    return 'kind' in record ? record : deliverFor(record, { stored, lock, onError });
  };

  return {
    /**
     * Begins the delivery of a payment, or returns why there is none.
     * @throws errors of the store; nothing is lost then
     */
    once: async (request: PaidRequest): Promise<Begun> => {
      const { found } = await read(request.key);
      const known = found === null ? null : settled(found, request.hash);
      if (known !== null) return known;
      const lock = await locks.take(lockOf(request.key));
      if (lock === null) return { kind: 'busy' };
      try {
        const begun = await begin(request, lock);
        if (begun.kind !== 'deliver') await lock.unlock();
        return begun;
      } catch (error) {
        await lock.unlock();
        throw error;
      }
    },

    /**
     * Begins a delivery for money of an authorization, which the store counts, in one step of it.
     * @param counter the key of the number
     * @returns the delivery and what is left, or why nothing was taken
     * @throws errors of the store
     */
    counted: async (
      counter: string,
      amount: bigint,
      { key, hash }: Pick<PaidRequest, 'key' | 'hash'>,
    ): Promise<CountedDelivery> => {
      const record: RecordedPayment = { hash, id: crypto.randomUUID(), since: Date.now(), opened: true };
      const value = JSON.stringify(record);
      const lease = locks.leaseOf(lockOf(key));
      const left = await store.take!(counter, amount, [{ key, value, ttlMs: WINDOW_MS }, lease]);
      if (typeof left !== 'bigint') return left;
      const stored = recordOf(store, key, value);
      return { begun: deliverFor(record, { stored, lock: locks.hold(lease), onError }), left };
    },
    ...createUnrecorded(store),
  };
};
export type Deliveries = ReturnType<typeof createDeliveries>;
