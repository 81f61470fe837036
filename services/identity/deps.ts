import type { Environment } from '../../shared/contract/primitives.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { SigningKey } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';

/** What the handlers of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  logger: Logger;
  clock: Clock;
  environment: Environment;
  signingKey: SigningKey;
  identitySecret: Buffer;
  cursorKey: Buffer;
  /** Rejects with a ServiceError that says why the address may not receive payouts. */
  checkPayoutAddress: (address: string, allowOffCurve: boolean) => Promise<unknown>;
  /** Says that a mail was committed, so that it goes out now. Never throws. */
  pokeMails: () => void;
};
