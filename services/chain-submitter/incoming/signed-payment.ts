import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { parseKnown } from '../../../shared/contract/read.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { hashMessage, messageOf } from '../../../shared/lib/chain/wire-transaction.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { keyOf, tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { incomingIntentId } from '../ledger/intent-id.ts';
import type { Network } from '../ledger/model/network.ts';
import { findIntent } from '../ledger/store/intents.ts';
import { isOutgoing as isOutgoingMessage } from '../ledger/store/messages.ts';
import { NO_TABLES, readEnvelope } from '../transactions/message.ts';
import { IncomingRequest } from '../transactions/parse-order.ts';
import { type Decoded, decodeIncoming } from './envelope.ts';
import type { IncomingTables } from './lookup-tables.ts';
import type { Outcomes } from './outcomes.ts';
import {
  type AllowedPrograms,
  checkIncomingPolicy,
  type IncomingTerms,
  type IncomingTransfer,
} from './policy.ts';
import { refuse } from './refusal.ts';
import { checkWalletBytes, isOfSmartWallet, type WalletPayment } from './wallet-policy.ts';

/** A transaction of another client, and the transfers and memos that it must have. */
type PaymentInput = {
  /** Base64 of the wire bytes. */
  transaction: string;
  legs: readonly { owner: string; amount: string }[];
  memos: readonly string[] | null;
  /** The buyer signs after our fee payer. */
  signs_last?: true | undefined;
};
/** A transaction that does what its offer requires. */
export type SignedPayment = IncomingTransfer & {
  messageHash: string;
  legs: IncomingTerms['legs'];
  totalMicro: bigint;
  /** Whether it was judged by what it changes, because its bytes do not show the transfers. */
  byOutcome: boolean;
};

type Deps = {
  pool: Pool;
  network: Network;
  tokenAccounts: Pick<TokenAccounts, 'getState'>;
  lookupTables: Pick<IncomingTables, 'resolve'>;
  outcomes: Pick<Outcomes, 'judge'>;
  /** Ids of the wallet programs that payments may use. */
  programs: AllowedPrograms;
};

/**
 * Whether a message is an outgoing payment of this deployment. Only one that names a delegate
 * authority can be, so that other payments cost no query.
 */
const isOwnPayment = async (
  { pool, network }: Pick<Deps, 'pool' | 'network'>,
  message: Buffer,
): Promise<boolean> =>
  network.delegateAuthorities.some((authority) => message.includes(keyOf(authority).toBuffer())) &&
  (await isOutgoingMessage(pool, hashMessage(message)));

/** The accounts of a transaction. Only one with lookup tables costs a call. */
const decode = async ({ lookupTables }: Deps, transaction: string): Promise<Decoded> => {
  const wire = Buffer.from(transaction, 'base64');
  const tables = tablesIn(transaction);
  return decodeIncoming(wire, tables.size === 0 ? NO_TABLES : await lookupTables.resolve(tables));
};

/** The lookup tables that a transaction names. Bytes that do not decode are refused later. */
const tablesIn = (transaction: string): Map<string, number> => {
  const message = messageOf(transaction);
  try {
    return message === null ? new Map() : readEnvelope(message).tables;
  } catch {
    return new Map();
  }
};

/**
 * The transfer of a smart wallet. One that was signed is not simulated again: the payment itself
 * may have used the balance.
 */
const readWalletTransfer = async (
  { pool, outcomes }: Deps,
  payment: WalletPayment,
  order: IncomingTerms,
): Promise<IncomingTransfer> => {
  const intent = await findIntent(pool, incomingIntentId(hashMessage(payment.message)));
  if (intent === null || intent.signature === null) return outcomes.judge(payment, order);
  const { source_account: source, authority } = parseKnown(IncomingRequest, intent.request);
  return { ...payment, source, authority };
};

/**
 * Reads a transaction of another client and checks it against the policy. Each leg goes to its
 * owner's existing token account, because our fee payer pays no rent for other clients.
 * @throws PaymentRefusal; ServiceError service_unavailable when the chain cannot be read
 */
const readSignedPayment = async (
  deps: Deps,
  { transaction, legs: input, memos, signs_last }: PaymentInput,
): Promise<SignedPayment> => {
  const { network, tokenAccounts, programs } = deps;
  const legs = input.map(({ owner, amount }) => ({
    destination: tokenAccountOf(owner, network.mint),
    amountMicro: parseMicro(amount),
  }));
  const order = { legs, memos };
  const decoded = await decode(deps, transaction);
  const ofWallet = isOfSmartWallet(decoded.plain, programs)
    ? checkWalletBytes(decoded, order, { network, programs })
    : null;
  const isOutgoing = ofWallet === null && (await isOwnPayment(deps, Buffer.from(decoded.message)));
  const ofBytes =
    ofWallet === null
      ? checkIncomingPolicy(decoded, order, { network, isOutgoing, programs, signsLast: signs_last === true })
      : null;
  const states = await readForCaller(Promise.all(input.map(({ owner }) => tokenAccounts.getState(owner))));
  if (states.some((state) => state !== 'ready'))
    refuse(
      'payee_not_ready',
      'the account that receives the payment does not exist yet; try again in some seconds',
    );
  const transfer = ofBytes ?? (await readWalletTransfer(deps, ofWallet!, order));
  return {
    ...transfer,
    messageHash: hashMessage(transfer.message),
    legs,
    totalMicro: legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n),
    byOutcome: ofWallet !== null,
  };
};

/** A payment that satisfied its terms this recently is signed without another check. */
const FRESH_MS = 3000;
const MAX_CACHED = 10_000;

/** All that the check depends on. The buyer's signature is a part of the transaction. */
const digestOf = ({ transaction, legs, memos, signs_last }: PaymentInput): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        transaction,
        legs.map(({ owner, amount }) => [owner, amount]),
        memos,
        signs_last === true,
      ]),
    )
    .digest('base64');

/**
 * Reads payments as `readSignedPayment` does, each once in a few seconds: a payment is checked
 * before it is accepted, and again before it is signed. This process trusts its own memory and no
 * other.
 */
export const createSignedPayments = (deps: Deps, { maxCached = MAX_CACHED }: { maxCached?: number } = {}) => {
  // A resolution would set timers, which do not run on the simulation's virtual time.
  const read = new LRUCache<string, SignedPayment>({ max: maxCached, ttl: FRESH_MS, ttlResolution: 0 });
  return {
    read: async (input: PaymentInput): Promise<SignedPayment> => {
      const digest = digestOf(input);
      const known = read.get(digest);
      if (known !== undefined) return known;
      const payment = await readSignedPayment(deps, input);
      read.set(digest, payment);
      return payment;
    },
  };
};
export type SignedPayments = ReturnType<typeof createSignedPayments>;
