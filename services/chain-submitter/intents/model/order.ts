/**
 * What an intent asks of the chain, with every address worked out. A settle's order is read from the verified
 * quote token each time it is needed, never from a stored or sent amount (rule 7).
 */
export type SettleOrder = {
  kind: 'settle';
  /** Of the job, as `acceptedAt` is: nothing but the payer's wallet and the quote is proven. */
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
  reference: string;
  /** Nothing under the reference is older, epoch milliseconds. */
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
};
/** A withdrawal or refund: out of the owner's own token account, by the owner's own signature. */
export type TransferOrder = {
  kind: 'withdrawal' | 'refund';
  accountId: string;
  owner: string;
  source: string;
  /** Whose token account the destination is, when the platform may create it; null for one that was named itself. */
  payee: string | null;
  destination: string;
  amountMicro: bigint;
  reference: string;
  since: number;
};
/** Orders that this service signs alone. */
export type OwnOrder = SettleOrder | FundOrder | CreateTokenAccountOrder;
/** Orders whose owner signs first: nothing of them can be signed anew. */
export type UserOrder = DelegationOrder | TransferOrder;
export type Order = OwnOrder | UserOrder;

/** Whether the owner has to sign, so that one generation is all there can be. */
export const isUserSigned = (order: Order): order is UserOrder =>
  order.kind === 'delegation' || order.kind === 'withdrawal' || order.kind === 'refund';
