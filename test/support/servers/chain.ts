import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { PublicKey, type TokenBalance } from '@solana/web3.js';
import { connectTo } from '../../../deploy/local/processes/chain-connection.ts';
import type { StackEnvironment } from '../../../deploy/local/stack/stack-file.ts';

/** The chain as an outsider sees it: a plain web3.js client without code of the services. */
export const chainOf = (environment: Pick<StackEnvironment, 'rpc_url' | 'usdc_mint'>) => {
  const connection = connectTo(environment.rpc_url);
  const mint = new PublicKey(environment.usdc_mint);
  const tokenAccounts = new Map<string, PublicKey>();
  /** Cached: deriving an address takes a millisecond, and campaigns derive thousands. */
  const tokenAccount = (owner: string | PublicKey): PublicKey => {
    const known = tokenAccounts.get(owner.toString());
    if (known !== undefined) return known;
    const derived = getAssociatedTokenAddressSync(mint, new PublicKey(owner), true);
    tokenAccounts.set(owner.toString(), derived);
    return derived;
  };
  const confirmed = async (signature: string) => {
    const transaction = await connection.getParsedTransaction(signature, {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 0,
    });
    if (transaction === null) throw new Error('the chain has no such transaction');
    return transaction;
  };
  return {
    connection,
    mint,
    tokenAccount,
    /** Micro-units; 0 without a token account. */
    balance: (owner: string | PublicKey): Promise<bigint> =>
      connection.getTokenAccountBalance(tokenAccount(owner)).then(
        ({ value }) => BigInt(value.amount),
        () => 0n,
      ),
    /** Transactions that touched an owner's token account, failed ones included. */
    history: (owner: string | PublicKey) =>
      connection.getSignaturesForAddress(tokenAccount(owner), { limit: 1000 }),
    /**
     * Micro-units that a confirmed transaction added to an owner's token account. A balance changes
     * by the payments of other tests too.
     */
    received: async (owner: string, signature: string): Promise<bigint> => {
      const { meta } = await confirmed(signature);
      const amountOf = (balances: readonly TokenBalance[] | null | undefined) =>
        BigInt(
          balances?.find((each) => each.owner === owner && each.mint === mint.toBase58())?.uiTokenAmount
            .amount ?? 0,
        );
      return amountOf(meta?.postTokenBalances) - amountOf(meta?.preTokenBalances);
    },
    /** Programs and instruction names of a confirmed transaction, in order. */
    instructions: async (signature: string) => {
      const transaction = await confirmed(signature);
      return transaction.transaction.message.instructions.map((instruction) =>
        'parsed' in instruction
          ? `${instruction.program}:${instruction.parsed.type}`
          : instruction.programId.toBase58(),
      );
    },
  };
};
