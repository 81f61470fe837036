import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { newId } from '../../../shared/lib/id.ts';

/**
 * `Waiting.wake` wakes the replica that accepted the payment. A repeat on another one polls the
 * row.
 */
export const POLL_MS = 1000;

/** The id of a settlement that is not inserted yet, and the waiter that its outcome wakes. */
export type Upcoming = { settlementId: string; woken: Promise<unknown> };

/** Registers the waiter before the payment is accepted, so that no outcome is missed. */
export const withWaiter = async <T>(
  { waiting }: { waiting: Waiting },
  waitMs: number,
  work: (upcoming: Upcoming) => Promise<T>,
): Promise<T> => {
  const settlementId = newId('stl');
  const waiter = waiting.until(settlementId, waitMs);
  try {
    return await work({ settlementId, woken: waiter.woken });
  } finally {
    waiter.cancel();
  }
};

/**
 * Waits for the end of a payment. The row is read first, because it may have changed before.
 * @param until process time (performance.now) at which it returns the row as it is; `isEnd`: of a
 *   capture
 */
export const waitForEnd = <Row extends { status: string }>(
  { waiting }: { waiting: Waiting },
  settlementId: string,
  {
    read,
    until,
    isEnd = ({ status }) => status !== 'pending',
  }: { read: () => Promise<Row>; until: number; isEnd?: (row: Row) => boolean },
): Promise<Row> =>
  readUntil(waiting, settlementId, {
    read,
    done: isEnd,
    timeoutMs: until - performance.now(),
    againMs: POLL_MS,
  });
