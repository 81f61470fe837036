import { type ReleaseReservationDeps, releaseReservation } from './release-reservation.ts';
import { claimUnreleasedRefunds, voidAbandonedRefunds } from './store/refunds.ts';

const BATCH = 50;

/** Releases the reservations of refunds that failed, expired or were abandoned in a crash. */
export const releaseRefunds = (deps: ReleaseReservationDeps) => async (): Promise<boolean> => {
  await voidAbandonedRefunds(deps.pool);
  const unreleased = await claimUnreleasedRefunds(deps.pool, BATCH);
  for (const { id } of unreleased) await releaseReservation(deps, id);
  return unreleased.length > 0;
};
