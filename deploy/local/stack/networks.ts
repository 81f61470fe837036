/** What clients know of one of Solana's public networks. */
type Network = {
  /** The CAIP-2 id, by which x402 names the network: the start of its genesis hash. */
  caip2: string;
  /** Address of Circle's USDC. */
  usdcMint: string;
};

const DEVNET: Network = {
  caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  usdcMint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
};
const MAINNET: Network = {
  caip2: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  usdcMint: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
};

/**
 * The network that the local chain of an environment is called. Unmodified clients of x402 pay only
 * on networks, and with mints, that they know.
 */
export function networkOf(environment: string): Network {
  return environment === 'live' ? MAINNET : DEVNET;
}
