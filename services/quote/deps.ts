import type { z } from 'zod';
import type { chainSubmitter, identity, settlement } from '../../shared/contract/index.ts';
import type { Environment } from '../../shared/contract/primitives.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Relay } from '../../shared/events/relay.ts';
import type { Clock } from '../../shared/lib/clock.ts';
import type { SigningKey } from '../../shared/lib/keys.ts';
import type { FeeRule } from './domain/fee.ts';

type Out<Op extends { output: z.ZodType }> = z.infer<Op['output']>;

/** What the handlers and jobs of this service depend on; main.ts builds it. */
export type Deps = {
  pool: Pool;
  clock: Clock;
  environment: Environment;
  mint: string;
  fee: FeeRule;
  signingKey: SigningKey;
  cursorKey: Buffer;
  relay: Pick<Relay, 'dispatch'>;
  findService: (serviceId: string) => Promise<Out<typeof identity.internal.findService>>;
  /** `until`, epoch milliseconds: when nothing is signed for the quote any more. */
  reserveTokenAccount: (
    accountId: string,
    owner: string,
    until: number,
  ) => Promise<Out<typeof chainSubmitter.internal.reserveTokenAccount>>;
  listByQuotes: (
    quotes: readonly { quote_id: string; settlement_id: string | null }[],
  ) => Promise<Out<typeof settlement.internal.listByQuotes>>;
};
