import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyReply } from 'fastify';
import type { z } from 'zod';
import {
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  errorDocsUrl,
  PROBLEM_TYPE,
  type SafeAction,
  ServiceError,
} from '../../../shared/contract/errors.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import { inDialect, UNKNOWN } from './dialects.ts';
import { problemOf, wantsProblem } from './problem.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The error that was answered, for the log line and the request log. */
    refusal: { code: ErrorCode; message: string } | undefined;
    /** The fields of the call before validation. Undefined: they were not read. */
    sent: Sent | undefined;
  }
}

/** Headers of every answer: no cache may store it, and no browser may guess its type. */
const BASE_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/**
 * The headers of every answer. A browser that has seen the gateway by https uses nothing else for
 * two years. Other hosts of its domain are not ours, so they are not included.
 */
export const baseHeaders = (publicUrl: string): Record<string, string> =>
  publicUrl.startsWith('https:')
    ? { ...BASE_HEADERS, 'strict-transport-security': 'max-age=63072000' }
    : BASE_HEADERS;

/** The parts of an operation that decide what its errors report about money. */
type AboutMoney = Pick<HttpOperation, 'money' | 'namedBy' | 'params' | 'body'>;
type Sent = Readonly<Record<string, unknown>>;

/**
 * Whether the fields of a call can name a payment. Where one of them is missing or has not its
 * form, neither this call nor an equal one was ever accepted.
 * @param sent undefined: the fields were not read, so they can name any
 */
const canNamePayment = ({ namedBy = [], params, body }: AboutMoney, sent: Sent | undefined): boolean => {
  const schemas = { ...body.shape, ...params.shape } as Record<string, z.ZodType>;
  return sent === undefined || namedBy.every((name) => schemas[name]!.safeParse(sent[name]).success);
};

/** What a caller can do, for errors in which the service has not named a better action. */
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
 * What an error reports about money. A call that moves money may repeat an earlier one that was
 * executed and whose answer was lost. A refusal that does not come from the record of the payment
 * shows nothing about that earlier call, so the corrected call may be sent again. A call that names
 * no payment, and one that only prepares, have moved nothing. An error that permits a repeat may
 * hide an earlier call that succeeded.
 */
const moneyOf = (operation: AboutMoney, code: ErrorCode, sent: Sent | undefined): Partial<ErrorBody> => {
  const { money } = operation;
  if (money === undefined) return {};
  if (money === 'moves' && !canNamePayment(operation, sent))
    return { money_moved: 'no', safe_action: SAFE_ACTIONS[code] ?? 'stop' };
  const safe_action = SAFE_ACTIONS[code] ?? (money === 'moves' ? 'retry_same_attempt' : 'stop');
  const isOpen = money === 'moves' || safe_action === 'retry_same_attempt';
  return { money_moved: isOpen ? 'unknown' : 'no', safe_action };
};

const DEFAULT_RETRY_AFTER_SECONDS = 1;

/** Codes of Fastify's own errors. All others are bad requests if their status is 4xx. */
const FASTIFY_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'payload_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_MAX_PARAM_LENGTH: 'not_found',
  FST_ERR_NOT_FOUND: 'not_found',
};

/**
 * The expected failure that a thrown value stands for; null for a bug. Its message is always a text
 * of the gateway or of a service.
 */
export const toServiceError = (error: unknown): ServiceError | null => {
  if (error instanceof ServiceError) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FASTIFY_CODES[code] : undefined;
  if (known !== undefined) return new ServiceError(known, ERRORS[known].meaning);
  return typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500
    ? new ServiceError('validation_error', 'the request is malformed; correct it before it is sent again')
    : null;
};

/** Status, body and headers of an error. */
export const errorAnswer = (error: ServiceError | null, operation?: AboutMoney, sent?: Sent) => {
  const { code, message, extras } =
    error ?? new ServiceError('internal_error', ERRORS.internal_error.meaning);
  const { retryAfterSeconds, details, settlement_id, ...reported } = extras;
  const aboutMoney = operation?.money === undefined ? {} : { ...moneyOf(operation, code, sent), ...reported };
  const status = ERRORS[code].http;
  return {
    status,
    body: {
      error: {
        code,
        message,
        ...(details === undefined ? {} : { details }),
        ...aboutMoney,
        ...(settlement_id === undefined ? {} : { settlement_id }),
      },
    },
    headers: {
      ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
      ...(status === 429 || status === 503 || retryAfterSeconds !== undefined
        ? { 'retry-after': String(Math.max(1, retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS)) }
        : {}),
    },
  };
};

const SOCKET_ERRORS: Record<string, readonly [string, string]> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'the request headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request took too long to arrive'],
};

/** The two ways in which the gateway answers with an error. */
export type ErrorAnswers = {
  /**
   * Answers with an error. Shape and headers are the same for errors of every origin. An operation
   * of another protocol adds its fields.
   */
  send: (
    reply: FastifyReply,
    error: ServiceError | null,
    operation?: AboutMoney & Pick<HttpOperation, 'dialect'>,
  ) => FastifyReply;
  /**
   * Answers bytes that are not HTTP, which never become a request, on the socket and in the same
   * shape.
   */
  sendToSocket: (error: Error & { code?: string }, socket: Socket) => void;
};

/**
 * Every error names its call (`request_id`) and the page about its code (`docs_url`).
 * @param publicUrl the gateway's base URL
 */
export const createErrorAnswers = ({ publicUrl }: { publicUrl: string }): ErrorAnswers => {
  const referenced = (error: ErrorBody, request_id: string) => ({
    error: { ...error, request_id, docs_url: errorDocsUrl(publicUrl, error.code) },
  });

  return {
    send: (reply, error, operation) => {
      const { status, body, headers } = errorAnswer(error, operation, reply.request.sent);
      reply.request.refusal = body.error;
      const referring = referenced(body.error, reply.request.id);
      const answer = inDialect(operation?.dialect, status, referring);
      if (answer === null)
        return reply
          .code(UNKNOWN.status)
          .headers(headers)
          .type('text/plain; charset=utf-8')
          .send(UNKNOWN.text);
      void reply.code(status).headers(headers);
      // An error of another protocol has the form that its clients read.
      return operation?.dialect === undefined && wantsProblem(reply.request.headers.accept)
        ? reply.type(PROBLEM_TYPE).send(problemOf(status, referring))
        : reply.type('application/json; charset=utf-8').send(answer);
    },
    sendToSocket: (error, socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
      const [status, message] = SOCKET_ERRORS[error.code ?? ''] ?? [
        '400 Bad Request',
        'the request is not valid HTTP',
      ];
      const requestId = randomUUID();
      const body = JSON.stringify(referenced({ code: 'validation_error', message }, requestId));
      const headers = {
        ...baseHeaders(publicUrl),
        'x-request-id': requestId,
        'content-type': 'application/json; charset=utf-8',
        'content-length': Buffer.byteLength(body),
        connection: 'close',
      };
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${status}\r\n${lines.join('')}\r\n${body}`);
    },
  };
};
