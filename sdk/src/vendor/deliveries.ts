import type { Refusal, StoredAnswer } from './answers.ts';
import type { PaywallStore } from './store.ts';

/**
 * One delivery per payment, over crashes, replicas and repeats (docs/adr/0021). A record per payment names the request it
 * pays for and the id with which the API's gate is opened; a lock lets one replica at a time work on it. The record is
 * written before the gate is asked, so that whoever comes after a crash asks with the same id and is let through.
 */
type PaymentRecord = {
  /** Of the request that the payment is for. */
  hash: string;
  /** What the gate is opened with. */
  id: string;
  /** Epoch milliseconds of the first request, then of the gate's opening: the window counts from there. */
  since: number;
  /** The gate is open: from here on the payment belongs to this request. Until then no handler has run. */
  opened?: true;
  /** Delivered: the answer to give again, null when it was not kept. */
  done?: StoredAnswer | null;
};

type Begun =
  | { kind: 'deliver'; id: string; finish: Finish }
  | { kind: 'replay'; answer: StoredAnswer }
  | { kind: 'spent' }
  | { kind: 'busy' }
  | { kind: 'refused'; refusal: Refusal };
/**
 * Ends a delivery: with its answer, with null when it was made but not kept, or `failed`, so that it can be asked for again.
 * Only the first call counts. Never throws.
 */
export type Finish = (outcome: StoredAnswer | null | 'failed') => Promise<void>;
/** What the gate said: spent is for good, a refusal took nothing. */
export type Opening = 'open' | 'spent' | Refusal;

type Payment = { key: string; hash: string; open: (id: string) => Promise<Opening> };

/** How long the same request gets its delivery without a new bill. */
const WINDOW_MS = 600_000;
/** A replica that died holds a payment this long. */
const LEASE_MS = 30_000;
const HEARTBEAT_MS = 10_000;

/** Said before anything was taken; any other refusal may come after an answer that was lost. */
const tookNothing = ({ status, reason }: Refusal): boolean => status === 402 || reason === 'rate_limited';

const keepAlive = (beat: () => unknown): (() => void) => {
  const timer: unknown = setInterval(beat, HEARTBEAT_MS);
  // In Node it must not keep the process up.
  (timer as { unref?: () => void }).unref?.();
  return () => clearInterval(timer as number);
};

export const createDeliveries = (store: PaywallStore, onError: (error: unknown) => void) => {
  const read = async (key: string) => {
    const text = await store.get(key);
    return text === null ? null : { text, record: JSON.parse(text) as PaymentRecord };
  };
  /** What needs no work: null when there is some. */
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
      // Against the text that was read: whoever slept past the lease must not write over what another has done since.
      if (json !== text && (ttlMs <= 0 || !(await store.compareAndSet(key, text, json, ttlMs)))) return false;
      text = json;
      return true;
    };

    const base = found?.record ?? { id: crypto.randomUUID(), since: Date.now() };
    // A record whose gate never opened goes on with its id also for another request: no handler has run for it.
    let record: PaymentRecord = { ...base, hash };
    if (!(await write(record))) return { kind: 'busy' };
    if (record.opened === undefined) {
      const opening = await open(record.id);
      if (opening === 'spent') {
        // So that asking again and again costs no call.
        await write({ ...record, hash: '', opened: true });
        return { kind: 'spent' };
      }
      if (opening !== 'open') {
        // The id was made for this one question. Kept by what cannot be taken, records by the thousand would cost nobody a cent.
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
   * Begins the delivery that a payment is for, or says why there is none.
   * @throws what the store throws; nothing is lost then
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
      // A handler that never ends does not hold the payment for ever; past the window the record is gone anyway.
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
