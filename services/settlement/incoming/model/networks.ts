/** The program of USDC. */
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';

/** The names that other protocols have for the networks of Solana, by their CAIP-2 ids. */
const NETWORKS: Readonly<Record<string, { v1: string; mpp: 'mainnet-beta' | 'devnet' }>> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': { v1: 'solana', mpp: 'mainnet-beta' },
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': { v1: 'solana-devnet', mpp: 'devnet' },
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': { v1: 'solana-testnet', mpp: 'devnet' },
};

/** The name of a network in version 1 of x402; null: version 1 has none. */
export const v1NetworkOf = (network: string): string | null => NETWORKS[network]?.v1 ?? null;

/** The name of a network in MPP. Every network but mainnet is devnet there. */
export const mppNetworkOf = (network: string) => NETWORKS[network]?.mpp ?? 'devnet';
