import bs58 from 'bs58';
import type { InnerInstruction, TransactionMetadata } from 'litesvm/dist/internal.js';
import type { Account, Bank, Outcome } from './bank.ts';
import type { TransactionError } from './errors.ts';
import { u64 } from './formats/json.ts';
import type { Transaction } from './formats/wire.ts';
import { type Key, keyOf, MEMO_PROGRAM, MEMO_V1_PROGRAM } from './keys.ts';
import { tokenAccount, tokenMint, type UiAmount, uiAmount } from './token.ts';

type TokenBalance = {
  accountIndex: number;
  mint: string;
  owner: string;
  programId: string;
  uiTokenAmount: UiAmount;
};
type CompiledInstruction = {
  programIdIndex: number;
  accounts: number[];
  data: string;
  stackHeight: number | null;
};
export type InnerInstructions = { index: number; instructions: CompiledInstruction[] };
type ReturnData = { programId: string; data: [string, 'base64'] };

/**
 * Decimals of a mint at `slot`; 0 if the mint does not exist, which is possible only for a closed
 * Token-2022 mint.
 */
export const decimalsOf = (bank: Bank, mint: Key, slot: number): number =>
  tokenMint(bank.accountAt(mint, slot))?.decimals ?? 0;

const tokenBalance = (bank: Bank, account: Account | null, accountIndex: number, slot: number) => {
  const token = tokenAccount(account);
  if (!token) return undefined;
  const balance: TokenBalance = {
    accountIndex,
    mint: token.mint.name,
    owner: token.owner.name,
    programId: token.program.name,
    uiTokenAmount: uiAmount(token.amount, decimalsOf(bank, token.mint, slot)),
  };
  return balance;
};

const sumOf = (lamports: bigint[]): bigint => lamports.reduce((sum, one) => sum + one, 0n);

/** LiteSVM returns empty return data where Solana returns none. */
export const returnDataOf = (meta: TransactionMetadata): ReturnData | null => {
  const data = meta.returnData();
  if (data.data().length === 0) return null;
  return {
    programId: keyOf(data.programId()).name,
    data: [Buffer.from(data.data()).toString('base64'), 'base64'],
  };
};

const compiled = (inner: InnerInstruction): CompiledInstruction => {
  const instruction = inner.instruction();
  return {
    programIdIndex: instruction.programIdIndex(),
    accounts: [...instruction.accounts()],
    data: bs58.encode(instruction.data()),
    stackHeight: inner.stackHeight(),
  };
};

export const innerInstructionsOf = (meta: TransactionMetadata): InnerInstructions[] =>
  meta
    .innerInstructions()
    .map((list, index) => ({ index, instructions: list.map(compiled) }))
    .filter(({ instructions }) => instructions.length > 0);

/** The `status` that Solana still sends beside `err`. */
export const statusOf = (err: TransactionError | null) => (err === null ? { Ok: null } : { Err: err });

/**
 * The `meta` of getTransaction, with inner instructions compiled. LiteSVM reports neither balances
 * nor the fee. The balances come from the accounts before and after. Lamports are burned only as
 * fees, so the fee is the decrease of the total of all accounts.
 */
export const metaOf = (bank: Bank, { err, meta, keys, before, after }: Outcome, slot: number) => {
  const lamports = (accounts: (Account | null)[]) => accounts.map((account) => account?.lamports() ?? 0n);
  const pre = lamports(before);
  const post = lamports(after);
  const preTokens = before.map((account, index) => tokenBalance(bank, account, index, slot));
  const postTokens = after.map((account, index) =>
    account === before[index] ? preTokens[index] : tokenBalance(bank, account, index, slot),
  );
  const isToken = (balance: TokenBalance | undefined) => balance !== undefined;
  const writableEnd = keys.staticCount + keys.loadedWritable;
  const names = keys.all.map((key) => key.name);
  const returnData = returnDataOf(meta);
  return {
    err,
    status: statusOf(err),
    fee: u64(sumOf(pre) - sumOf(post)),
    preBalances: pre.map(u64),
    postBalances: post.map(u64),
    innerInstructions: innerInstructionsOf(meta),
    logMessages: meta.logs(),
    preTokenBalances: preTokens.filter(isToken),
    postTokenBalances: postTokens.filter(isToken),
    rewards: [],
    loadedAddresses: {
      writable: names.slice(keys.staticCount, writableEnd),
      readonly: names.slice(writableEnd),
    },
    computeUnitsConsumed: u64(meta.computeUnitsConsumed()),
    ...(returnData && { returnData }),
  };
};
export type Meta = ReturnType<typeof metaOf>;

/** The memos of a transaction as getSignaturesForAddress shows them: `[length] text; …`. */
export const memoOf = ({ message }: Transaction): string | null => {
  const memos = message.instructions
    .filter(({ programIdIndex }) => {
      const program = message.staticKeys[programIdIndex];
      return program === MEMO_PROGRAM || program === MEMO_V1_PROGRAM;
    })
    .map(({ data }) => `[${data.length}] ${Buffer.from(data).toString('utf8')}`);
  return memos.length > 0 ? memos.join('; ') : null;
};
