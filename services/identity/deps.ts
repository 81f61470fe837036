import type { z } from 'zod';
import { invalid } from '../../shared/contract/errors.ts';
import type { settlement } from '../../shared/contract/index.ts';
import type { Environment } from '../../shared/contract/primitives.ts';
import type { DelegateSpending as Spending } from '../../shared/contract/settlement.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { SigningKey } from '../../shared/lib/keys.ts';
import type { Logger } from '../../shared/lib/logger.ts';
import type { RelyingParty } from './passkey.ts';

export type DelegateSpending = z.infer<typeof Spending>;
type Internal = typeof settlement.internal;

/** What the handlers of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  logger: Logger;
  clock: Clock;
  environment: Environment;
  signingKey: SigningKey;
  identitySecret: Buffer;
  cursorKey: Buffer;
  relay: Pick<Relay, 'dispatch'>;
  rp: RelyingParty;
  /** The wallet that pays where none is named, null without any. */
  defaultWallet: (accountId: string) => Promise<string | null>;
  /** False when it is not the account's; null: the first linked. */
  chooseDefaultWallet: (accountId: string, walletId: string | null) => Promise<boolean>;
  /** Rejects with a ServiceError that says why the address may not receive payouts. */
  checkPayoutAddress: (address: string, allowOffCurve: boolean) => Promise<unknown>;
  /** How long a changed payout address waits before it acts (docs/spec/decisions.md, Sign-in). */
  payoutDelayHours: number;
  /** Whether the account has this wallet. */
  hasWallet: (accountId: string, walletId: string) => Promise<boolean>;
  upsertDelegate: (input: z.infer<Internal['upsertDelegate']['input']>) => Promise<DelegateSpending | null>;
  listDelegateSpending: (accountId: string, delegateIds: string[]) => Promise<DelegateSpending[]>;
  /** Whether anything of a service can still be paid or redeemed, and when the last window ends (epoch milliseconds). */
  activityOf: (serviceId: string) => Promise<{ open: boolean; endsAt: number | null }>;
  /** Says that a mail was committed, so that it goes out now. Never throws. */
  pokeMails: () => void;
};

/** A body may say the environment that its access token is of, and no other. */
export const requireEnvironment = (
  deps: Pick<Deps, 'environment'>,
  environment: Environment | undefined,
): void => {
  if (environment === undefined || environment === deps.environment) return;
  const message = 'not the environment of the access token';
  throw invalid('environment', message);
};
