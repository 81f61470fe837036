import type { ServiceName } from '../contract/service.ts';
import { subjects } from '../contract/service.ts';
import type { Bus } from './connect.ts';

/**
 * Wakes requests that wait for an event, on any replica. Core NATS is lossy, so a waiter reads the
 * record again before it gives up (docs/design/settle.md, Waiting).
 */
export type Waiting = {
  /**
   * Resolves when the key is woken or after timeoutMs, whichever comes first. The value is the
   * record if this replica wrote it, otherwise undefined. Register before the row is read.
   */
  until: (key: string, timeoutMs: number) => { woken: Promise<unknown>; cancel: () => void };
  /**
   * Wakes the waiters of a key after its record changed. With the record, only waiters of this
   * replica are woken: a waiter of another replica can only be a repeat, which reads again anyway.
   */
  wake: (key: string, record?: unknown) => void;
  stop: () => Promise<void>;
};

export const createWaiting = (bus: Bus, service: ServiceName): Waiting => {
  const waiters = new Map<string, Set<(record?: unknown) => void>>();
  const subscription = bus.nc.subscribe(subjects.wake(service, '>'), {
    callback: (_error, msg) => {
      const key = msg.subject.slice(subjects.wake(service, '').length);
      for (const resolve of waiters.get(key) ?? []) resolve();
    },
  });
  return {
    until: (key, timeoutMs) => {
      let cancel = () => {};
      const woken = new Promise<unknown>((resolve) => {
        const set = waiters.get(key) ?? new Set();
        const done = (record?: unknown) => {
          clearTimeout(timer);
          set.delete(done);
          if (set.size === 0) waiters.delete(key);
          resolve(record);
        };
        const timer = setTimeout(done, timeoutMs);
        waiters.set(key, set.add(done));
        cancel = done;
      });
      return { woken, cancel };
    },
    wake: (key, record) => {
      const here = record === undefined ? undefined : waiters.get(key);
      if (here === undefined) bus.nc.publish(subjects.wake(service, key));
      else for (const resolve of here) resolve(record);
    },
    stop: () => subscription.drain(),
  };
};
