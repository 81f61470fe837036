import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import {
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  type SafeAction,
  ServiceError,
} from '../../shared/contract/errors.ts';
import type { HttpOperation } from '../../shared/contract/service.ts';

/** Every answer carries these: nothing of this API may be kept by a cache or guessed at by a browser. */
export const BASE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** What an operation's errors say of money (the contract's `money`); undefined: nothing. */
export type Money = HttpOperation['money'];

/** What a caller can do when the service did not say it better. */
const SAFE_ACTIONS: Partial<Record<ErrorCode, SafeAction>> = {
  rate_limited: 'retry_same_attempt',
  service_unavailable: 'retry_same_attempt',
  internal_error: 'retry_same_attempt',
  unauthorized: 'retry_same_attempt',
  reauthentication_required: 'retry_same_attempt',
  insufficient_funds: 'top_up',
  delegation_inactive: 'raise_limit',
};

/**
 * A call that moves money may be the repeat of one that was carried out and whose answer was lost. What refuses it here, or
 * anywhere but in the look-up of its record, says nothing of that one: put right, the same call may be sent again. Of a
 * call that only prepares nothing can have moved; where it is not known to have failed, an earlier one may have prepared.
 */
const moneyOf = (money: Money, code: ErrorCode): Partial<ErrorBody> => {
  if (money === undefined) return {};
  const safe_action = SAFE_ACTIONS[code] ?? (money === 'moves' ? 'retry_same_attempt' : 'stop');
  const isOpen = money === 'moves' || safe_action === 'retry_same_attempt';
  return { money_moved: isOpen ? 'unknown' : 'no', safe_action };
};

const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** Codes of Fastify's own errors; those left out are bad requests when their status is 4xx. */
const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_NOT_FOUND: 'not_found',
};

/** Anything thrown, as the expected failure it stands for; null for a bug. Never with a foreign message in it. */
export const toServiceError = (error: unknown): ServiceError | null => {
  if (error instanceof ServiceError) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FASTIFY_CODES[code] : undefined;
  if (known !== undefined) return new ServiceError(known, ERRORS[known].meaning);
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? new ServiceError('validation_error', 'the request is malformed')
    : null;
};

/** Status, body and headers of an error. */
export const errorAnswer = (error: ServiceError | null, money: Money) => {
  const { code, message, extras } =
    error ?? new ServiceError('internal_error', ERRORS.internal_error.meaning);
  const { retryAfterSeconds, details, ...said } = extras;
  const spoken = money === undefined ? {} : { ...moneyOf(money, code), ...said };
  const status = ERRORS[code].http;
  return {
    status,
    body: { error: { code, message, ...(details === undefined ? {} : { details }), ...spoken } },
    headers: {
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(status === 429 || status === 503 || retryAfterSeconds !== undefined
        ? { 'retry-after': String(Math.max(1, retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS)) }
        : {}),
    },
  };
};

/** Answers with an error; shape and headers are the same wherever it arose. */
export const sendError = (reply: FastifyReply, error: ServiceError | null, money?: Money): FastifyReply => {
  const { status, body, headers } = errorAnswer(error, money);
  return reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
};

const SOCKET_ERRORS: Record<string, readonly [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
};

/** Bytes that are not HTTP never become a request: they are answered on the socket, in the same shape. */
export const answerSocketError = (error: Error & { code?: string }, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const [status, message] = SOCKET_ERRORS[error.code ?? ''] ?? [
    '400 Bad Request',
    'the request is not valid HTTP',
  ];
  const body = JSON.stringify({ error: { code: 'validation_error', message } });
  const headers = {
    ...BASE_HEADERS,
    'x-request-id': randomUUID(),
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
};
