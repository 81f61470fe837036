import { setTimeout as sleep } from 'node:timers/promises';
import type { Rng } from '../rng.ts';
import type { Client } from './client.ts';
import type { Attempt } from './client-log.ts';

const TRIES = 3;
/** Units of a bundle. Its vendor wants to deliver some more often than that. */
const UNITS = [3, 10] as const;
const MOST_EXTRA = 4;
const REPLICAS = 2;

/**
 * Payments of bundles of units, whose vendor's replicas count deliveries at the same time.
 * @returns delivers on one payment until its units are used up, and asks for more than there are
 */
export const createDeliveries = ({ client, isRunning }: { client: Client; isRunning: () => boolean }) => ({
  unitsOf: (own: Rng): number => own.int(...UNITS),

  deliver: async (attempt: Attempt, units: number, own: Rng): Promise<void> => {
    const wanted = units + own.int(1, MOST_EXTRA);
    const deliveries = Array.from({ length: wanted }, (_, i) =>
      // One delivery of several units may find too few of them.
      client.beginDelivery(attempt, i === 1 ? 2 : 1),
    );
    const replica = async (at: number): Promise<void> => {
      const mine = own.fork(at);
      // Each replica has its own deliveries, and some that a client has sent to both.
      for (const [i, delivery] of deliveries.entries()) {
        if (i % REPLICAS !== at && !mine.chance(0.3)) continue;
        for (let tries = 0; tries < TRIES && isRunning(); tries += 1) {
          if (await client.consume(delivery)) break;
          await sleep(mine.int(50, 300));
        }
      }
    };
    await Promise.all(Array.from({ length: REPLICAS }, (_, at) => replica(at)));
  },
});
