import { Connection } from '@solana/web3.js';

/** Longer than the local chain of a busy machine takes. */
const ANSWERED_MS = 20_000;

/**
 * A web3.js client at commitment confirmed. A provider that accepts a call and never answers fails
 * it after 20 s: by itself web3.js waits without an end.
 */
export const connectTo = (rpcUrl: string): Connection =>
  new Connection(rpcUrl, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(ANSWERED_MS) }),
  });
