import type { z } from 'zod';
import { LIMITS } from './limits.ts';
import { schemasOf } from './site.ts';

/** Numbers among the settings that bound no rate of payments, each with the reason. */
export const OUTSIDE: Readonly<Record<string, string>> = {
  ACCOUNT_ERASURE_DAYS: 'days until the data of a closed account are erased',
  CELL: 'the number of the installation',
  CHAIN_WAIT_MS: 'how long a call waits',
  COSIGNATURES_PER_DAY: 'what one account signs itself: approvals and withdrawals, no payments',
  DELIVERY_TIMEOUT_MS: 'how long a receiver of webhooks may take',
  DRAIN_SECONDS: 'how long a gateway stops',
  HTTP_PORT: 'an address',
  INCOMING_FAILURES_PER_DAY: 'payments of x402 and MPP that fail on the chain, not those that succeed',
  INCOMING_FIRST_FAILURES_PER_DAY: 'payments of MPP that fail on the chain, not those that succeed',
  OPEN_PHONE_PAYMENTS: 'payments that wait for a phone at one moment, a minute or two each',
  OPEN_PHONE_PAYMENTS_OF_LINK: 'the same of one payment link',
  POLL_MS: 'calls to the RPC providers, 50 a second, each for 256 payments',
  POSTGRES_POOL: 'connections of a process: payments share statements, so ten carry a core',
  REVOKES_PER_DAY: 'revocations of one account',
  REVOKE_FEES_LAMPORTS_PER_DAY: 'revocations of all accounts; the first one of an account is always signed',
  SETTLE_WAIT_MS: 'how long a call waits',
  TAB_MAX_AMOUNT_MICRO: 'the ceiling of one authorization',
  TAB_MAX_NEW_PAYER_MICRO: 'what a payer without history may authorize',
  TRUSTED_HOPS: 'proxies before the gateway',
  WATCH_EVERY_MS: 'how often a wallet is looked at',
  X402_CREDIT_MICRO: 'what an account may owe; its payment of fees frees it',
  X402_CREDIT_PER_PAID: 'the same',
  X402_FEE_BPS: 'a price',
  X402_FEE_MIN_MICRO: 'a price',
  X402_FIRST_CREDIT_MICRO: 'what a new account may owe',
};

/** The settings that some limit of the model reads. */
export const modelled = (): Set<string> => new Set(LIMITS.flatMap(({ reads }) => reads));

type Def = { type: string; innerType?: z.ZodType; in?: z.ZodType; out?: z.ZodType };
/** The types that a schema's values may have, inside its defaults, options and pipes. */
const typesOf = (schema: z.ZodType): string[] => {
  const def = schema._zod.def as Def;
  const inside = [def.innerType, def.in, def.out].filter((each) => each !== undefined);
  return inside.length === 0 ? [def.type] : inside.flatMap(typesOf);
};

/** The settings that are numbers, and those whose default is a table of numbers. */
export const numericSettings = async (): Promise<string[]> =>
  [...(await schemasOf())]
    .filter(([, schema]) => {
      const isNumber = typesOf(schema).some((type) => type === 'number' || type === 'bigint');
      const unset = schema.safeParse(undefined);
      return isNumber || (unset.success && typeof unset.data === 'object' && isTable(unset.data));
    })
    .map(([name]) => name);

const isTable = (value: unknown): boolean =>
  value instanceof Map || (value !== null && !(value instanceof Set) && !Array.isArray(value));
