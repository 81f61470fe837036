import type { z } from 'zod';
import type { Waiting } from '../../shared/bus/wake.ts';
import type { OnrampProvider } from '../../shared/contract/funding.deposits.ts';
import type { chainSubmitter, settlement, wallet } from '../../shared/contract/index.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Onramp } from './deposits/providers/onramp.ts';

type Chain = typeof chainSubmitter.internal;
type Settlements = typeof settlement.internal;
type In<Op extends { input: z.ZodType }> = z.infer<Op['input']>;
type Out<Op extends { output: z.ZodType }> = z.infer<Op['output']>;

/** What settlement tells of a refund's reservation. */
export type Reservation = Out<Settlements['reserveRefund']>;

/** What the handlers of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  logger: Logger;
  /** The database's clock, epoch milliseconds. */
  clock: Clock;
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
  observeTransfers: (txHash: string, owner: string) => Promise<Out<Chain['observeTransfers']>>;
  observeWallet: (owner: string) => Promise<Out<Chain['observeWallet']>>;
  prepareTransfer: (input: In<Chain['prepareTransfer']>) => Promise<Out<Chain['prepareTransfer']>>;
  submitPrepared: (input: In<Chain['submitPrepared']>) => Promise<Out<Chain['submitPrepared']>>;
  cancelPrepared: (input: In<Chain['cancelPrepared']>) => Promise<Out<Chain['cancelPrepared']>>;
  observePrepared: (input: In<Chain['observePrepared']>) => Promise<Out<Chain['observePrepared']>>;
  reserveRefund: (input: In<Settlements['reserveRefund']>) => Promise<Reservation>;
  releaseRefund: (refundId: string) => Promise<unknown>;
};

/** Keys under which a request waits for an event and its consumer wakes it. */
export const wakeKey = {
  fund: (fundId: string) => `fund.${fundId}`,
  /** By withdrawal or refund id. */
  transfer: (objectId: string) => `transfer.${objectId}`,
};
