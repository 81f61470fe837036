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
export const readSignedPayment = async (
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
