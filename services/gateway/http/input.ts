import type { FastifyRequest } from 'fastify';
import { parseInput } from '../../../shared/bus/serve.ts';
import { invalid, ServiceError } from '../../../shared/contract/errors.ts';
import { IDEMPOTENCY_KEY, IdempotencyKey } from '../../../shared/contract/idempotency.ts';
import { inputIssues } from '../../../shared/contract/issues.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';

/**
 * Fields of a call before validation, all parts side by side: names never collide (contract test).
 */
export type RawInput = Record<string, unknown>;

export const DEFAULT_ENVIRONMENT = 'test';

export const rawInputOf = (request: FastifyRequest, body: RawInput): RawInput => ({
  ...(request.query as RawInput),
  ...body,
  ...(request.params as RawInput),
});

/**
 * The environment that a call without credential names, in a field or in the prefix of its token.
 */
export const environmentNameOf = ({ environment }: HttpOperation, input: RawInput): string => {
  if (environment === undefined) return DEFAULT_ENVIRONMENT;
  if ('field' in environment) {
    const value = input[environment.field];
    return typeof value === 'string' ? value : DEFAULT_ENVIRONMENT;
  }
  const token = input[environment.prefixOf];
  return /^[a-z]+_(test|live)_/.exec(typeof token === 'string' ? token : '')?.[1] ?? DEFAULT_ENVIRONMENT;
};

/**
 * Node gives the values of a parameter that was sent twice as a list. No parameter is a list.
 * @throws ServiceError validation_error
 */
const singleValues = (query: RawInput): RawInput => {
  const repeated = Object.keys(query).find((name) => Array.isArray(query[name]));
  if (repeated !== undefined) throw invalid(repeated.slice(0, 64), 'was sent more than once; send it once');
  return query;
};

/**
 * Validates each part by its own strict schema, so that a field in the wrong part is unknown there.
 * Nothing is coerced.
 * @throws ServiceError validation_error
 */
export const validateInput = (
  operation: HttpOperation,
  request: FastifyRequest,
  body: RawInput,
): RawInput => ({
  ...parseInput(operation.params, request.params ?? {}),
  ...parseInput(operation.query, singleValues((request.query ?? {}) as RawInput)),
  ...parseInput(operation.body, body),
});

/**
 * The Idempotency-Key of a call that takes one. Other calls ignore the header, because their repeat
 * is harmless. A header that was sent twice contains a space, so it is refused.
 * @throws ServiceError validation_error
 */
export const idempotencyKeyOf = (
  { idempotency }: HttpOperation,
  { headers }: FastifyRequest,
): string | undefined => {
  const value = headers[IDEMPOTENCY_KEY];
  if (idempotency === undefined || value === undefined) return undefined;
  const [issue] = inputIssues(IdempotencyKey, value);
  if (issue === undefined) return value as string;
  const { message } = issue;
  throw new ServiceError('validation_error', `Idempotency-Key: ${message}`, {
    details: [{ path: IDEMPOTENCY_KEY, message }],
  });
};
