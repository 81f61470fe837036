import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Sender } from './deliveries/sender.ts';
import type { Secrets } from './endpoints/secrets.ts';

/** What the handlers, consumers and jobs of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  logger: Logger;
  /** The database's clock, epoch milliseconds. */
  clock: Clock;
  cursorKey: Buffer;
  relay: Pick<Relay, 'dispatch'>;
  secrets: Secrets;
  sender: Sender;
  /** Says that deliveries were committed, so that they go out now. Never throws. */
  pokeDeliveries: () => void;
};
