import { randomUUID } from 'node:crypto';
import { SpanKind, trace } from '@opentelemetry/api';
import type { z } from 'zod';
import { record, secondsSince } from '../../../shared/lib/telemetry/metrics.ts';
import { inSpan } from '../../../shared/lib/telemetry/trace.ts';
import { createPost } from './http-post.ts';
import { createBatches } from './json-rpc-batches.ts';
import { noteCall } from './provider-calls.ts';
import { Reply } from './schemas.ts';

/**
 * A provider did not answer, or its answer cannot be used. Its URL may hold an access key, so
 * errors name its number.
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

/** Whether another provider may answer. Any other error is a bug in this service. */
export const isProviderError = (error: unknown): boolean =>
  error instanceof RpcUnavailable || error instanceof RpcRefused;

/**
 * These methods use separate connections: signed payments must not queue behind a burst of new
 * ones. Neither may the blockhash, by which a replica judges whether the chain can be read.
 */
const PRIORITY_METHODS: ReadonlySet<string> = new Set([
  'sendTransaction',
  'getSignatureStatuses',
  'getLatestBlockhash',
]);

/** @throws RpcUnavailable, RpcRefused */
type Call = <T>(method: string, params: unknown[], schema: z.ZodType<T>) => Promise<T>;

const createRequest = (url: string, number: number): Call => {
  const [call, priorityCall] = [createBatches(createPost(url)), createBatches(createPost(url))];
  return async (method, params, schema) => {
    // A counter would repeat across processes. Behind a proxy that swaps answers, the answer to
    // another call of the same form would then be accepted.
    const id = randomUUID();
    const unavailable = (reason: string) => new RpcUnavailable(`provider ${number}: ${method}: ${reason}`);
    const send = PRIORITY_METHODS.has(method) ? priorityCall : call;
    const body = await send({ jsonrpc: '2.0', id, method, params }).catch((error: Error) => {
      // The error's message may hold the URL.
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
};

/** JSON-RPC calls to one provider. Each call is measured, and traced inside a trace. */
export const createCall = (url: string, number: number): Call => {
  const request = createRequest(url, number);
  const measured: Call = async (method, params, schema) => {
    const startedAt = performance.now();
    const measure = (error: 'none' | 'unavailable' | 'refused', failure: string | null = null) => {
      record('quittance_rpc_call_duration_seconds', secondsSince(startedAt), {
        'rpc.method': method,
        provider: String(number),
        'error.type': error,
      });
      noteCall(number, error, failure);
    };
    try {
      const answer = await request(method, params, schema);
      measure('none');
      return answer;
    } catch (error) {
      measure(error instanceof RpcRefused ? 'refused' : 'unavailable', (error as Error).message);
      throw error;
    }
  };
  return (method, params, schema) => {
    const call = () => measured(method, params, schema);
    // Polling outside of any payment's trace would start an unbounded number of traces.
    if (trace.getActiveSpan() === undefined) return call();
    const attributes = { 'rpc.system.name': 'jsonrpc', 'rpc.method': method, 'quittance.provider': number };
    return inSpan(method, { kind: SpanKind.CLIENT, attributes }, call);
  };
};
