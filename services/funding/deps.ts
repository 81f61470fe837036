import type { z } from 'zod';
import type { Waiting } from '../../shared/bus/wake.ts';
import type { OnrampProvider } from '../../shared/contract/funding.deposits.ts';
import type { chainSubmitter, wallet } from '../../shared/contract/index.ts';
import type { Relay } from '../../shared/db/outbox.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Onramp } from './providers/onramp.ts';

type Out<Op extends { output: z.ZodType }> = z.infer<Op['output']>;

/** What the handlers of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  logger: Logger;
  cursorKey: Buffer;
  /** The providers that this environment has keys for. */
  onramps: Partial<Record<OnrampProvider, Onramp>>;
  relay: Pick<Relay, 'dispatch'>;
  waiting: Waiting;
  /** How long a caller waits for the chain before the answer says how far it has come. */
  chainWaitMs: number;
  /** Whether this environment has a funding authority. */
  devFund: boolean;
  findWallet: (accountId: string, walletId: string) => Promise<Out<typeof wallet.internal.find>>;
  observeTransfers: (
    txHash: string,
    owner: string,
  ) => Promise<Out<typeof chainSubmitter.internal.observeTransfers>>;
  observeWallet: (owner: string) => Promise<Out<typeof chainSubmitter.internal.observeWallet>>;
};

/** Key under which a request waits for a fact and its consumer wakes it. */
export const wakeKey = { fund: (fundId: string) => `fund.${fundId}` };
