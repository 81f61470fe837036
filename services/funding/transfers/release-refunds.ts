import { type ReleaseReservationDeps, releaseReservation } from './release-reservation.ts';
import { claimUnreleasedRefunds, voidAbandonedRefunds } from './store/refunds.ts';

const BATCH = 50;

/** Releases the reservations of refunds that failed, expired or were abandoned in a crash. */
export const releaseRefunds = (deps: ReleaseReservationDeps) => async (): Promise<void> => {
  await voidAbandonedRefunds(deps.pool);
  for (const { id } of await claimUnreleasedRefunds(deps.pool, BATCH)) await releaseReservation(deps, id);
};
