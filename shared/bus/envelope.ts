import type { Client } from '../contract/client.ts';
import {
  type ErrorBody,
  type ErrorExtras,
  isErrorCode,
  ofAnotherVersion,
  ServiceError,
} from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import { isOfAnotherVersion, isUnavailable } from '../lib/unavailable.ts';

/**
 * The payload of `rpc.*` (with the caller) and `int.*` (without). Amounts are strings, so JSON is
 * sufficient.
 */
export type RequestEnvelope = {
  input: unknown;
  principal?: Principal;
  client?: Client | undefined;
  idempotency_key?: string | undefined;
};
/** Ids of a call for the caller's log line, which neither the input nor the answer has. */
export type NotedIds = { quote_id?: string };
/** `replayed`: the answer is that of an earlier call with the same key. */
export type Answered = { ok: unknown; replayed?: true; noted?: NotedIds };
export type ReplyEnvelope = Answered | { error: ErrorBody; retryAfterSeconds?: number };

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true });

export const encode = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value));
export const decode = (bytes: Uint8Array): unknown => JSON.parse(decoder.decode(bytes));

/** The error while a dependency is unavailable. The transaction may have been committed before. */
const UNAVAILABLE = new ServiceError(
  'service_unavailable',
  'temporarily unavailable; repeat the call with the same ids, which is safe',
  { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: 1 },
);

const knownError = (thrown: unknown): unknown => {
  if (isUnavailable(thrown)) return UNAVAILABLE;
  return isOfAnotherVersion(thrown) ? ofAnotherVersion() : thrown;
};

/** The public body of an error. An unexpected error is a bug, and its text stays internal. */
export const toErrorReply = (thrown: unknown): { error: ErrorBody; retryAfterSeconds?: number } => {
  const error = knownError(thrown);
  if (!(error instanceof ServiceError)) {
    return { error: { code: 'internal_error', message: 'internal error' } };
  }
  const { retryAfterSeconds, ...extras } = error.extras;
  return {
    error: { code: error.code, message: error.message, ...extras },
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
};

/** The answer in a reply. Throws the error of a reply that has one. */
export const openReply = (bytes: Uint8Array): Answered => {
  const reply = decode(bytes) as ReplyEnvelope;
  if ('ok' in reply) return reply;
  const { code, message, ...extras } = reply.error;
  throw new ServiceError(isErrorCode(code) ? code : 'internal_error', message, {
    ...extras,
    ...(reply.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: reply.retryAfterSeconds }),
  } as ErrorExtras);
};
