import { hasCause, hasCode } from './causes.ts';

/**
 * Whether an error says that a server of ours is away (Postgres stopped, restarting, refusing connections), so that
 * the caller is told 503 and may repeat, instead of 500. Told by codes alone, along the chain of causes:
 * SQLSTATE class 08 (connection), 57P0x (shutdown, starting up), 53300 (too many connections), and Node's own.
 */
const AWAY = /^(08...|57P0[1-5]|53300|ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT)$/;
const AWAY_NAMES = new Set([
  'BackendTerminatedError',
  'BackendTerminatedUnexpectedlyError',
  'ConnectionError',
  'StatementTimeoutError',
]);

export const isUnavailable = (error: unknown): boolean =>
  hasCode(error, AWAY) || hasCause(error, (one) => AWAY_NAMES.has(one.constructor.name));
