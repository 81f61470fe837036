import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Pool } from '../../../shared/db/pool.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { hashMessage, messageOf } from '../../../shared/lib/wire-transaction.ts';
import { keyOf, tokenAccountOf } from '../chain/addresses.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import type { Network } from '../ledger/model/network.ts';
import { isOutgoing } from '../ledger/store/messages.ts';
import { checkIncomingPolicy, type IncomingTerms, type IncomingTransfer } from './policy.ts';
import { refuse } from './refusal.ts';

/** A transaction of another client, and the transfers and memos that it must have. */
type PaymentInput = {
  /** Base64 of the wire bytes. */
  transaction: string;
  legs: readonly { owner: string; amount: string }[];
  memos: readonly string[] | null;
};
/** A transaction that does what its offer requires. */
export type SignedPayment = IncomingTransfer & {
  messageHash: string;
  legs: IncomingTerms['legs'];
  totalMicro: bigint;
};

type Deps = { pool: Pool; network: Network; tokenAccounts: Pick<TokenAccounts, 'getState'> };

/**
 * Whether a message is an outgoing payment of this deployment. Only one that names a delegate
 * authority can be, so that other payments cost no query.
 */
const isOwnPayment = async ({ pool, network }: Deps, message: Buffer): Promise<boolean> =>
  network.delegateAuthorities.some((authority) => message.includes(keyOf(authority).toBuffer())) &&
  (await isOutgoing(pool, hashMessage(message)));

/**
 * Reads a transaction of another client and checks it against the policy. Each leg goes to its
 * owner's existing token account, because our fee payer pays no rent for other clients.
 * @throws PaymentRefusal; ServiceError service_unavailable when the chain cannot be read
 */
const readSignedPayment = async (
  deps: Deps,
  { transaction, legs: input, memos }: PaymentInput,
): Promise<SignedPayment> => {
  const { network, tokenAccounts } = deps;
  const wire = Buffer.from(transaction, 'base64');
  const own = messageOf(transaction);
  const legs = input.map(({ owner, amount }) => ({
    destination: tokenAccountOf(owner, network.mint),
    amountMicro: parseMicro(amount),
  }));
  const transfer = checkIncomingPolicy(
    wire,
    { legs, memos },
    network,
    own !== null && (await isOwnPayment(deps, Buffer.from(own))),
  );
  const states = await readForCaller(Promise.all(input.map(({ owner }) => tokenAccounts.getState(owner))));
  if (states.some((state) => state !== 'ready'))
    refuse('recipient_mismatch', 'a payee has no token account; create it before it is paid');
  return {
    ...transfer,
    messageHash: hashMessage(transfer.message),
    legs,
    totalMicro: legs.reduce((sum, { amountMicro }) => sum + amountMicro, 0n),
  };
};

/** A payment that satisfied its terms this recently is signed without another check. */
const FRESH_MS = 3000;
const MAX_CACHED = 10_000;

/** All that the check depends on. The buyer's signature is a part of the transaction. */
const digestOf = ({ transaction, legs, memos }: PaymentInput): string =>
  createHash('sha256')
    .update(JSON.stringify([transaction, legs.map(({ owner, amount }) => [owner, amount]), memos]))
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
