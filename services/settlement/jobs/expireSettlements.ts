import type { Deps } from '../deps.ts';
import { expireElapsed } from '../store/settlements.ts';

const BATCH = 500;

/** Marks settlements `expired` within seconds of their window's end; the funds remain with the vendor on chain. */
export const expireSettlements =
  ({ pool }: Deps) =>
  async (): Promise<void> => {
    while ((await expireElapsed(pool, BATCH)) === BATCH);
  };
