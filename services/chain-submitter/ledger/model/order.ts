/**
 * What an intent is to do on the chain, with every address derived. A settle's order is parsed from
 * the verified quote token each time it is needed, never from a stored or sent amount (rule 7).
 */
export type SettleOrder = {
  kind: 'settle';
  /** From the job, as `acceptedAt` is. Only the payer's wallet and the quote are verified. */
  accountId: string;
  /** Epoch milliseconds. */
  acceptedAt: number;
  quoteId: string;
  vendorAccountId: string;
  payout: string;
  payoutAccount: string;
  payer: string;
  source: string;
  authority: string;
  grossMicro: bigint;
  feeMicro: bigint;
  /** The payee is the fee wallet: an account pays its accrued fees (docs/adr/0043). */
  paysFees: boolean;
  reference: string;
  /** No transaction under the reference is older, epoch milliseconds. */
  since: number;
  /** No bytes are signed after this moment, epoch milliseconds. */
  signBefore: number;
};
export type FundOrder = {
  kind: 'fund';
  accountId: string;
  owner: string;
  destination: string;
  amountMicro: bigint;
  reference: string;
  since: number;
  signBefore: number;
};
export type CreateTokenAccountOrder = {
  kind: 'createTokenAccount';
  accountId: string;
  owner: string;
  tokenAccount: string;
  /** The transaction is not older, epoch milliseconds. */
  since: number;
  signBefore: number;
};
export type DelegationOrder = {
  kind: 'delegation';
  accountId: string;
  owner: string;
  tokenAccount: string;
  authority: string;
  /** Null: the delegation is revoked. */
  allowanceMicro: bigint | null;
  /** The transaction is not older, epoch milliseconds. */
  since: number;
};
/** A withdrawal or refund, from the owner's token account and with the owner's signature. */
export type TransferOrder = {
  kind: 'withdrawal' | 'refund';
  accountId: string;
  owner: string;
  source: string;
  /**
   * The owner of the destination, if the platform may create its token account; null for a token
   * account that is named directly.
   */
  payee: string | null;
  destination: string;
  amountMicro: bigint;
  reference: string;
  since: number;
};
/** A payment that a client of x402 or MPP has built and signed, and the platform co-signs. */
export type IncomingOrder = {
  kind: 'incoming';
  /** The vendor. Its budget pays for the transaction. */
  accountId: string;
  /** The owner or delegate that signed for the source. */
  authority: string;
  source: string;
  /** Transfers to token accounts. */
  legs: readonly { destination: string; amountMicro: bigint }[];
  /**
   * Whether the bytes do not show the transfers. That it was included then proves nothing about
   * the balances, so they are read before it counts as confirmed.
   */
  byOutcome: boolean;
  /** The transaction is not older, epoch milliseconds. */
  since: number;
};
/**
 * A payment to a vendor that does not use Quittance. The platform signs as the delegate, and the
 * vendor's fee payer signs and sends.
 */
export type OutgoingOrder = {
  kind: 'outgoing';
  accountId: string;
  source: string;
  /** Transfers to token accounts. x402 has one. */
  legs: readonly { destination: string; amountMicro: bigint }[];
  /** The transaction is not older, epoch milliseconds. */
  since: number;
};

/** Orders that the platform signs alone. */
export type OwnOrder = SettleOrder | FundOrder | CreateTokenAccountOrder;
/** Orders whose owner signs first. They cannot be signed again, so they have one generation. */
export type UserOrder = DelegationOrder | TransferOrder;
/** Orders whose transaction this service builds. */
export type BuiltOrder = OwnOrder | UserOrder;
export type Order = BuiltOrder | IncomingOrder | OutgoingOrder;

/**
 * The address under which every transaction of an order is listed. Transfers of other protocols
 * have no reference, so their source is searched, and so is a token account that is created or
 * whose delegation changes. Null: the order cannot be read.
 */
export const searchOf = (order: Order | null): { reference: string; since: number } | null => {
  if (order === null) return null;
  if (order.kind === 'incoming' || order.kind === 'outgoing')
    return { reference: order.source, since: order.since };
  return 'reference' in order ? order : { reference: order.tokenAccount, since: order.since };
};

/** Whether somebody else has signed the message, so that it has one generation. */
export const isSignedOnce = (order: Exclude<Order, OutgoingOrder>): order is UserOrder | IncomingOrder =>
  order.kind === 'incoming' || isUserSigned(order);

/** Whether the owner has to sign. */
export const isUserSigned = (order: Order): order is UserOrder =>
  order.kind === 'delegation' || order.kind === 'withdrawal' || order.kind === 'refund';
