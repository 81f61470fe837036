import type { FailedTransactionMetadata } from 'litesvm/dist/internal.js';
import { INSTRUCTION_ERRORS, TRANSACTION_ERRORS } from './error-names.ts';

/**
 * A transaction error as Solana's JSON shows it: `"BlockhashNotFound"`,
 * `{ "InstructionError": [0, { "Custom": 1 }] }`, …
 */
export type TransactionError = string | { [name: string]: unknown };

/**
 * An error that becomes a JSON-RPC `error`. Any other exception in a method is a bug and becomes
 * -32603.
 */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** Instead of an answer, the connection of the call is closed, as by a node that is not reached. */
export class ConnectionClosed extends Error {}

// Codes: Solana's `rpc-client-api/src/custom_error.rs`, and JSON-RPC 2.0 section 5.1.
export const invalidParams = (message: string) => new RpcError(-32602, message);
export const methodNotFound = () => new RpcError(-32601, 'Method not found');
export const invalidRequest = () => new RpcError(-32600, 'Invalid request');
export const parseError = () => new RpcError(-32700, 'Parse error');
export const internalError = () => new RpcError(-32603, 'Internal error');
export const signatureVerificationFailure = () =>
  new RpcError(-32003, 'Transaction signature verification failure');
export const blockCleanedUp = (slot: number, first: number) =>
  new RpcError(-32001, `Block ${slot} cleaned up, does not exist on node. First available block: ${first}`);
export const blockNotAvailable = (slot: number) =>
  new RpcError(-32004, `Block not available for slot ${slot}`);
export const slotSkipped = (slot: number) =>
  new RpcError(-32007, `Slot ${slot} was skipped, or missing due to ledger jump to recent snapshot`);
export const minContextSlotNotReached = (contextSlot: number) =>
  new RpcError(-32016, 'Minimum context slot has not been reached', { contextSlot });
export const unsupportedTransactionVersion = (version: number) =>
  new RpcError(
    -32015,
    `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  );

/**
 * The answer to a sendTransaction that its preflight refused: -32002 with the simulation in `data`.
 * Both clients read it: kit makes `data.err` the cause, and web3.js shows `data.logs`.
 */
export const preflightFailure = (err: TransactionError, logs: string[], unitsConsumed: number) =>
  new RpcError(-32002, `Transaction simulation failed: ${describe(err)}`, {
    accounts: null,
    err,
    innerInstructions: null,
    loadedAccountsDataSize: 0,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed,
  });

/**
 * LiteSVM's error object as Solana's JSON. Its classes have only getters, so JSON.stringify cannot
 * be used.
 */
export const toTransactionError = (failed: FailedTransactionMetadata): TransactionError => {
  const err = failed.err();
  if (typeof err === 'number') return TRANSACTION_ERRORS[err]?.[0] ?? 'SanitizeFailure';
  switch (err.constructor.name) {
    case 'TransactionErrorInstructionError': {
      const { index, err: cause } = err as unknown as { index: number; err(): unknown };
      return { InstructionError: [index, toInstructionError(cause.call(err))] };
    }
    case 'TransactionErrorDuplicateInstruction':
      return { DuplicateInstruction: (err as unknown as { index: number }).index };
    case 'TransactionErrorInsufficientFundsForRent':
      return {
        InsufficientFundsForRent: {
          account_index: (err as unknown as { accountIndex: number }).accountIndex,
        },
      };
    default:
      return {
        ProgramExecutionTemporarilyRestricted: {
          account_index: (err as unknown as { accountIndex: number }).accountIndex,
        },
      };
  }
};

const toInstructionError = (err: unknown): unknown => {
  if (typeof err === 'number') return INSTRUCTION_ERRORS[err]?.[0] ?? 'GenericError';
  if (typeof err === 'object' && err !== null && 'code' in err) return { Custom: err.code };
  return 'BorshIoError';
};

const textOf = (table: readonly (readonly [string, string])[], name: string): string =>
  table.find(([known]) => known === name)?.[1] ?? name;

/**
 * Solana's text of a transaction error (`Display` of `TransactionError` and `InstructionError`).
 */
const describe = (err: TransactionError): string => {
  if (typeof err === 'string') return textOf(TRANSACTION_ERRORS, err);
  const [name, detail] = Object.entries(err)[0] ?? ['', undefined];
  if (name === 'InstructionError') {
    const [index, cause] = detail as [number, string | { Custom: number }];
    const text =
      typeof cause === 'string'
        ? textOf(INSTRUCTION_ERRORS, cause)
        : `custom program error: 0x${cause.Custom.toString(16)}`;
    return `Error processing Instruction ${index}: ${text}`;
  }
  if (name === 'DuplicateInstruction') {
    return `Transaction contains a duplicate instruction (${detail}) that is not allowed`;
  }
  const index = (detail as { account_index?: number } | undefined)?.account_index;
  if (name === 'InsufficientFundsForRent') {
    return `Transaction results in an account (${index}) with insufficient funds for rent`;
  }
  return `Execution of the program referenced by account at index ${index} is temporarily restricted.`;
};
