import type { Pool } from '../../../shared/db/pool.ts';
import { listStandings } from './list-standings.ts';
import { setFrozen } from './set-frozen.ts';
import { setLimitFactor } from './set-limit-factor.ts';
import { showStanding } from './show-standing.ts';

/** The operators' operations on accounts, for `main.ts` and for the tests that serve them. */
export const accountStatusHandlers = (deps: { pool: Pool }) => ({
  listStandings: listStandings(deps),
  setFrozen: setFrozen(deps),
  setLimitFactor: setLimitFactor(deps),
  showStanding: showStanding(deps),
});
