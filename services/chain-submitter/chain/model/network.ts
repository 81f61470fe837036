/** The addresses of this deployment that orders are built and checked with. */
export type Network = {
  mint: string;
  /** Pays for whatever is built. */
  feePayer: string;
  /** That one, and those that paid before it or will pay after it. */
  feePayers: readonly string[];
  /** Newest first. */
  delegateAuthorities: readonly string[];
  fundingAuthority: string | null;
  feeWallet: string;
  feeAccount: string;
  computeBudget: { units: number; microLamports: bigint } | null;
};

/** Everything that is the platform's: nobody's wallet, nobody's payee. */
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
