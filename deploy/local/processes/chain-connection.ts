import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@solana/web3.js';

/** Longer than the local chain of a busy machine takes. */
const ANSWERED_MS = 20_000;

/**
 * A fetch that reads the whole answer, and fails with an error of this realm when that is not there
 * after so many milliseconds. A call of web3.js never ends when its fetch fails with an error that
 * is no `instanceof Error`, and under Jest those of Node's own fetch are none. The reading of a
 * body that is aborted may never end either (nodejs/node#56917), so a second timer ends the wait.
 */
export const fetchWithin = (ms: number): typeof fetch => {
  const answerTo: typeof fetch = async (input, init) => {
    const response = await fetch(input, { ...init, signal: AbortSignal.timeout(ms) });
    return new Response(await response.text(), response);
  };
  return async (input, init) => {
    try {
      const answer = await Promise.race([answerTo(input, init), sleep(ms, null, { ref: false })]);
      if (answer !== null) return answer;
    } catch (cause) {
      throw new Error(`the chain did not answer: ${(cause as Error).message}`, { cause });
    }
    throw new Error(`the chain did not answer within ${ms} ms`);
  };
};

/**
 * A web3.js client at commitment confirmed. A provider that accepts a call and never answers fails
 * it after 20 s: by itself web3.js waits for minutes.
 */
export const connectTo = (rpcUrl: string): Connection =>
  new Connection(rpcUrl, {
    commitment: 'confirmed',
    disableRetryOnRateLimit: true,
    fetch: fetchWithin(ANSWERED_MS),
  });
