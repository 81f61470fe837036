import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { PublicKeys } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Caps } from './caps.ts';
import type { ChainView } from './chain.ts';
import type { Commits } from './commits.ts';
import type { Network } from './domain/order.ts';
import type { Driver } from './drive.ts';
import type { Flights } from './flights.ts';
import type { Limits } from './limits/budgets.ts';
import type { Cosigning } from './limits/cosigning.ts';
import type { OwnWorkBudgets } from './limits/own-work.ts';
import type { Rpc } from './rpc.ts';
import type { Signers } from './signer.ts';

/** What the handlers and jobs of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  clock: Clock;
  logger: Logger;
  /** This process among its replicas: whose leases are whose. */
  workerId: string;
  environment: string;
  network: Network;
  keys: PublicKeys;
  rpc: Rpc;
  chain: ChainView;
  signers: Signers;
  caps: Caps;
  limits: Limits;
  ownWork: OwnWorkBudgets;
  cosigning: Cosigning;
  commits: Commits;
  flights: Flights;
  driver: Driver;
};
