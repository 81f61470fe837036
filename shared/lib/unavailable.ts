import { hasCause, hasErrorCode } from './error-causes.ts';

/**
 * SQLSTATE class 08 (connection), 57P0x (shutdown, starting up), 53300 (too many connections), and
 * codes of Node for connections.
 */
const UNAVAILABLE_CODES = /^(08...|57P0[1-5]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/;
const UNAVAILABLE_ERRORS = new Set([
  'BackendTerminatedError',
  'BackendTerminatedUnexpectedlyError',
  'ConnectionError',
  'StatementTimeoutError',
]);

/** Whether an error means that a row has values that this version does not know. */
export const isOfAnotherVersion = (error: unknown): boolean =>
  hasCause(error, (one) => one.constructor.name === 'SchemaValidationError');

/**
 * Whether an error means that a dependency is unavailable: Postgres is stopped, restarting or
 * refusing connections. The caller then gets 503 and may repeat the call, instead of 500. Only
 * codes and error names decide, along the causes.
 */
export const isUnavailable = (error: unknown): boolean =>
  hasErrorCode(error, UNAVAILABLE_CODES) ||
  hasCause(error, (one) => UNAVAILABLE_ERRORS.has(one.constructor.name));
