import { z } from 'zod';
import { FinalizedTransaction } from '../ledger/model/transfers.ts';

/**
 * The forms of JSON-RPC answers. Each schema is made once, because zod compiles it at first use.
 */

/** A JSON-RPC 2.0 server that cannot read a request answers with the id `null`. */
export const Reply = z.object({
  id: z.string().nullable(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
  result: z.unknown().optional(),
});

const inContext = <T extends z.ZodType>(value: T) =>
  z.object({ context: z.object({ slot: z.number() }), value });

const ErrorJson = z.union([z.string(), z.record(z.string(), z.unknown())]).nullable();
const AccountJson = z
  .object({ data: z.tuple([z.string(), z.literal('base64')]), owner: z.string(), executable: z.boolean() })
  .nullable();
const StatusJson = z
  .object({
    slot: z.number(),
    err: ErrorJson,
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullable(),
  })
  .nullable();
const Balance = z.object({
  accountIndex: z.number(),
  owner: z.string().nullish(),
  uiTokenAmount: z.object({ amount: z.string() }),
});

export const GenesisHash = z.string();
export const BlockHeight = z.number();
export const SentSignature = z.string();
export const LatestBlockhash = inContext(
  z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() }),
);
export const BlockhashValid = inContext(z.boolean());
export const Accounts = inContext(z.array(AccountJson));
export const Simulation = inContext(z.object({ err: ErrorJson }));
const TokenBalance = Balance.extend({
  mint: z.string(),
  programId: z.string().nullish(),
});
/** simulateTransaction with what changes. Nodes before version 3.1 leave out the balances. */
export const OutcomeJson = inContext(
  z.object({
    err: ErrorJson,
    preBalances: z.array(z.number()).nullish(),
    postBalances: z.array(z.number()).nullish(),
    preTokenBalances: z.array(TokenBalance).nullish(),
    postTokenBalances: z.array(TokenBalance).nullish(),
    accounts: z.array(z.object({ owner: z.string(), executable: z.boolean() }).nullable()).nullish(),
  }),
);
export const Statuses = inContext(z.array(StatusJson));
export const Signatures = z.array(
  z.object({ signature: z.string(), slot: z.number(), err: ErrorJson, blockTime: z.number().nullish() }),
);
export const RecentFees = z.array(
  z.object({ slot: z.number(), prioritizationFee: z.int().min(0).max(Number.MAX_SAFE_INTEGER) }),
);
export const Lamports = inContext(z.number());
/** getTransaction in its `json` form. */
export const FinalizedTransactionJson = FinalizedTransaction.nullable();

const Meta = z.object({
  err: ErrorJson,
  fee: z.int().min(0).nullish(),
  // Balances of others may be no safe integers: a faucet has 10^18 lamports.
  preBalances: z.array(z.number().min(0)).nullish(),
  postBalances: z.array(z.number().min(0)).nullish(),
  preTokenBalances: z.array(Balance).nullish(),
  postTokenBalances: z.array(Balance).nullish(),
});
const LoadedAddresses = z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) });
/** getTransaction in its `base64` form. */
export const TransactionJson = z.object({
  slot: z.number(),
  transaction: z.tuple([z.string(), z.literal('base64')]),
  meta: Meta.extend({ loadedAddresses: LoadedAddresses.nullish() }),
});
export const NullableTransaction = TransactionJson.nullable();

/** A transaction of getBlock with the details `accounts`. */
export const TransactionOfBlock = z.object({
  transaction: z.object({
    signatures: z.tuple([z.string()], z.string()),
    accountKeys: z.array(z.object({ pubkey: z.string() })),
  }),
  meta: Meta,
});
/** Most transactions of a block are not ours, so only ours are parsed. */
export const NullableBlock = z.object({ transactions: z.array(z.unknown()) }).nullable();
