import { ServiceError } from '../contract/errors.ts';
import type { Logger } from '../lib/telemetry/logger.ts';
import { loggedIds } from '../lib/telemetry/trace.ts';
import { isOfAnotherVersion } from '../lib/unavailable.ts';

/** A public call that the gateway forwards, a call between services, or one of an operator. */
export type CallKind = 'rpc' | 'int' | 'op';
/**
 * The fields of the line of a call. They are ids, codes and times, never a value of a caller. The
 * ids of `input` and `output` are read when the line is written.
 */
export type CallLine = {
  fields: Record<string, unknown> & { request_id: string | undefined };
  input?: unknown;
  output?: unknown;
  ms: number;
};
/** Why a call failed: the thrown value, and the code of its answer. */
type Failure = { error: unknown; code: string };

/**
 * From this duration on a call has a line of its service, too: the gateway may have answered that
 * the outcome is unknown.
 */
const SLOW_MS = 2000;

/**
 * Returns a function that writes the line of a call. Every call of an operator, every refusal,
 * every failure and every slow call has a line. Other calls have one with LOG_LEVEL=debug only: the
 * line of a public call is the gateway's, and one public call causes several between services.
 */
export const createCallLog = (
  logger: Logger,
): ((kind: CallKind, line: CallLine, failure: Failure | undefined) => void) => {
  // Without redaction: it costs more than the line, whose fields are named ids alone.
  const plain = logger.child({}, { redact: [] });
  return (kind, { fields, input, output, ms }, failure) => {
    const isInfo = failure !== undefined || kind === 'op' || ms >= SLOW_MS;
    if (!isInfo && !plain.isLevelEnabled('debug')) return;
    const line = { ...fields, ...loggedIds(input), ...loggedIds(output), ms: Math.round(ms) };
    if (failure === undefined) {
      if (isInfo) plain.info(line, 'call');
      else plain.debug(line, 'call');
      return;
    }
    const { error, code } = failure;
    if (code === 'internal_error') logger.error({ ...line, code, err: error }, 'operation failed');
    else if (isOfAnotherVersion(error))
      logger.error({ ...line, code, err: error }, 'record of another version');
    else if (!(error instanceof ServiceError))
      logger.warn({ ...line, code, err: error }, 'operation failed, a dependency is unavailable');
    else plain.info({ ...line, code }, 'call refused');
  };
};
