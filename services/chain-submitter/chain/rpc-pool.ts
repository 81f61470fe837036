import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { SpanKind, trace } from '@opentelemetry/api';
import { z } from 'zod';
import { cached } from '../../../shared/lib/cached.ts';
import { record, secondsSince } from '../../../shared/lib/metrics.ts';
import { inSpan } from '../../../shared/lib/trace.ts';
import type { ChainError } from '../intents/model/failure.ts';
import { ErrorJson, type BalanceChanges, parseBalanceChanges, TransactionJson } from './balance-changes.ts';
import { createPost } from './http-post.ts';
import type { ChainAccount } from './model/token-account.ts';
import { FinalizedTransaction } from './model/transfers.ts';
import { createSlots } from './provider-slots.ts';

/**
 * JSON-RPC to the configured providers. A read is answered by the first provider that can; a send goes to all of
 * them; a proof asks each. Provider URLs may hold access keys, so errors and logs name them by number.
 */
export class RpcUnavailable extends Error {
  override name = 'RpcUnavailable';
}
/** A provider understood the call and refused it. */
export class RpcRefused extends Error {
  override name = 'RpcRefused';
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Another provider may answer; anything else is a fault of ours. */
const isTrouble = (error: unknown): boolean => error instanceof RpcUnavailable || error instanceof RpcRefused;

const ROUNDS = 3;
/** Once one has answered, the others are waited for no longer than this. */
const STRAGGLERS_MS = 250;
/** How long one may keep silent before the next is asked as well: a payment cannot wait for one that hangs. */
const SILENT_MS = 500;
const PAUSE_MS = 100;
const COMMITMENT = 'confirmed';
const MAX_STATUSES = 256;
/** The most that a provider lists of an address at once. */
const PAGE_SIGNATURES = 1000;
/** Over connections of their own: what is signed does not wait behind what a burst of new payments asks. */
const SOONER: ReadonlySet<string> = new Set(['sendTransaction', 'getSignatureStatuses']);

/** A refusal may have lost its id, as JSON-RPC 2.0 has it for what could not be read. */
const Reply = z.object({
  id: z.string().nullable(),
  error: z.object({ code: z.number(), message: z.string() }).nullish(),
  result: z.unknown().optional(),
});
const inContext = <T extends z.ZodType>(value: T) =>
  z.object({ context: z.object({ slot: z.number() }), value });
const AccountJson = z
  .object({ data: z.tuple([z.string(), z.literal('base64')]), owner: z.string(), executable: z.boolean() })
  .nullable();
const StatusJson = z
  .object({
    slot: z.number(),
    err: ErrorJson,
    confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']).nullable(),
  })
  .nullable();
// A schema is compiled at its first use, so that none may be made for a call.
const Height = z.number();
const Text = z.string();
const LatestBlockhashJson = inContext(z.object({ blockhash: z.string(), lastValidBlockHeight: z.number() }));
const AccountsJson = inContext(z.array(AccountJson));
const SimulationJson = inContext(z.object({ err: ErrorJson }));
const StatusesJson = inContext(z.array(StatusJson));
const SignaturesJson = z.array(
  z.object({ signature: z.string(), err: ErrorJson, blockTime: z.number().nullish() }),
);
const FinalizedJson = FinalizedTransaction.nullable();
const LamportsJson = inContext(z.number());

export type Blockhash = { blockhash: string; lastValidBlockHeight: number; slot: number };
/** A transaction that names an address. */
export type Listed = { signature: string; succeeded: boolean /** Epoch milliseconds. */; at: number | null };

/** Calls of one provider, each measured. All may throw RpcUnavailable or RpcRefused. */
const createCall = (url: string, number: number) => {
  const [post, postSooner] = [createPost(url), createPost(url)];
  const ask = async <T>(method: string, params: unknown[], schema: z.ZodType<T>): Promise<T> => {
    // Unlike a count it is no other process's either: behind a proxy that swaps answers, one of another call with
    // the same form would otherwise be believed.
    const id = randomUUID();
    const unavailable = (why: string) => new RpcUnavailable(`provider ${number}: ${method}: ${why}`);
    const send = SOONER.has(method) ? postSooner : post;
    const body = await send(JSON.stringify({ jsonrpc: '2.0', id, method, params })).catch((error: Error) => {
      // Never its message, which may hold the address.
      throw unavailable((error as NodeJS.ErrnoException).code ?? error.name);
    });
    const reply = Reply.safeParse(body);
    if (!reply.success) throw unavailable('not a JSON-RPC answer');
    const { error } = reply.data;
    if (reply.data.id !== id && !(error && reply.data.id === null))
      throw unavailable('the answer of another call');
    if (error) throw new RpcRefused(error.code, `provider ${number}: ${method}: ${error.message}`);
    const result = schema.safeParse(reply.data.result);
    if (!result.success) throw unavailable('an unknown form of answer');
    return result.data;
  };
  const measured = async <T>(method: string, params: unknown[], schema: z.ZodType<T>): Promise<T> => {
    const startedAt = performance.now();
    const measure = (error: 'none' | 'unavailable' | 'refused') =>
      record('quittance_rpc_call_duration_seconds', secondsSince(startedAt), {
        'rpc.method': method,
        provider: String(number),
        'error.type': error,
      });
    try {
      const answer = await ask(method, params, schema);
      measure('none');
      return answer;
    } catch (error) {
      measure(error instanceof RpcRefused ? 'refused' : 'unavailable');
      throw error;
    }
  };
  // A provider is its number here too. What looks after the chain for nobody's sake would be traces without an end.
  return <T>(method: string, params: unknown[], schema: z.ZodType<T>): Promise<T> => {
    const call = () => measured(method, params, schema);
    if (trace.getActiveSpan() === undefined) return call();
    const attributes = { 'rpc.system.name': 'jsonrpc', 'rpc.method': method, 'quittance.provider': number };
    return inSpan(method, { kind: SpanKind.CLIENT, attributes }, call);
  };
};

/** One provider. All calls may throw RpcUnavailable or RpcRefused. */
const createProvider = (url: string, number: number) => {
  const call = createCall(url, number);
  return {
    number,
    genesisHash: () => call('getGenesisHash', [], Text),
    blockHeight: (commitment: 'confirmed' | 'finalized') => call('getBlockHeight', [{ commitment }], Height),
    latestBlockhash: () => call('getLatestBlockhash', [{ commitment: COMMITMENT }], LatestBlockhashJson),
    accounts: (addresses: readonly string[], minContextSlot: number | undefined) =>
      call(
        'getMultipleAccounts',
        [addresses, { encoding: 'base64', commitment: COMMITMENT, minContextSlot }],
        AccountsJson,
      ),
    simulate: (wire: Uint8Array, minContextSlot: number | undefined) =>
      call(
        'simulateTransaction',
        [
          Buffer.from(wire).toString('base64'),
          { encoding: 'base64', sigVerify: false, commitment: COMMITMENT, minContextSlot },
        ],
        SimulationJson,
      ),
    send: (wire: Uint8Array) =>
      call(
        'sendTransaction',
        [Buffer.from(wire).toString('base64'), { encoding: 'base64', skipPreflight: true, maxRetries: 0 }],
        Text,
      ),
    /** @param history also look beyond the node's short memory */
    statuses: async (signatures: readonly string[], { history }: { history: boolean }) => {
      const parts: readonly string[][] = Array.from(
        { length: Math.ceil(signatures.length / MAX_STATUSES) },
        (_, part) => signatures.slice(part * MAX_STATUSES, (part + 1) * MAX_STATUSES),
      );
      const answers = await Promise.all(
        parts.map((part) =>
          call('getSignatureStatuses', [part, { searchTransactionHistory: history }], StatusesJson),
        ),
      );
      if (answers.some(({ value }, index) => value.length !== parts[index]!.length))
        throw new RpcUnavailable(`provider ${number}: getSignatureStatuses: an unknown form of answer`);
      return {
        slot: Math.min(...answers.map(({ context }) => context.slot)),
        statuses: answers.flatMap(({ value }) => value),
      };
    },
    /** One page of the transactions that name the address, newest first; empty at the end. */
    listSignatures: async (address: string, before: string | undefined): Promise<Listed[]> => {
      const options = { commitment: COMMITMENT, limit: PAGE_SIGNATURES, before };
      const found = await call('getSignaturesForAddress', [address, options], SignaturesJson);
      return found.map(({ signature, err, blockTime }) => ({
        signature,
        succeeded: err === null,
        at: typeof blockTime === 'number' ? blockTime * 1000 : null,
      }));
    },
    /** A finalized transaction with its instructions, null while this provider knows of none. */
    finalized: (signature: string): Promise<FinalizedTransaction | null> =>
      call(
        'getTransaction',
        [signature, { encoding: 'json', commitment: 'finalized', maxSupportedTransactionVersion: 0 }],
        FinalizedJson,
      ),
    /** A landed transaction's token balance changes, null while it is not at this commitment. */
    balances: async (
      signature: string,
      commitment: 'confirmed' | 'finalized',
    ): Promise<BalanceChanges | null> => {
      const options = { encoding: 'base64', commitment, maxSupportedTransactionVersion: 0 };
      const changes = await call('getTransaction', [signature, options], TransactionJson);
      if (changes === null) return null;
      const read = parseBalanceChanges(changes, signature);
      // A provider that mixes up its answers tells of another transaction here.
      if (read === null)
        throw new RpcUnavailable(`provider ${number}: getTransaction: not the transaction asked for`);
      return read;
    },
  };
};
export type Provider = ReturnType<typeof createProvider>;

/** Watchers ask often, and a balance that is this old tells them as much. */
const LAMPORTS_MAX_AGE_MS = 15_000;

/** An account's lamports from the first provider that answers, for the metrics. */
export const lamportsReader = (urls: readonly string[]): ((address: string) => Promise<number>) => {
  const calls = urls.map((url, index) => createCall(url, index + 1));
  const read = async (address: string): Promise<number> => {
    for (const call of calls) {
      const answer = await call('getBalance', [address, { commitment: COMMITMENT }], LamportsJson).catch(
        () => null,
      );
      if (answer !== null) return answer.value;
    }
    throw new RpcUnavailable('no provider tells the balance');
  };
  return cached(read, { maxAgeMs: LAMPORTS_MAX_AGE_MS });
};

/** All providers of the environment. */
export const createRpc = (urls: readonly string[]) =>
  rpcOver(urls.map((url, index) => createProvider(url, index + 1)));

/** @param pause waits between two rounds of asking, and for those that are silent or late; virtual in the simulation */
export const rpcOver = (
  providers: readonly Provider[],
  pause: (ms: number) => Promise<unknown> = (ms) => sleep(ms),
) => {
  const slots = createSlots(providers.length);

  /**
   * Takes note of the slot of an answer whose slot is kept by others.
   * @throws RpcUnavailable when it cannot be believed; the next provider's answer counts
   */
  const seePlausible = (provider: number, slot: number): void => {
    slots.see(provider, slot);
    const why = slots.implausible(provider, slot);
    if (why !== null) throw new RpcUnavailable(`provider ${provider}: slot ${slot}: ${why}`);
  };

  /** One round of asking: the next is asked once one has failed, or has kept silent for a moment. */
  const ask = <T>(read: (provider: Provider) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      let [asked, failed, answered] = [0, 0, false];
      const askNext = (): void => {
        asked += 1;
        const turn = asked;
        const goOn = () => {
          if (turn === asked && asked < providers.length && !answered) askNext();
        };
        read(providers[turn - 1]!).then(
          (answer) => {
            answered = true;
            resolve(answer);
          },
          (error: unknown) => {
            failed += 1;
            if (!isTrouble(error) || failed === providers.length) reject(error);
            else goOn();
          },
        );
        if (turn < providers.length) void pause(SILENT_MS).then(goOn, () => {});
      };
      askNext();
    });

  /** The first provider that answers, a few rounds. */
  const first = async <T>(read: (provider: Provider) => Promise<T>): Promise<T> => {
    let last: unknown;
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await pause(PAUSE_MS * round);
      try {
        return await ask(read);
      } catch (error) {
        if (!isTrouble(error)) throw error;
        last = error;
      }
    }
    throw new RpcUnavailable((last as Error).message);
  };

  /**
   * What the providers answer, of all that do so within a moment of the first: one that hangs costs no time. Nothing when
   * none does.
   */
  const soon = async <T>(read: (provider: Provider) => Promise<T>): Promise<T[]> => {
    const answers: T[] = [];
    const asked = providers.map(async (provider) => void answers.push(await read(provider)));
    await Promise.any(asked).catch(() => {});
    await Promise.race([Promise.allSettled(asked), pause(STRAGGLERS_MS)]);
    return [...answers];
  };

  /**
   * What another provider than this one knows: the first answer that is not null, null when nobody gives one.
   */
  const another = async <T>(
    than: number,
    read: (provider: Provider) => Promise<T | null>,
  ): Promise<{ provider: number; answer: T } | null> => {
    const asked = providers
      .filter(({ number }) => number !== than)
      .map(async (provider) => {
        const answer = await read(provider);
        if (answer === null) throw new RpcUnavailable(`provider ${provider.number}: it knows nothing yet`);
        return { provider: provider.number, answer };
      });
    return Promise.any(asked).catch((error: AggregateError) => {
      const fault = error.errors.find((one) => !isTrouble(one));
      if (fault !== undefined) throw fault;
      return null;
    });
  };

  return {
    providers,
    first,
    soon,
    another,
    /** Remembers the newest slot that a provider has reported. */
    see: slots.see,
    latestBlockhash: (): Promise<Blockhash> =>
      first(async (provider) => {
        const { context, value } = await provider.latestBlockhash();
        seePlausible(provider.number, context.slot);
        return { ...value, slot: context.slot };
      }),
    /** Accounts at confirmed commitment, not older than what was seen of the chain (or `notBefore`). */
    accounts: (
      addresses: readonly string[],
      { notBefore = 0 }: { notBefore?: number } = {},
    ): Promise<{ slot: number; accounts: (ChainAccount | null)[] }> =>
      first(async (provider) => {
        const fresh = Math.max(slots.fresh() ?? 0, notBefore);
        const { context, value } = await provider.accounts(addresses, fresh || undefined);
        seePlausible(provider.number, context.slot);
        return {
          slot: context.slot,
          accounts: value.map(
            (account) => account && { ...account, data: Buffer.from(account.data[0], 'base64') },
          ),
        };
      }),
    /** Null: it would succeed. Signatures are not looked at, so nothing signed has to be shown for it. */
    simulate: (wire: Uint8Array): Promise<ChainError | null> =>
      first(async (provider) => (await provider.simulate(wire, slots.fresh())).value.err),
    /** The same bytes to every provider; resolves when the first took them, never rejects. */
    broadcast: async (wire: Uint8Array): Promise<boolean> =>
      Promise.any(providers.map((provider) => provider.send(wire))).then(
        () => true,
        () => false,
      ),
  };
};
export type Rpc = ReturnType<typeof rpcOver>;
