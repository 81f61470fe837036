import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { PublicKeys } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Flights } from './broadcast/in-flight.ts';
import type { Rpc } from './chain/rpc-pool.ts';
import type { ChainView } from './chain/token-accounts.ts';
import type { Driver } from './intents/executor.ts';
import type { Commits } from './intents/group-commit.ts';
import type { Network } from './intents/model/order.ts';
import type { Cosigning } from './limits/cosigning.ts';
import type { Limits } from './limits/fee-budgets.ts';
import type { OwnWorkBudgets } from './limits/own-transactions.ts';
import type { Caps } from './limits/spending-caps.ts';
import type { Signers } from './transactions/signer.ts';

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
