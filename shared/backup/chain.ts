import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const POLL_EVERY_MS = 1000;
const REPORT_EVERY = 10;
const ANSWER_WITHIN_MS = 10_000;

const LatestBlockhash = z.object({ value: z.object({ lastValidBlockHeight: z.int() }) });
const BlockHeight = z.int();

/**
 * The block heights of one provider. chain-submitter's client is not used, because a restore runs
 * without any service and asks each provider alone.
 * @param number names the provider in errors, because its URL may hold an access key
 */
const createProvider = (url: string, number: number) => {
  const call = async <T>(method: string, commitment: string, schema: z.ZodType<T>): Promise<T> => {
    const unavailable = (reason: string) => new Error(`provider ${number}: ${method}: ${reason}`);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [{ commitment }] }),
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).catch((error: Error) => {
      throw unavailable((error.cause as NodeJS.ErrnoException | undefined)?.code ?? error.name);
    });
    const body = (await response.json().catch(() => null)) as { result?: unknown } | null;
    const result = schema.safeParse(body?.result);
    if (!result.success) throw unavailable(`HTTP ${response.status} without a usable answer`);
    return result.data;
  };
  return {
    /** The last block that may have a transaction with the newest blockhash. */
    lastValidBlockHeight: async () =>
      (await call('getLatestBlockhash', 'confirmed', LatestBlockhash)).value.lastValidBlockHeight,
    finalizedHeight: () => call('getBlockHeight', 'finalized', BlockHeight),
  };
};

/**
 * Waits until no transaction that was signed before this call can be included. chain-submitter must
 * be stopped. A restored database may lack transactions that chain-submitter had sent. Only this
 * wait proves that they have expired: by block height on every provider, not by a clock
 * (docs/design/settle.md, rule 11).
 */
export const startWaiting = async (urls: readonly string[]) => {
  const providers = urls.map((url, index) => createProvider(url, index + 1));
  // The highest of all, because a provider may lag behind the one that gave chain-submitter its
  // last blockhash.
  const after = Math.max(
    ...(await Promise.all(providers.map((provider) => provider.lastValidBlockHeight()))),
  );
  return {
    after,
    /** Resolves with the lowest finalized height. If a provider is unavailable, it waits. */
    isOver: async (progress: (text: string) => void): Promise<number> => {
      for (let polls = 0; ; polls++) {
        if (polls > 0) await sleep(POLL_EVERY_MS);
        const report = polls % REPORT_EVERY === 0 ? progress : () => {};
        try {
          const lowest = Math.min(
            ...(await Promise.all(providers.map((provider) => provider.finalizedHeight()))),
          );
          if (lowest > after) return lowest;
          report(`block ${lowest} of ${after + 1} is final everywhere`);
        } catch (error) {
          report(`waiting for the chain: ${(error as Error).message}`);
        }
      }
    },
  };
};
