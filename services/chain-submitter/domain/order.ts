/**
 * What an intent asks of the chain, with every address worked out. A settle's order is read from the verified
 * quote token each time it is needed, never from a stored or sent amount (rule 7).
 */
export type SettleOrder = {
  kind: 'settle';
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
  signBefore: number;
};
export type CreateTokenAccountOrder = {
  kind: 'createTokenAccount';
  accountId: string;
  owner: string;
  tokenAccount: string;
  signBefore: number;
};
/** Signed by the wallet's owner, so nothing of it can be signed anew. */
export type DelegationOrder = {
  kind: 'delegation';
  accountId: string;
  owner: string;
  tokenAccount: string;
  authority: string;
  /** Null: the delegation is revoked. */
  allowanceMicro: bigint | null;
};
/** Orders that this service signs alone. */
export type OwnOrder = SettleOrder | FundOrder | CreateTokenAccountOrder;
export type Order = OwnOrder | DelegationOrder;

/** The addresses of this deployment that orders are built and checked with. */
export type Network = {
  mint: string;
  feePayer: string;
  /** Newest first. */
  delegateAuthorities: readonly string[];
  fundingAuthority: string | null;
  feeWallet: string;
  feeAccount: string;
  computeBudget: { units: number; microLamports: bigint } | null;
};
