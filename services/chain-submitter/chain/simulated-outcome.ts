import type { z } from 'zod';
import type { ChainError } from '../ledger/model/chain-error.ts';
import { RpcUnavailable } from './json-rpc.ts';
import type { OutcomeJson } from './schemas.ts';

/** A change of a token account, which the message names by this place. */
export type TokenChange = {
  account: number;
  mint: string;
  owner: string | null;
  program: string | null;
  deltaMicro: bigint;
};
/** What a transaction would change. */
export type Changes = {
  /** Only accounts whose balance changes. */
  tokens: TokenChange[];
  /** Lamports that the fee payer loses. */
  feePayerLamports: bigint;
  /** The accounts that were asked about, in their order; null for one that does not exist. */
  accounts: ({ owner: string; executable: boolean } | null)[];
};
export type SimulatedOutcome = { slot: number; error: ChainError | null; changes: Changes | null };

type Value = z.infer<typeof OutcomeJson>['value'];

/**
 * The changes of a simulation that succeeded; null for one that failed.
 * @throws RpcUnavailable when the provider does not say them
 */
export const changesOf = (value: Value, provider: number): Changes | null => {
  if (value.err !== null) return null;
  const { preBalances, postBalances, preTokenBalances, postTokenBalances, accounts } = value;
  if (!preBalances?.length || !postBalances?.length || !preTokenBalances || !postTokenBalances || !accounts)
    throw new RpcUnavailable(`provider ${provider}: simulateTransaction: an answer without balances`);
  const tokens = new Map<number, TokenChange>();
  const add = (list: NonNullable<Value['preTokenBalances']>, sign: bigint) => {
    for (const {
      accountIndex: account,
      mint,
      owner = null,
      programId: program = null,
      uiTokenAmount,
    } of list) {
      const before = tokens.get(account)?.deltaMicro ?? 0n;
      const deltaMicro = before + sign * BigInt(uiTokenAmount.amount);
      tokens.set(account, { account, mint, owner, program, deltaMicro });
    }
  };
  add(preTokenBalances, -1n);
  add(postTokenBalances, 1n);
  return {
    tokens: [...tokens.values()].filter(({ deltaMicro }) => deltaMicro !== 0n),
    feePayerLamports: BigInt(preBalances[0]!) - BigInt(postBalances[0]!),
    accounts: accounts.map((account) => account ?? null),
  };
};
