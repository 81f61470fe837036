import { z } from 'zod';
import type { Chain } from '../chain.ts';
import { invalidParams, minContextSlotNotReached } from '../errors.ts';
import { keyNamed } from '../keys.ts';
import type { Commitment } from '../ledger.ts';

/** A method receives positional parameters and returns the `result`. It throws RpcError. */
export type Method = (params: unknown[]) => unknown;
export type Methods = Record<string, Method>;

export const address = z.string().transform((name, context) => {
  const key = keyNamed(name);
  if (key) return key;
  context.addIssue({ code: 'custom', message: 'Invalid param: WrongSize' });
  return z.NEVER;
});

// A base58 signature of 64 bytes has 64 to 88 digits.
export const signature = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'Invalid param: WrongSize');

export const commitment = z.enum(['processed', 'confirmed', 'finalized']);
export const slotNumber = z.number().int().nonnegative();

/** The fields that every read accepts. Unknown fields are ignored, as in Solana. */
export const readConfig = { commitment: commitment.nullish(), minContextSlot: slotNumber.nullish() };
export const config = z.object(readConfig).nullish();

export const accountFormat = {
  encoding: z
    .enum(['base58', 'base64', 'base64+zstd', 'jsonParsed'])
    .nullish()
    .transform((encoding) => encoding ?? undefined),
  dataSlice: z
    .object({ offset: z.number().int().nonnegative(), length: z.number().int().nonnegative() })
    .nullish()
    .transform((slice) => slice ?? undefined),
};

/**
 * Parses positional parameters; missing trailing ones are undefined.
 *
 * @throws RpcError -32602 with the first invalid parameter
 */
export const parse = <Schemas extends [z.ZodType, ...z.ZodType[]]>(
  params: unknown[],
  ...schemas: Schemas
): { [Index in keyof Schemas]: z.output<Schemas[Index]> } => {
  const values = schemas.map((schema, index) => {
    const parsed = schema.safeParse(params[index]);
    if (parsed.success) return parsed.data;
    const issue = parsed.error.issues[0];
    const where = issue?.path.length ? `.${issue.path.join('.')}` : '';
    throw invalidParams(`Invalid params: parameter ${index}${where}: ${issue?.message ?? 'invalid'}`);
  });
  return values as { [Index in keyof Schemas]: z.output<Schemas[Index]> };
};

type ReadConfig = { commitment?: Commitment | null | undefined; minContextSlot?: number | null | undefined };

/**
 * The commitment of a read (Solana's default is `finalized`), with the slot that it sees.
 *
 * @throws RpcError -32016 if that slot is older than `minContextSlot`
 */
export const viewOf = (chain: Chain, given: ReadConfig | null | undefined) => {
  const level = given?.commitment ?? 'finalized';
  const slot = chain.ledger.slotAt(level);
  if ((given?.minContextSlot ?? 0) > slot) throw minContextSlotNotReached(slot);
  return { level, slot };
};

/** As `viewOf`. Solana keeps no history of what is only processed. */
export const historyViewOf = (chain: Chain, given: ReadConfig | null | undefined) => {
  const view = viewOf(chain, given);
  if (view.level === 'processed') {
    throw invalidParams('Method does not support commitment below `confirmed`');
  }
  return view;
};

/** The version that nodes report. */
export const VERSION = { 'solana-core': '2.3.0', 'feature-set': 3_640_012_085 };

export const inContext = <Value>(slot: number, value: Value) => ({
  context: { slot, apiVersion: VERSION['solana-core'] },
  value,
});
