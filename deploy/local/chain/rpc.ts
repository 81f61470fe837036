import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import {
  ConnectionClosed,
  internalError,
  invalidRequest,
  methodNotFound,
  parseError,
  RpcError,
} from './errors.ts';
import type { Faults } from './faults.ts';
import type { Method, Methods } from './methods/params.ts';

type Id = string | number | null;
type Response = { jsonrpc: '2.0'; id: Id } & (
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } }
);

/**
 * `drop` closes the connection, and `silence` never answers. Both are faults that a test requested,
 * and a scenario drops too.
 */
type Answer = { text: string } | 'nothing' | 'drop' | 'silence';

export type Rpc = ReturnType<typeof createRpc>;

const failure = (id: Id, { code, message, data }: RpcError): Response => ({
  jsonrpc: '2.0',
  id,
  error: { code, message, ...(data !== undefined && { data }) },
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Parses one JSON-RPC request. Missing params are an empty list. */
const requestOf = (value: unknown): { id: Id | undefined; method: string; params: unknown[] } | undefined => {
  if (!isObject(value)) return undefined;
  const { id, method, params = [] } = value;
  if (typeof method !== 'string' || !Array.isArray(params ?? [])) return undefined;
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') return undefined;
  return { id, method, params: (params ?? []) as unknown[] };
};

/** How long the first of two swapped answers waits for the other. */
const SWAP_WAIT_MS = 300;

/** Answers JSON-RPC 2.0 requests and batches with `methods`, subject to the active faults. */
export const createRpc = ({ methods, faults, log }: { methods: Methods; faults: Faults; log: Logger }) => {
  const run = (id: Id, method: Method, params: unknown[]): Response | 'drop' => {
    try {
      return { jsonrpc: '2.0', id, result: method(params) };
    } catch (error) {
      if (error instanceof RpcError) return failure(id, error);
      if (error instanceof ConnectionClosed) return 'drop';
      log.error({ error }, 'a method failed');
      return failure(id, internalError());
    }
  };

  /** The response that waits to be swapped with the next one. */
  let waiting: { response: Response; give: (other: Response) => void } | undefined;
  const swap = async (response: Response): Promise<Response> => {
    if (waiting) {
      const other = waiting;
      waiting = undefined;
      other.give(response);
      return other.response;
    }
    return new Promise((resolve) => {
      const own = { response, give: resolve };
      waiting = own;
      setTimeout(() => {
        if (waiting !== own) return;
        waiting = undefined;
        resolve(response);
      }, SWAP_WAIT_MS);
    });
  };

  const withFault = async (id: Id, name: string, method: Method, params: unknown[]) => {
    const met = name.startsWith('chain_') ? undefined : faults.take(name);
    if (!met) return run(id, method, params);
    if (met.kind === 'drop') return 'drop';
    if (met.kind === 'delay') await sleep(met.ms ?? 0);
    const response = run(id, method, params);
    if (met.kind === 'duplicate') run(id, method, params);
    if (met.kind === 'drop_after_accept' || response === 'drop') return 'drop';
    if (met.kind === 'timeout_after_accept') return 'silence';
    if (met.kind === 'swap') return swap(response);
    if (met.kind === 'lie_null' && 'result' in response) {
      return { ...response, result: faults.lie(name, response.result) };
    }
    return response;
  };

  /**
   * One request, of HTTP or WebSocket. `extra` are the methods of one connection. Returns undefined
   * for a notification, which gets no answer.
   */
  const call = async (
    value: unknown,
    extra?: Methods,
  ): Promise<Response | 'drop' | 'silence' | undefined> => {
    const request = requestOf(value);
    if (!request) return failure(null, invalidRequest());
    const { id, method: name, params } = request;
    const method = extra && Object.hasOwn(extra, name) ? extra[name] : methods[name];
    if (id === undefined) return undefined;
    if (!method || !(Object.hasOwn(extra ?? {}, name) || Object.hasOwn(methods, name))) {
      return failure(id, methodNotFound());
    }
    return await withFault(id, name, method, params);
  };

  return {
    /** Answers the text of a request or a batch. */
    answer: async (text: string, extra?: Methods): Promise<Answer> => {
      let body: unknown;
      try {
        body = JSON.parse(text);
      } catch {
        return { text: JSON.stringify(failure(null, parseError())) };
      }
      if (!Array.isArray(body)) {
        const response = await call(body, extra);
        if (response === undefined) return 'nothing';
        return typeof response === 'string' ? response : { text: JSON.stringify(response) };
      }
      if (body.length === 0) return { text: JSON.stringify(failure(null, invalidRequest())) };
      const responses: Response[] = [];
      for (const one of body) {
        const response = await call(one, extra);
        if (typeof response === 'string') return response;
        if (response) responses.push(response);
      }
      return responses.length > 0 ? { text: JSON.stringify(responses) } : 'nothing';
    },
  };
};
