/**
 * Links to a block explorer. A network is named as in CAIP-2: `solana:` and the first 32 characters
 * of its genesis hash.
 */

const CLUSTERS: Record<string, string> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': '',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': '?cluster=devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': '?cluster=testnet',
};

/**
 * The page of a transaction. Null for a network that the explorer does not know, like a local one.
 * @param txHash its signature, base58
 */
export const explorerUrl = (network: string, txHash: string): string | null => {
  const cluster = CLUSTERS[network];
  return cluster === undefined
    ? null
    : `https://explorer.solana.com/tx/${encodeURIComponent(txHash)}${cluster}`;
};
