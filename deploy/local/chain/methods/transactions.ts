import bs58 from 'bs58';
import { z } from 'zod';
import type { Outcome } from '../bank.ts';
import type { Chain } from '../chain.ts';
import { invalidParams } from '../errors.ts';
import { feeOf } from '../fees.ts';
import { encodeAccount } from '../formats/encode.ts';
import { u64 } from '../formats/json.ts';
import { encodeTransaction, parsedInner, TRANSACTION_ENCODINGS } from '../formats/transaction-json.ts';
import {
  decodeMessage,
  decodeTransaction,
  MAX_TRANSACTION_BYTES,
  type Transaction,
  WireError,
} from '../formats/wire.ts';
import type { IncludedTransaction } from '../history.ts';
import type { Key } from '../keys.ts';
import { type Commitment, MAX_BLOCKHASH_AGE } from '../ledger.ts';
import { innerInstructionsOf, metaOf, returnDataOf, statusOf } from '../meta.ts';
import {
  accountFormat,
  address,
  commitment,
  config,
  historyViewOf,
  inContext,
  type Methods,
  parse,
  readConfig,
  signature,
  slotNumber,
  viewOf,
} from './params.ts';

const TYPE = 'solana_transaction::versioned::VersionedTransaction';
const MAX_STATUSES = 256;
const MAX_SIGNATURES = 1_000;
// Without searchTransactionHistory a node searches only its status cache, which spans this many
// slots.
const STATUS_CACHE_SLOTS = 300;

type WireEncoding = 'base58' | 'base64';
const wireEncoding = z.enum(['base58', 'base64']).nullish();
const sendConfig = z
  .object({
    skipPreflight: z.boolean().nullish(),
    preflightCommitment: commitment.nullish(),
    encoding: wireEncoding,
    minContextSlot: slotNumber.nullish(),
  })
  .nullish();
const simulateConfig = z
  .object({
    ...readConfig,
    encoding: wireEncoding,
    sigVerify: z.boolean().nullish(),
    replaceRecentBlockhash: z.boolean().nullish(),
    innerInstructions: z.boolean().nullish(),
    accounts: z.object({ addresses: z.array(address), encoding: accountFormat.encoding }).nullish(),
  })
  .nullish();
const transactionEncoding = z.enum(TRANSACTION_ENCODINGS);
const transactionConfig = z.object({
  ...readConfig,
  encoding: transactionEncoding.nullish(),
  maxSupportedTransactionVersion: z.number().int().min(0).max(255).nullish(),
});
// Solana also accepts the name of an encoding instead of the object, an older format.
const transactionOptions = z
  .union([
    transactionConfig,
    transactionEncoding.transform((encoding): z.output<typeof transactionConfig> => ({ encoding })),
  ])
  .nullish();
const addressConfig = z
  .object({
    ...readConfig,
    limit: z.number().int().min(1).max(MAX_SIGNATURES).nullish(),
    before: signature.nullish(),
    until: signature.nullish(),
  })
  .nullish();

const isBase64 = (text: string) =>
  /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);

const bytesOf = (text: string, encoding: WireEncoding): Uint8Array => {
  const maxChars = encoding === 'base64' ? 1644 : 1683;
  if (text.length > maxChars) {
    throw invalidParams(
      `${encoding} encoded ${TYPE} too large: ${text.length} bytes (max: encoded/raw ${maxChars}/${MAX_TRANSACTION_BYTES})`,
    );
  }
  const bytes =
    encoding === 'base58'
      ? bs58.decodeUnsafe(text)
      : isBase64(text)
        ? Buffer.from(text, 'base64')
        : undefined;
  if (!bytes) throw invalidParams(`invalid ${encoding} encoding`);
  if (bytes.length > MAX_TRANSACTION_BYTES) {
    throw invalidParams(
      `decoded ${TYPE} too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
    );
  }
  return bytes;
};

const decode = <Decoded>(bytes: Uint8Array, decoder: (bytes: Uint8Array) => Decoded): Decoded => {
  try {
    return decoder(bytes);
  } catch (error) {
    if (error instanceof WireError) throw invalidParams(`failed to deserialize ${TYPE}: ${error.message}`);
    throw error;
  }
};

const transactionOf = (text: string, encoding: WireEncoding = 'base58'): Transaction =>
  decode(bytesOf(text, encoding), decodeTransaction);

const simulate = (
  chain: Chain,
  transaction: Transaction,
  given: z.output<typeof simulateConfig>,
  level: Commitment,
) => {
  const { ledger, bank } = chain;
  const verify = given?.sigVerify === true;
  const replace = given?.replaceRecentBlockhash === true;
  if (verify && replace) throw invalidParams('sigVerify may not be used with replaceRecentBlockhash');
  const { err, refusal, meta, outcome } = chain.simulate(
    transaction,
    verify,
    replace ? 'any-blockhash' : level,
  );
  const slot = ledger.slot();
  const changed = refusal ? undefined : outcome?.();
  const named = (key: Key) => changed?.keys.all.findIndex(({ name }) => name === key.name) ?? -1;
  const postAccounts = () =>
    (given?.accounts?.addresses ?? []).map((key) => {
      const account = changed?.after[named(key)] ?? bank.accountAt(key, slot);
      return (
        account && encodeAccount(bank, account, slot, { encoding: given?.accounts?.encoding ?? 'base64' })
      );
    });
  const keys = changed?.keys.all ?? transaction.message.staticKeys;
  const { hash, height } = ledger.blockAt(level);
  return {
    err: refusal ?? err,
    logs: refusal ? [] : meta.logs(),
    accounts: given?.accounts ? postAccounts() : null,
    unitsConsumed: refusal ? 0 : u64(meta.computeUnitsConsumed()),
    returnData: refusal ? null : returnDataOf(meta),
    innerInstructions:
      given?.innerInstructions && !refusal
        ? parsedInner(
            keys.map((key) => key.name),
            innerInstructionsOf(meta),
          )
        : null,
    replacementBlockhash: replace
      ? { blockhash: hash, lastValidBlockHeight: height + MAX_BLOCKHASH_AGE }
      : null,
    ...balancesOf(chain, changed),
  };
};

/** What a simulation changes, as nodes since version 3.1 show it. */
const balancesOf = ({ bank, ledger }: Chain, changed: Outcome | undefined) => {
  const meta = changed && metaOf(bank, changed, ledger.slot());
  return {
    fee: meta?.fee ?? null,
    preBalances: meta?.preBalances ?? null,
    postBalances: meta?.postBalances ?? null,
    preTokenBalances: meta?.preTokenBalances ?? null,
    postTokenBalances: meta?.postTokenBalances ?? null,
    loadedAddresses: meta?.loadedAddresses ?? null,
  };
};

/** Methods that send, simulate and find transactions. */
export const transactionMethods = (chain: Chain): Methods => {
  const { ledger, history } = chain;

  const statusJson = ({ slot, err }: IncludedTransaction) => {
    const reached = ledger.commitmentOf(slot);
    return {
      slot,
      confirmations: reached === 'finalized' ? null : ledger.slot() - slot,
      err,
      status: statusOf(err),
      confirmationStatus: reached,
    };
  };

  return {
    sendTransaction: (params) => {
      const [wire, given] = parse(params, z.string(), sendConfig);
      const transaction = transactionOf(wire, given?.encoding ?? undefined);
      const preflightCommitment = given?.preflightCommitment ?? 'finalized';
      viewOf(chain, { commitment: preflightCommitment, minContextSlot: given?.minContextSlot });
      return chain.send(transaction, { skipPreflight: given?.skipPreflight === true, preflightCommitment });
    },
    simulateTransaction: (params) => {
      const [wire, given] = parse(params, z.string(), simulateConfig);
      const { slot, level } = viewOf(chain, given);
      return inContext(
        slot,
        simulate(chain, transactionOf(wire, given?.encoding ?? undefined), given, level),
      );
    },
    getFeeForMessage: (params) => {
      const [text, given] = parse(params, z.string(), config);
      const { slot, level } = viewOf(chain, given);
      const message = decode(bytesOf(text, 'base64'), decodeMessage);
      const valid = ledger.isBlockhashValid(message.blockhash, level);
      return inContext(slot, valid ? u64(feeOf(message)) : null);
    },
    getSignatureStatuses: (params) => {
      const options = z.object({ searchTransactionHistory: z.boolean().nullish() }).nullish();
      const [signatures, given] = parse(params, z.array(signature), options);
      if (signatures.length > MAX_STATUSES) {
        throw invalidParams(`Too many inputs provided; max ${MAX_STATUSES}`);
      }
      const oldest = given?.searchTransactionHistory ? 0 : ledger.slot() - STATUS_CACHE_SLOTS;
      const statuses = signatures.map((one) => {
        const included = history.get(one);
        return included && included.slot >= oldest ? statusJson(included) : null;
      });
      return inContext(ledger.slot(), statuses);
    },
    getTransaction: (params) => {
      const [name, given] = parse(params, signature, transactionOptions);
      const { slot } = historyViewOf(chain, given);
      const included = history.get(name);
      if (!included || included.slot > slot) return null;
      const maxVersion = given?.maxSupportedTransactionVersion ?? undefined;
      return encodeTransaction(chain.load(included), given?.encoding ?? 'json', maxVersion);
    },
    getSignaturesForAddress: (params) => {
      const [key, given] = parse(params, address, addressConfig);
      const { slot } = historyViewOf(chain, given);
      const found: unknown[] = [];
      const limit = given?.limit ?? MAX_SIGNATURES;
      const all = history.of(key.name);
      const before = given?.before ? all.findIndex((one) => one.signature === given.before) : all.length;
      for (let index = before - 1; index >= 0 && found.length < limit; index -= 1) {
        const one = all[index]!;
        if (one.signature === given?.until) break;
        if (one.slot > slot) continue;
        const { signature: name, err, memo, time } = one;
        const confirmationStatus = ledger.commitmentOf(one.slot);
        found.push({ signature: name, slot: one.slot, err, memo, blockTime: time, confirmationStatus });
      }
      return found;
    },
  };
};
