import type { z } from 'zod';
import type { Waiting } from '../../shared/bus/wake.ts';
import type { chainSubmitter, WalletSnapshot } from '../../shared/contract/chain-submitter.ts';
import type { wallet } from '../../shared/contract/index.ts';
import type { Environment } from '../../shared/contract/primitives.ts';
import type { HourlyCaps } from '../../shared/db/hourly-caps.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Quarantine } from '../../shared/events/consume.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { PublicKeys, SigningKey } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { Accepted } from './accepted.ts';

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
  /** Where an event goes that an operator has to decide on. */
  quarantine: Quarantine;
  waiting: Waiting;
  /** What may be accepted in an hour. */
  caps: HourlyCaps;
  accepted: Accepted;
  findWallet: (accountId: string, walletId: string | null) => Promise<PayerWallet | null>;
  /** False: the chain is away, and chain-submitter says so. */
  isChainReadable: () => Promise<boolean>;
  /** Null: settles have a budget of lamports. Else the seconds until they have one again. */
  budgetRefillsInSeconds: () => Promise<number | null>;
  /** Whether the operators have paused taking new payments; at most 1 s old. */
  isPaused: () => Promise<boolean>;
  /** Whether an account is frozen; at most 1 s old. */
  isFrozen: (accountId: string) => Promise<boolean>;
  /** How far chain-submitter has brought an attempt, and what the chain proves about it. */
  getAttemptReport: (
    attempt: z.infer<typeof chainSubmitter.internal.getAttemptReport.input>,
  ) => Promise<z.infer<typeof chainSubmitter.internal.getAttemptReport.output>>;
  /** Whether a quote's payment stands on the chain, and which of these owners made it. */
  findPayment: (
    quote: z.infer<typeof chainSubmitter.internal.findPayment.input>,
  ) => Promise<z.infer<typeof chainSubmitter.internal.findPayment.output>>;
  observeWallet: (owner: string) => Promise<z.infer<typeof WalletSnapshot>>;
};
