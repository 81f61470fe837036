import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { Refusal } from '../lib/refusal.ts';

const POLL_EVERY_MS = 1000;
const REPORT_EVERY = 10;
const ANSWER_WITHIN_MS = 10_000;

const LatestBlockhash = z.object({ value: z.object({ lastValidBlockHeight: z.int() }) });
const BlockHeight = z.int();
const Slot = z.int();

/** Payments of one getSignatureStatuses call. */
const MAX_STATUSES = 256;
const Statuses = z.object({ value: z.array(z.object({ err: z.unknown() }).nullable()) });

/**
 * The block heights of one provider. chain-submitter's client is not used, because a restore runs
 * without any service and asks each provider alone.
 * @param number names the provider in errors, because its URL may hold an access key
 */
const createProvider = (url: string, number: number) => {
  const call = async <T>(method: string, options: string | unknown[], schema: z.ZodType<T>): Promise<T> => {
    const params = typeof options === 'string' ? [{ commitment: options }] : options;
    const unavailable = (reason: string) => new Error(`provider ${number}: ${method}: ${reason}`);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
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
    slot: () => call('getSlot', 'confirmed', Slot),
    /** Which of these transactions it has not, or as failed ones. */
    missing: async (signatures: readonly string[]): Promise<string[]> => {
      const options = { searchTransactionHistory: true };
      const { value } = await call('getSignatureStatuses', [signatures, options], Statuses);
      return signatures.filter((_, index) => value[index] == null || value[index].err !== null);
    },
  };
};

/**
 * The providers of a setting, none of an empty one. An empty place between commas stays, so that it
 * fails as a provider that does not answer.
 */
export const rpcUrlsIn = (setting: string): string[] =>
  setting.trim() === '' ? [] : setting.split(',').map((url) => url.trim());

/**
 * Waits until no transaction that was signed before this call can be included. chain-submitter must
 * be stopped. A restored database may lack transactions that chain-submitter had sent. Only this
 * wait proves that they have expired: by block height on every provider, not by a clock
 * (docs/design/settle.md, rule 11).
 * @throws Refusal without a provider, because nothing would be proven
 */
export const startWaiting = async (urls: readonly string[]) => {
  if (urls.length === 0) throw new Refusal('SOLANA_RPC_URLS names no provider: set it');
  const providers = urls.map((url, index) => createProvider(url, index + 1));
  // The highest of all, because a provider may lag behind the one that gave chain-submitter its
  // last blockhash.
  const after = Math.max(
    ...(await Promise.all(providers.map((provider) => provider.lastValidBlockHeight()))),
  );
  return {
    after,
    /** The newest slot of all providers. */
    newestSlot: async (): Promise<number> =>
      Math.max(...(await Promise.all(providers.map((provider) => provider.slot())))),
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

/**
 * Which of these transactions no provider has as successful ones.
 * @param signatures at most 256
 * @throws Error if no provider answers
 */
export const findMissing = async (
  urls: readonly string[],
  signatures: readonly string[],
): Promise<string[]> => {
  if (signatures.length > MAX_STATUSES) throw new RangeError(`at most ${MAX_STATUSES} transactions`);
  const answers = await Promise.allSettled(
    urls.map((url, index) => createProvider(url, index + 1).missing(signatures)),
  );
  const lists = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [new Set(answer.value)] : []));
  if (lists.length === 0) throw (answers[0] as PromiseRejectedResult).reason;
  return signatures.filter((signature) => lists.every((list) => list.has(signature)));
};
