import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import type { Network } from '../chain/model/network.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { reportAttempt } from './attempt-report.ts';

type Deps = {
  pool: Pool;
  rpc: Rpc;
  network: Network;
  environment: string;
  keys: PublicKeys;
  clock: Clock;
};

/** Internal: all that is known of an attempt, and what the chain proves about it. */
export const getAttemptReport =
  (deps: Deps): Handler<typeof chainSubmitter.internal.getAttemptReport> =>
  (attempt) =>
    reportAttempt(deps, attempt);
