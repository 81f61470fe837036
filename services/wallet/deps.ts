import type { z } from 'zod';
import type { Waiting } from '../../shared/bus/wake.ts';
import type { chainSubmitter, settlement } from '../../shared/contract/index.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';

type Chain = typeof chainSubmitter.internal;
type In<Op extends { input: z.ZodType }> = z.infer<Op['input']>;
type Out<Op extends { output: z.ZodType }> = z.infer<Op['output']>;

export type Sight = Out<Chain['observeWallet']>;
type SumSpentSince = (typeof settlement.internal)['sumSpentSince'];

/** What the handlers of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  clock: Clock;
  cursorKey: Buffer;
  relay: Pick<Relay, 'dispatch'>;
  waiting: Waiting;
  /** How long a caller waits for the chain before the answer says how far it has come. */
  chainWaitMs: number;
  /** The shortest pause between two looks of the watcher at one wallet. */
  watchEveryMs: number;
  /** At most 100, in their order. */
  observeWallets: (owners: readonly string[]) => Promise<Out<Chain['observeWallets']>>;
  sumSpentSince: (wallets: In<SumSpentSince>['wallets']) => Promise<Out<SumSpentSince>>;
  describeWallet: (publicKey: string) => Promise<Out<Chain['describeWallet']>>;
  prepareDelegation: (input: In<Chain['prepareDelegation']>) => Promise<Out<Chain['prepareDelegation']>>;
  submitPrepared: (input: In<Chain['submitPrepared']>) => Promise<Out<Chain['submitPrepared']>>;
  listPaidByIds: (settlementIds: string[]) => Promise<Out<(typeof settlement.internal)['listPaidByIds']>>;
};

/** Keys under which a request waits for an event and its consumer wakes it. */
export const wakeKey = {
  tokenAccount: (walletId: string) => `tokenAccount.${walletId}`,
  preparation: (preparationId: string) => `preparation.${preparationId}`,
};
