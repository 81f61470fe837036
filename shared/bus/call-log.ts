import { ServiceError } from '../contract/errors.ts';
import type { Logger } from '../lib/logger.ts';

/** A public call that the gateway forwards, a call between services, or one of an operator. */
export type CallKind = 'rpc' | 'int' | 'op';
/** The fields of the line of a call. They are ids, codes and times, never a value of a caller. */
export type CallLine = Record<string, unknown>;
/** Why a call failed: the thrown value, and the code of its answer. */
type Failure = { error: unknown; code: string };

/**
 * Returns a function that writes the line of a call. Every public call, every call of an operator,
 * every refusal and every failure has a line. The calls between services that succeed have one with
 * LOG_LEVEL=debug only, because one public call causes several.
 */
export const createCallLog = (
  logger: Logger,
): ((kind: CallKind, line: CallLine, failure: Failure | undefined) => void) => {
  // Without redaction: it costs more than the line, whose fields are named ids alone.
  const plain = logger.child({}, { redact: [] });
  return (kind, line, failure) => {
    if (failure === undefined) {
      if (kind !== 'int') plain.info(line, 'call');
      else plain.debug(line, 'call');
      return;
    }
    const { error, code } = failure;
    if (code === 'internal_error') logger.error({ ...line, code, err: error }, 'operation failed');
    else if (!(error instanceof ServiceError))
      logger.warn({ ...line, code, err: error }, 'operation failed, a dependency is unavailable');
    else plain.info({ ...line, code }, 'call refused');
  };
};
