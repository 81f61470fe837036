import type { z } from 'zod';
import type { Quarantine } from '../../shared/bus/consume.ts';
import type { Waiting } from '../../shared/bus/wake.ts';
import type { WalletSight } from '../../shared/contract/chain-submitter.ts';
import type { wallet } from '../../shared/contract/index.ts';
import type { Environment } from '../../shared/contract/primitives.ts';
import type { Relay } from '../../shared/db/outbox.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { PublicKeys, SigningKey } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';

export type PayerWallet = NonNullable<z.infer<typeof wallet.internal.find.output>>;

/** What the handlers, consumers and jobs of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  logger: Logger;
  /** The database's clock, epoch milliseconds. */
  clock: Clock;
  environment: Environment;
  publicKeys: PublicKeys;
  signingKey: SigningKey;
  mint: string;
  feeWallet: string;
  cursorKey: Buffer;
  settleWaitMs: number;
  relay: Relay;
  /** Where a fact goes that an operator has to decide on. */
  quarantine: Quarantine;
  waiting: Waiting;
  findWallet: (accountId: string, walletId: string | null) => Promise<PayerWallet | null>;
  /** False: the chain is away, and chain-submitter says so. */
  isChainReadable: () => Promise<boolean>;
  observeWallet: (owner: string) => Promise<z.infer<typeof WalletSight>>;
};
