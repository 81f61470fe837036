import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLiar, type Lie } from './lies.ts';

/**
 * A second provider of the same chain: `http://127.0.0.1:<port>/<the chain's url>`. It lags by a
 * number of slots and refuses requests for newer state, as a real node does. Or it has no history
 * beyond a few slots. Or it lies (lies.ts). Or it denies every transaction and blockhash, as of a
 * block that is far ahead.
 */
export type SecondProvider = Awaited<ReturnType<typeof startSecondProvider>>;

type Mode = 'honest' | { lagSlots: number } | 'forgets' | 'denies' | { lies: Lie; tooLowBy?: number };
type Call = { id: unknown; method: string; params?: unknown[] };
type Known = { slot: number } | null;

const REMEMBERED_SLOTS = 3;
/** A provider that invents outcomes answers for any slot and any commitment. */
const paramsOfLiar = (params: unknown[] = []): unknown[] =>
  params.map((param) =>
    typeof param === 'object' && param !== null && 'commitment' in param
      ? { ...param, minContextSlot: undefined, commitment: 'confirmed' }
      : param,
  );
const FAR_HEIGHT = 1_000_000_000;
/** What it answers when it denies everything, by method. */
const DENIALS: Record<string, (honest: unknown) => unknown> = {
  getBlockHeight: () => FAR_HEIGHT,
  isBlockhashValid: (honest) => ({ ...(honest as object), value: false }),
  getSignaturesForAddress: () => [],
  getTransaction: () => null,
  getBlock: () => null,
  getSignatureStatuses: (honest) => {
    const { value, ...rest } = honest as { value: unknown[] };
    return { ...rest, value: value.map(() => null) };
  },
};
/** JSON-RPC server error of a node that has not seen that slot yet. */
const SLOT_NOT_REACHED = -32016;
const BLOCK_NOT_AVAILABLE = -32004;

const textOf = async (request: IncomingMessage): Promise<string> => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
};

const minContextSlot = ({ params = [] }: Call): number =>
  params.flatMap((param) => (param as { minContextSlot?: number } | null)?.minContextSlot ?? []).at(-1) ?? 0;

export const startSecondProvider = async () => {
  let mode: Mode = 'honest';
  const liar = createLiar();

  const ask = async (chainUrl: string, body: object): Promise<{ result?: unknown; error?: unknown }> => {
    const response = await fetch(chainUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      signal: AbortSignal.timeout(5000),
    });
    return (await response.json()) as { result?: unknown };
  };

  /** The part of a result that this node has, at a slot that may be behind the chain's. */
  const knownAt = ({ method }: Call, result: unknown, newest: number, oldest: number): unknown => {
    const visible = (found: Known) =>
      found !== null && found.slot <= newest && found.slot >= oldest ? found : null;
    const behind = Math.max(0, newest);
    switch (method) {
      case 'getSignatureStatuses': {
        const { value } = result as { value: Known[] };
        return { context: { slot: behind }, value: value.map(visible) };
      }
      case 'getTransaction':
        return visible(result as Known);
      case 'getSignaturesForAddress':
        return (result as { slot: number }[]).filter((found) => visible(found) !== null);
      default: {
        const inContext = result as { context?: { slot: number } } | null;
        return inContext !== null && typeof inContext === 'object' && inContext.context !== undefined
          ? { ...inContext, context: { slot: behind } }
          : result;
      }
    }
  };

  const answer = async (chainUrl: string, call: Call): Promise<object> => {
    const { id, method } = call;
    const present = mode;
    if (present === 'honest' || method === 'sendTransaction') return ask(chainUrl, call);
    if (typeof present === 'object' && 'lies' in present) {
      const { lies, tooLowBy } = present;
      const params = lies === 'blockhash' ? call.params : paramsOfLiar(call.params);
      const honest = await ask(chainUrl, { ...call, params });
      return honest.error === undefined
        ? { id, result: liar.answer(lies, call, honest.result, tooLowBy) }
        : honest;
    }
    if (present === 'denies') {
      const honest = await ask(chainUrl, call);
      const deny = DENIALS[method];
      return honest.error === undefined && deny !== undefined ? { id, result: deny(honest.result) } : honest;
    }
    const { result: slot } = await ask(chainUrl, {
      id,
      method: 'getSlot',
      params: [{ commitment: 'processed' }],
    });
    const lag = present === 'forgets' ? 0 : present.lagSlots;
    const newest = Number(slot) - lag;
    if (minContextSlot(call) > newest)
      return { id, error: { code: SLOT_NOT_REACHED, message: 'Minimum context slot has not been reached' } };
    const { result, error } = await ask(chainUrl, call);
    if (error !== undefined) return { id, error };
    if (method === 'getBlockHeight' || method === 'getSlot') return { id, result: Number(result) - lag };
    const oldest = present === 'forgets' ? newest - REMEMBERED_SLOTS : 0;
    const block = method === 'getBlock' ? Number(call.params?.[0]) : oldest;
    if (block > newest || block < oldest)
      return { id, error: { code: BLOCK_NOT_AVAILABLE, message: `Block not available for slot ${block}` } };
    return { id, result: knownAt(call, result, newest, oldest) };
  };

  const server = createServer(async (request, response) => {
    try {
      const chainUrl = decodeURIComponent((request.url ?? '/').slice(1));
      const answerTo = async (call: Call) => ({ jsonrpc: '2.0', ...(await answer(chainUrl, call)) });
      const body = JSON.parse(await textOf(request)) as Call | Call[];
      response.end(
        JSON.stringify(Array.isArray(body) ? await Promise.all(body.map(answerTo)) : await answerTo(body)),
      );
    } catch {
      // The chain behind it is unavailable, so this provider is too.
      response.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    /** Its URL as a provider of that chain. */
    urlOf: (chainUrl: string): string => `http://127.0.0.1:${port}/${encodeURIComponent(chainUrl)}`,
    behave: (next: Mode): void => {
      mode = next;
    },
    stop: (): void => {
      server.close();
      server.closeAllConnections();
    },
  };
};
