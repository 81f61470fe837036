import type { ServiceName } from '../contract/service.ts';
import { subjects } from '../contract/service.ts';
import type { Bus } from './connect.ts';

/**
 * Wakes requests that wait for a fact, on whichever replica they wait. Core NATS, lossy by design: a waiter
 * reads the record again before it gives up (docs/settle.md, Waiting).
 */
export type Waiting = {
  /** Resolves when the key is woken or after timeoutMs, whichever comes first. Register before reading the row. */
  until: (key: string, timeoutMs: number) => { woken: Promise<void>; cancel: () => void };
  /** Tells all replicas that the record of this key has changed. */
  wake: (key: string) => void;
  stop: () => Promise<void>;
};

export const createWaiting = (bus: Bus, service: ServiceName): Waiting => {
  const waiters = new Map<string, Set<() => void>>();
  const subscription = bus.nc.subscribe(subjects.wake(service, '>'), {
    callback: (_error, msg) => {
      const key = msg.subject.slice(subjects.wake(service, '').length);
      for (const resolve of waiters.get(key) ?? []) resolve();
    },
  });
  return {
    until: (key, timeoutMs) => {
      let cancel = () => {};
      const woken = new Promise<void>((resolve) => {
        const set = waiters.get(key) ?? new Set();
        const done = () => {
          clearTimeout(timer);
          set.delete(done);
          if (set.size === 0) waiters.delete(key);
          resolve();
        };
        const timer = setTimeout(done, timeoutMs);
        waiters.set(key, set.add(done));
        cancel = done;
      });
      return { woken, cancel };
    },
    wake: (key) => bus.nc.publish(subjects.wake(service, key)),
    stop: () => subscription.drain(),
  };
};
