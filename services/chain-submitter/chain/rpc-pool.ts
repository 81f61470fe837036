import { setTimeout as sleep } from 'node:timers/promises';
import { cached } from '../../../shared/lib/cached.ts';
import type { ChainError } from '../ledger/model/chain-error.ts';
import type { ChainAccount } from '../ledger/model/token-account.ts';
import { createFinalizedBlocks } from './finalized-blocks.ts';
import { createCall, isProviderError, RpcUnavailable } from './json-rpc.ts';
import { createProvider, type Provider } from './provider.ts';
import { createProviderSlots } from './provider-slots.ts';
import { Lamports } from './schemas.ts';
import type { SimulatedOutcome } from './simulated-outcome.ts';

/**
 * JSON-RPC to the configured providers. A read is answered by the first provider that can answer, a
 * transaction is sent to all of them, and a proof queries each.
 */

const ROUNDS = 3;
/** The other providers have this long after the first answer. */
const STRAGGLERS_MS = 250;
/**
 * When a provider has not answered for this time, the next is queried as well, because a payment
 * cannot wait for one that hangs.
 */
const SILENCE_MS = 500;
const PAUSE_MS = 100;
/**
 * A balance for the metrics may be this old, so that frequent scrapes do not become frequent RPC
 * calls.
 */
const LAMPORTS_MAX_AGE_MS = 15_000;

type Read<T> = (provider: Provider) => Promise<T>;
/** Waits. The simulation of the tests passes its virtual time. */
export type Pause = (ms: number) => Promise<unknown>;

/** A blockhash, and the last block in which bytes with it may be included. */
export type Blockhash = { blockhash: string; lastValidBlockHeight: number; slot: number };

/** Reads an account's lamports for the metrics, from the first provider that answers. */
export const createLamportsReader = (urls: readonly string[]): ((address: string) => Promise<number>) => {
  const calls = urls.map((url, index) => createCall(url, index + 1));
  const read = async (address: string): Promise<number> => {
    for (const call of calls) {
      const answer = await call('getBalance', [address, { commitment: 'confirmed' }], Lamports).catch(
        () => null,
      );
      if (answer !== null) return answer.value;
    }
    throw new RpcUnavailable('no provider returns the balance');
  };
  return cached(read, { maxAgeMs: LAMPORTS_MAX_AGE_MS });
};

/**
 * One round over the providers: the next is queried when one has failed or has not answered in
 * time.
 */
const queryInTurn = <T>(providers: readonly Provider[], read: Read<T>, pause: Pause): Promise<T> =>
  new Promise((resolve, reject) => {
    let [queried, failed, answered] = [0, 0, false];
    const queryNext = (): void => {
      queried += 1;
      const turn = queried;
      const continueAfter = () => {
        if (turn === queried && queried < providers.length && !answered) queryNext();
      };
      read(providers[turn - 1]!).then(
        (answer) => {
          answered = true;
          resolve(answer);
        },
        (error: unknown) => {
          failed += 1;
          if (!isProviderError(error) || failed === providers.length) reject(error);
          else continueAfter();
        },
      );
      if (turn < providers.length) void pause(SILENCE_MS).then(continueAfter, () => {});
    };
    queryNext();
  });

/** The ways to query several providers. */
const createQueries = (providers: readonly Provider[], pause: Pause) => ({
  /** The first answer of any provider, in a few rounds. @throws RpcUnavailable */
  first: async <T>(read: Read<T>): Promise<T> => {
    let last: unknown;
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await pause(PAUSE_MS * round);
      try {
        return await queryInTurn(providers, read, pause);
      } catch (error) {
        if (!isProviderError(error)) throw error;
        last = error;
      }
    }
    throw new RpcUnavailable((last as Error).message);
  },

  /**
   * The answers that arrive within a moment of the first one, so that a provider that hangs costs
   * no time. The list is empty when no provider answers.
   */
  soon: async <T>(read: Read<T>): Promise<T[]> => {
    const answers: T[] = [];
    const queries = providers.map(async (provider) => void answers.push(await read(provider)));
    await Promise.any(queries).catch(() => {});
    await Promise.race([Promise.allSettled(queries), pause(STRAGGLERS_MS)]);
    return [...answers];
  },

  /**
   * The answer of every provider, in a few rounds.
   * @throws RpcUnavailable when one does not answer
   */
  every: <T>(read: Read<T>): Promise<T[]> =>
    Promise.all(
      providers.map(async (provider) => {
        for (let round = 1; ; round++) {
          try {
            return await read(provider);
          } catch (error) {
            if (!isProviderError(error)) throw error;
            if (round === ROUNDS) throw new RpcUnavailable((error as Error).message);
            await pause(PAUSE_MS * round);
          }
        }
      }),
    ),

  /** The first non-null answer of another provider than this one; null when there is none. */
  another: async <T>(than: number, read: Read<T | null>): Promise<{ provider: number; answer: T } | null> => {
    const queries = providers
      .filter(({ number }) => number !== than)
      .map(async (provider) => {
        const answer = await read(provider);
        if (answer === null) throw new RpcUnavailable(`provider ${provider.number}: it has no answer yet`);
        return { provider: provider.number, answer };
      });
    return Promise.any(queries).catch((error: AggregateError) => {
      const bug = error.errors.find((each) => !isProviderError(each));
      if (bug !== undefined) throw bug;
      return null;
    });
  },
});

/**
 * A recent blockhash of the first provider by its place. Its last block is the highest that any
 * provider names for its own newest one, because a number that is too low would end a payment too
 * early.
 * @param recordPlausible throws for a slot that must not be stored
 */
const readLatestBlockhash = async (
  { first, soon }: Pick<ReturnType<typeof createQueries>, 'first' | 'soon'>,
  recordPlausible: (provider: number, slot: number) => void,
  commitment: 'confirmed' | 'finalized',
): Promise<Blockhash> => {
  const named: number[] = [];
  const read = async (provider: Provider) => {
    const { context, value } = await provider.latestBlockhash(commitment);
    named.push(value.lastValidBlockHeight);
    recordPlausible(provider.number, context.slot);
    return { place: provider.number, blockhash: value.blockhash, slot: context.slot };
  };
  const answers = (await soon(read)).toSorted((a, b) => a.place - b.place);
  const { blockhash, slot } = answers[0] ?? (await first(read));
  return { blockhash, slot, lastValidBlockHeight: Math.max(...named) };
};

/**
 * @param pause waits between two rounds, and for providers that are silent or late. The simulation
 *   passes its virtual time.
 */
export const createRpcPool = (providers: readonly Provider[], pause: Pause = (ms) => sleep(ms)) => {
  const slots = createProviderSlots(providers.length);
  const { first, soon, every, another } = createQueries(providers, pause);

  /**
   * Records the slot of an answer whose slot callers store.
   * @throws RpcUnavailable when the slot is implausible, so that the next provider's answer counts
   */
  const recordPlausible = (provider: number, slot: number): void => {
    slots.record(provider, slot);
    const reason = slots.findImplausibility(provider, slot);
    if (reason !== null) throw new RpcUnavailable(`provider ${provider}: slot ${slot}: ${reason}`);
  };

  /** As `simulate`, with the slot whose state it used. */
  const simulateAt = (wire: Uint8Array): Promise<{ slot: number; error: ChainError | null }> =>
    first(async (provider) => {
      const { context, value } = await provider.simulate(wire, slots.fresh());
      return { slot: context.slot, error: value.err };
    });

  return {
    providers,
    first,
    soon,
    every,
    another,
    /** The newest slot that each provider has reported. */
    recordSlot: slots.record,
    reportSlots: slots.report,
    readFinalizedBlocks: createFinalizedBlocks(providers[0]!),
    latestBlockhash: (commitment: 'confirmed' | 'finalized' = 'confirmed'): Promise<Blockhash> =>
      readLatestBlockhash({ first, soon }, recordPlausible, commitment),
    /** @throws RpcUnavailable, RpcRefused */
    recentFees: (accounts: readonly string[]) => first((provider) => provider.recentFees(accounts)),
    /** Accounts at confirmed commitment, not older than the newest slot seen (or `notBefore`). */
    accounts: (
      addresses: readonly string[],
      { notBefore = 0 }: { notBefore?: number } = {},
    ): Promise<{ slot: number; accounts: (ChainAccount | null)[] }> =>
      first(async (provider) => {
        const fresh = Math.max(slots.fresh() ?? 0, notBefore);
        const { context, value } = await provider.accounts(addresses, fresh || undefined);
        recordPlausible(provider.number, context.slot);
        return {
          slot: context.slot,
          accounts: value.map(
            (account) => account && { ...account, data: Buffer.from(account.data[0], 'base64') },
          ),
        };
      }),
    /**
     * Null when the transaction would succeed. Signatures are not verified, so the bytes stay
     * unsigned.
     */
    simulate: async (wire: Uint8Array): Promise<ChainError | null> => (await simulateAt(wire)).error,
    simulateAt,
    /** What a transaction would change, as each provider says. @throws RpcUnavailable */
    simulateEverywhere: (wire: Uint8Array, accounts: readonly string[]): Promise<SimulatedOutcome[]> =>
      every((provider) => provider.simulateOutcome(wire, accounts, slots.fresh())),
    /**
     * Sends the same bytes to every provider. Resolves when the first accepts them; never rejects.
     */
    broadcast: async (wire: Uint8Array): Promise<boolean> =>
      Promise.any(providers.map((provider) => provider.send(wire))).then(
        () => true,
        () => false,
      ),
  };
};
export type RpcPool = ReturnType<typeof createRpcPool>;

/** The pool over all configured providers. */
export const openRpcPool = (urls: readonly string[]): RpcPool =>
  createRpcPool(urls.map((url, index) => createProvider(url, index + 1)));
