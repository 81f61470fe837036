import type { BalanceChanges, TokenDeltas } from '../ledger/model/balance-changes.ts';
import type { FinalizedTransaction } from '../ledger/model/transfers.ts';
import {
  type Movement,
  parseBalanceChanges,
  parseBlock,
  parseMovements,
  parseReturned,
} from './balance-changes.ts';
import type { IncludedTransaction } from './included-transaction.ts';
import { createCall, RpcUnavailable } from './json-rpc.ts';
import {
  Accounts,
  BlockHeight,
  BlockhashValid,
  FinalizedTransactionJson,
  GenesisHash,
  LatestBlockhash,
  NullableBlock,
  NullableTransaction,
  OutcomeJson,
  RecentFees,
  SentSignature,
  Signatures,
  Simulation,
  Statuses,
} from './schemas.ts';
import { changesOf, type SimulatedOutcome } from './simulated-outcome.ts';

const COMMITMENT = 'confirmed';
/** Signatures of one getSignatureStatuses call. */
const MAX_STATUSES = 256;
/** Transactions of one getSignaturesForAddress page. */
const PAGE_SIGNATURES = 1000;

/** A transaction that names an address. */
type ListedTransaction = {
  signature: string;
  slot: number;
  succeeded: boolean;
  /** Block time, epoch milliseconds. */
  at: number | null;
};

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

type BlockChanges = { transactions: number; changes: ReadonlyMap<string, TokenDeltas> };

/** The reads of included transactions. */
const transactionReads = (call: ReturnType<typeof createCall>, number: number) => ({
  /** A finalized transaction with its instructions; null while this provider does not have it. */
  finalized: (signature: string): Promise<FinalizedTransaction | null> => {
    const options = { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 };
    return call('getTransaction', [signature, options], FinalizedTransactionJson);
  },
  /** A transaction with its bytes; null while it is not confirmed. */
  included: async (signature: string): Promise<IncludedTransaction | null> => {
    const options = { encoding: 'base64', commitment: COMMITMENT, maxSupportedTransactionVersion: 0 };
    const returned = await call('getTransaction', [signature, options], NullableTransaction);
    if (returned === null) return null;
    const included = parseReturned(returned, signature);
    if (included === null)
      throw new RpcUnavailable(`provider ${number}: getTransaction: not the transaction asked for`);
    return included;
  },
  /** A transaction's token balance changes; null while it has not reached this commitment. */
  balances: async (
    signature: string,
    commitment: 'confirmed' | 'finalized',
  ): Promise<BalanceChanges | null> => {
    const options = { encoding: 'base64', commitment, maxSupportedTransactionVersion: 0 };
    const returned = await call('getTransaction', [signature, options], NullableTransaction);
    if (returned === null) return null;
    const changes = parseBalanceChanges(returned, signature);
    if (changes === null)
      throw new RpcUnavailable(`provider ${number}: getTransaction: not the transaction asked for`);
    return changes;
  },
  /** All token accounts that a confirmed transaction has changed; null while it is none. */
  movements: async (signature: string): Promise<Movement[] | null> => {
    const options = { encoding: 'base64', commitment: COMMITMENT, maxSupportedTransactionVersion: 0 };
    const returned = await call('getTransaction', [signature, options], NullableTransaction);
    return returned && parseMovements(returned, signature);
  },
  /**
   * The token balance changes of these transactions of a finalized block, and how many transactions
   * it has. Null while this provider does not have the block. What it lacks is not in `changes`.
   */
  finalizedBlock: async (slot: number, signatures: ReadonlySet<string>): Promise<BlockChanges | null> => {
    const options = {
      transactionDetails: 'accounts',
      rewards: false,
      commitment: 'finalized',
      maxSupportedTransactionVersion: 0,
    };
    const block = await call('getBlock', [slot, options], NullableBlock);
    return (
      block && {
        transactions: block.transactions.length,
        changes: parseBlock(block.transactions, signatures),
      }
    );
  },
});

/** What a transaction would do. Signatures are not verified. */
const simulations = (call: ReturnType<typeof createCall>, number: number) => {
  const options = { encoding: 'base64', sigVerify: false, commitment: COMMITMENT };
  return {
    simulate: (wire: Uint8Array, minContextSlot: number | undefined) =>
      call('simulateTransaction', [base64(wire), { ...options, minContextSlot }], Simulation),
    /**
     * As `simulate`, with what the transaction changes.
     * @param addresses of accounts whose owners are asked for
     */
    simulateOutcome: async (
      wire: Uint8Array,
      addresses: readonly string[],
      minContextSlot: number | undefined,
    ): Promise<SimulatedOutcome> => {
      const accounts = { encoding: 'base64', addresses };
      const params = [base64(wire), { ...options, minContextSlot, accounts }];
      const { context, value } = await call('simulateTransaction', params, OutcomeJson);
      return { slot: context.slot, error: value.err, changes: changesOf(value, number) };
    },
  };
};

/** The JSON-RPC methods of one provider. Each may throw RpcUnavailable or RpcRefused. */
export const createProvider = (url: string, number: number) => {
  const call = createCall(url, number);
  return {
    number,
    genesisHash: () => call('getGenesisHash', [], GenesisHash),
    blockHeight: (commitment: 'confirmed' | 'finalized', minContextSlot?: number) =>
      call('getBlockHeight', [{ commitment, minContextSlot }], BlockHeight),
    latestBlockhash: (commitment: 'confirmed' | 'finalized' = COMMITMENT) =>
      call('getLatestBlockhash', [{ commitment }], LatestBlockhash),
    /**
     * Whether the next block after the finalized or the newest one may have a transaction of this
     * blockhash. A blockhash of the last seconds is not known as of the finalized block.
     */
    isBlockhashValid: async (blockhash: string): Promise<boolean> => {
      const ask = (commitment: 'finalized' | 'processed') =>
        call('isBlockhashValid', [blockhash, { commitment }], BlockhashValid);
      return (await Promise.all([ask('finalized'), ask('processed')])).some(({ value }) => value);
    },
    accounts: (
      addresses: readonly string[],
      minContextSlot: number | undefined,
      commitment: 'processed' | 'confirmed' | 'finalized' = COMMITMENT,
    ) => {
      const options = { encoding: 'base64', commitment, minContextSlot };
      return call('getMultipleAccounts', [addresses, options], Accounts);
    },
    /** The smallest prices of recent slots that write all of these accounts. */
    recentFees: (accounts: readonly string[]) => call('getRecentPrioritizationFees', [accounts], RecentFees),
    send: (wire: Uint8Array) => {
      const options = { encoding: 'base64', skipPreflight: true, maxRetries: 0 };
      return call('sendTransaction', [base64(wire), options], SentSignature);
    },
    /** @param history whether the provider also searches beyond its recent status cache */
    statuses: async (signatures: readonly string[], { history }: { history: boolean }) => {
      const pages: readonly string[][] = Array.from(
        { length: Math.ceil(signatures.length / MAX_STATUSES) },
        (_, page) => signatures.slice(page * MAX_STATUSES, (page + 1) * MAX_STATUSES),
      );
      const answers = await Promise.all(
        pages.map((page) =>
          call('getSignatureStatuses', [page, { searchTransactionHistory: history }], Statuses),
        ),
      );
      if (answers.some(({ value }, index) => value.length !== pages[index]!.length))
        throw new RpcUnavailable(`provider ${number}: getSignatureStatuses: an unknown form of answer`);
      return {
        slot: Math.min(...answers.map(({ context }) => context.slot)),
        statuses: answers.flatMap(({ value }) => value),
      };
    },
    /** One page of the transactions that name an address, newest first; empty at the end. */
    listSignatures: async (address: string, before: string | undefined): Promise<ListedTransaction[]> => {
      const options = { commitment: COMMITMENT, limit: PAGE_SIGNATURES, before };
      const found = await call('getSignaturesForAddress', [address, options], Signatures);
      return found.map(({ signature, slot, err, blockTime }) => ({
        signature,
        slot,
        succeeded: err === null,
        at: typeof blockTime === 'number' ? blockTime * 1000 : null,
      }));
    },
    ...simulations(call, number),
    ...transactionReads(call, number),
  };
};
export type Provider = ReturnType<typeof createProvider>;
