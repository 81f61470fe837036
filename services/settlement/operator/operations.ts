import { redriveSettlement } from './redrive-settlement.ts';
import { setIntake } from './set-intake.ts';
import { showCaps } from './show-caps.ts';
import { showIntake } from './show-intake.ts';

type Deps = Parameters<typeof redriveSettlement>[0] & Parameters<typeof showCaps>[0];

/**
 * The operations of this service alone, for main.ts and for the tests that serve them over a real
 * bus. Those of every service are in shared/operator/.
 */
export const operatorOperations = (deps: Deps) => ({
  showCaps: showCaps(deps),
  showIntake: showIntake(deps),
  setIntake: setIntake(deps),
  redriveSettlement: redriveSettlement(deps),
});
