/** The addresses of this deployment that orders are built with and checked against. */
export type Network = {
  mint: string;
  /** Pays for the transactions that are built now. */
  feePayer: string;
  /** The first of `feePayers`: they pay for settles, test funds and token accounts, by lane. */
  payingFeePayers: readonly string[];
  /** The current fee payers, and former and future ones. */
  feePayers: readonly string[];
  /** Newest first. */
  delegateAuthorities: readonly string[];
  fundingAuthority: string | null;
  feeWallet: string;
  feeAccount: string;
  /**
   * Of settles; null: they have no compute budget instructions. `microLamports` is the price of a
   * unit, and the highest one where the price follows recent fees.
   */
  computeBudget: { units: number; microLamports: bigint; follows: boolean } | null;
};

/**
 * The network as the transactions of a lane see it. Every transaction changes its fee payer,
 * and the chain includes a bounded number of changes of one account in a block, so the lanes have
 * different ones.
 */
export const networkOfLane = (network: Network, lane: number): Network => {
  const { payingFeePayers: paying } = network;
  return { ...network, feePayer: paying[lane % paying.length]! };
};

/** All addresses of the platform. None of them may be a user's wallet or a payee. */
export const platformAddresses = (network: Network): string[] => {
  const { feePayers, feeWallet, feeAccount, fundingAuthority, delegateAuthorities } = network;
  return [
    ...feePayers,
    feeWallet,
    feeAccount,
    ...(fundingAuthority === null ? [] : [fundingAuthority]),
    ...delegateAuthorities,
  ];
};
