import { everyMs, type Periodic } from '../../../shared/lib/periodic.ts';
import { attemptDelivery, type DeliveryAttempter } from './attempt-delivery.ts';
import { createPermits } from './permits.ts';
import { claimDue, type DueRow } from './store.ts';

const SWEEP_EVERY_MS = 1000;
/** The permits of one replica. A delivery mostly waits for its receiver and needs little memory. */
const MAX_IN_FLIGHT = 256;

type Deliveries = Periodic & {
  /** Sends due deliveries now instead of at the next sweep. Never throws. */
  sendNow: () => void;
};

/**
 * Delivers what is due. One short statement claims deliveries, and each is sent by itself and
 * outside of any transaction, so that a receiver that hangs occupies its own permit only.
 */
export const startDeliver = (deps: DeliveryAttempter): Deliveries => {
  const { pool, logger } = deps;
  const permits = createPermits(MAX_IN_FLIGHT);
  const inFlight = new Set<Promise<void>>();
  let stopping = false;

  const begin = (due: DueRow): void => {
    permits.acquire(due.endpoint_id);
    const work = attemptDelivery(deps, due).finally(() => {
      inFlight.delete(work);
      permits.release(due.endpoint_id);
      // Another delivery may wait for this permit.
      sendNow();
    });
    inFlight.add(work);
  };

  // One claim runs at a time, because two would use the same permits. A call during a claim makes
  // another claim follow.
  let claiming: Promise<void> | undefined;
  let again = false;
  const claimAll = async (): Promise<void> => {
    do {
      again = false;
      if (stopping || permits.free() <= 0) return;
      for (const due of await claimDue(pool, permits.inUse, permits.free())) begin(due);
    } while (again);
  };
  const sweep = (): Promise<void> => {
    if (claiming !== undefined) {
      again = true;
      return claiming;
    }
    claiming = claimAll().finally(() => {
      claiming = undefined;
    });
    return claiming;
  };
  const sendNow = (): void => {
    if (stopping) return;
    void sweep().catch((error: unknown) =>
      logger.warn({ err: error }, 'left deliveries to the next sweep after an error'),
    );
  };

  const periodic = everyMs(
    SWEEP_EVERY_MS,
    'deliver',
    async () => {
      await sweep();
      return inFlight.size > 0;
    },
    logger,
  );
  return {
    sendNow,
    stop: async () => {
      stopping = true;
      await periodic.stop();
      await claiming?.catch(() => {});
      await Promise.all(inFlight);
    },
  };
};
