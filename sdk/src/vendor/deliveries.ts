import type { Refusal, StoredAnswer } from './answers.ts';
import type { PaywallStore } from './store.ts';

/**
 * One delivery per payment, over crashes, replicas and repeats (docs/adr/0021). A record per
 * payment names the request that it pays for and the id for the redeem. A lock lets one replica at
 * a time work on it. The record is written before the redeem, so that a process that continues
 * after a crash redeems with the same id and succeeds.
 */
type PaymentRecord = {
  /** The hash of the request that the payment is for. */
  hash: string;
  /** The id for redeem or consume. */
  id: string;
  /**
   * Epoch milliseconds of the first request, later of the redeem. The window counts from there.
   */
  since: number;
  /**
   * Redeemed: from here on the payment belongs to this request. Until then no handler has run.
   */
  opened?: true;
  /** Delivered: the stored answer, or null if it was not stored. */
  done?: StoredAnswer | null;
};

type Begun =
  | { kind: 'deliver'; id: string; finish: Finish }
  | { kind: 'replay'; answer: StoredAnswer }
  | { kind: 'spent' }
  | { kind: 'busy' }
  | { kind: 'refused'; refusal: Refusal };
/**
 * Ends a delivery: with its answer, with null if it was made but not stored, or with `failed`, so
 * that it can be requested again. Only the first call counts. Never throws.
 */
export type Finish = (outcome: StoredAnswer | null | 'failed') => Promise<void>;
/** The result of redeem or consume. `spent` is final; a refusal consumed nothing. */
export type Opening = 'open' | 'spent' | Refusal;

type Payment = { key: string; hash: string; open: (id: string) => Promise<Opening> };

/** How long the same request gets its delivery without a new payment. */
const WINDOW_MS = 600_000;
/** How long a replica that died holds a payment. */
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;

/** True if nothing was redeemed for certain. Any other refusal may follow a lost answer. */
const tookNothing = ({ status, reason }: Refusal): boolean => status === 402 || reason === 'rate_limited';

const keepAlive = (beat: () => unknown): (() => void) => {
  const timer: unknown = setInterval(beat, HEARTBEAT_MS);
  // In Node the timer must not keep the process alive.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer as number);
};

export const createDeliveries = (store: PaywallStore, onError: (error: unknown) => void) => {
  const read = async (key: string) => {
    const text = await store.get(key);
    return text === null ? null : { text, record: JSON.parse(text) as PaymentRecord };
  };
  /** The result that needs no further work, or null. */
  const settled = (record: PaymentRecord, hash: string): Begun | null => {
    if (record.hash !== hash) return record.opened === undefined ? null : { kind: 'spent' };
    if (record.done === undefined) return null;
    return record.done === null ? { kind: 'spent' } : { kind: 'replay', answer: record.done };
  };

  const work = async ({ key, hash, open }: Payment, unlock: () => Promise<void>): Promise<Begun> => {
    const found = await read(key);
    const known = found === null ? null : settled(found.record, hash);
    if (known !== null) return known;
    let text = found?.text ?? null;
    const write = async (next: PaymentRecord): Promise<boolean> => {
      const ttlMs = next.since + WINDOW_MS - Date.now();
      const json = JSON.stringify(next);
      // Compared with the text that was read, because a process that paused beyond its lease must
      // not overwrite newer work.
      if (json !== text && (ttlMs <= 0 || !(await store.compareAndSet(key, text, json, ttlMs)))) return false;
      text = json;
      return true;
    };

    const base = found?.record ?? { id: crypto.randomUUID(), since: Date.now() };
    // A record that was never redeemed keeps its id also for another request, because no handler
    // has run for it.
    let record: PaymentRecord = { ...base, hash };
    if (!(await write(record))) return { kind: 'busy' };
    if (record.opened === undefined) {
      const opening = await open(record.id);
      if (opening === 'spent') {
        // So that repeated requests cost no call.
        await write({ ...record, hash: '', opened: true });
        return { kind: 'spent' };
      }
      if (opening !== 'open') {
        // The id was created for this call. If it were stored for invalid payments, anybody could
        // fill the store for free.
        if (found === null && tookNothing(opening)) await store.compareAndSet(key, text, null, 0);
        return { kind: 'refused', refusal: opening };
      }
      record = { ...record, opened: true, since: Date.now() };
      if (!(await write(record))) return { kind: 'busy' };
    }

    let over = false;
    const finish: Finish = async (outcome) => {
      if (over) return;
      over = true;
      try {
        if (outcome !== 'failed') await write({ ...record, done: outcome });
      } catch (error) {
        onError(error);
      }
      await unlock();
    };
    return { kind: 'deliver', id: record.id, finish };
  };

  /**
   * Begins the delivery of a payment, or returns why there is none.
   * @throws errors of the store; nothing is lost then
   */
  return async (payment: Payment): Promise<Begun> => {
    const found = await read(payment.key);
    const known = found === null ? null : settled(found.record, payment.hash);
    if (known !== null) return known;

    const lock = `${payment.key}:lock`;
    const lease = crypto.randomUUID();
    if (!(await store.compareAndSet(lock, null, lease, LEASE_MS))) return { kind: 'busy' };
    const startedAt = Date.now();
    const stop = keepAlive(async () => {
      // A handler that never ends must not hold the payment without limit. After the window the
      // record is gone anyway.
      if (Date.now() - startedAt > WINDOW_MS) return stop();
      try {
        await store.compareAndSet(lock, lease, lease, LEASE_MS);
      } catch (error) {
        onError(error);
      }
    });
    const unlock = async () => {
      stop();
      try {
        await store.compareAndSet(lock, lease, null, 0);
      } catch (error) {
        onError(error);
      }
    };
    try {
      const begun = await work(payment, unlock);
      if (begun.kind !== 'deliver') await unlock();
      return begun;
    } catch (error) {
      await unlock();
      throw error;
    }
  };
};
