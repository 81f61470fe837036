import bs58 from 'bs58';
import { z } from 'zod';
import { PROGRAMS } from './programs.ts';

/** An index into a transaction's accounts. A forged index finds no account. */
const index = z.int().min(0).max(255);
const Instruction = z.object({ programIdIndex: index, accounts: z.array(index), data: z.string() });
const Balance = z.object({
  accountIndex: index,
  mint: z.string(),
  owner: z.string().optional(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^[0-9]{1,20}$/) }),
});

/** getTransaction in its `json` form: programs and data are unparsed. */
export const FinalizedTransaction = z.object({
  transaction: z.object({
    message: z.object({ accountKeys: z.array(z.string()), instructions: z.array(Instruction) }),
  }),
  meta: z.object({
    err: z.unknown(),
    innerInstructions: z.array(z.object({ index, instructions: z.array(Instruction) })).nullish(),
    // Accounts of lookup tables. They follow the message's own accounts in the numbering.
    loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
    preTokenBalances: z.array(Balance).nullish(),
    postTokenBalances: z.array(Balance).nullish(),
  }),
});
export type FinalizedTransaction = z.infer<typeof FinalizedTransaction>;

/**
 * One transfer of tokens. `instruction` is its position: "2", or "2.1" inside the program of
 * instruction 2.
 */
type Transfer = { instruction: string; source: string; amountMicro: bigint };

type PositionedInstruction = z.infer<typeof Instruction> & { position: string };

/**
 * The two forms of a transfer. Accounts: source, [mint,] destination. The amount follows the form's
 * number.
 */
const FORMS: Record<string, { destination: number }> = {
  '3/9': { destination: 1 },
  '12/10': { destination: 2 },
};

/**
 * The transfers of an included transaction into a token account.
 *
 * The list is empty when the account does not have this mint and owner afterwards, because an
 * associated token account can be transferred to another owner. The list is also empty when the
 * account gained less than the transfers moved in: a deposit that leaves in the same transaction
 * has not arrived.
 */
export const transfersInto = (
  { transaction: { message }, meta }: FinalizedTransaction,
  { tokenAccount, owner, mint }: { tokenAccount: string; owner: string; mint: string },
): Transfer[] => {
  const loaded = meta.loadedAddresses ?? { writable: [], readonly: [] };
  const keys = [...message.accountKeys, ...loaded.writable, ...loaded.readonly];
  const inner = meta.innerInstructions ?? [];
  const positioned: PositionedInstruction[] = message.instructions.flatMap((instruction, outer) => [
    { ...instruction, position: `${outer}` },
    ...inner
      .filter((list) => list.index === outer)
      .flatMap((list) => list.instructions)
      .map((nested, number) => ({ ...nested, position: `${outer}.${number}` })),
  ]);

  const transfers = positioned.flatMap(({ programIdIndex, accounts, data, position }): Transfer[] => {
    if (keys[programIdIndex] !== PROGRAMS.token) return [];
    const bytes = Buffer.from(bs58.decodeUnsafe(data) ?? []);
    const form = FORMS[`${bytes[0]}/${bytes.length}`];
    if (form === undefined) return [];
    const source = keys[accounts[0] ?? -1];
    if (keys[accounts[form.destination] ?? -1] !== tokenAccount) return [];
    const amountMicro = bytes.readBigUInt64LE(1);
    // A transfer to the same account moves nothing.
    if (source === undefined || source === tokenAccount || amountMicro === 0n) return [];
    return [{ instruction: position, source, amountMicro }];
  });

  const at = (list: readonly z.infer<typeof Balance>[] | null | undefined) =>
    list?.find(({ accountIndex }) => keys[accountIndex] === tokenAccount);
  const after = at(meta.postTokenBalances);
  if (after === undefined || after.mint !== mint || (after.owner ?? owner) !== owner) return [];
  const before = BigInt(at(meta.preTokenBalances)?.uiTokenAmount.amount ?? '0');
  const arrived = BigInt(after.uiTokenAmount.amount) - before;
  const sent = transfers.reduce((sum, { amountMicro }) => sum + amountMicro, 0n);
  return arrived < sent ? [] : transfers;
};
