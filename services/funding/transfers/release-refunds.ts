import type { Deps } from '../deps.ts';
import { release } from './refunds.ts';
import { claimUnreleased, voidLeftRefunds } from './store/refunds.ts';

const BATCH = 50;

/** Gives back what refunds that are over had reserved: those that failed or expired, and what a crash left. */
export const releaseRefunds = (deps: Deps) => async (): Promise<void> => {
  await voidLeftRefunds(deps.pool);
  for (const { id } of await claimUnreleased(deps.pool, BATCH)) await release(deps, id);
};
